// SPDX-License-Identifier: Apache-2.0

package lexical

// give marks what of f the question says already; the answer need not repeat
// it.
func (f *features) give(question *features) {
	for i, k := 0, 0; i < len(f.terms) && k < len(question.terms); {
		switch {
		case f.terms[i].hash < question.terms[k].hash:
			i++
		case f.terms[i].hash > question.terms[k].hash:
			k++
		default:
			f.terms[i].given = true
			i++
			k++
		}
	}
	for i := range f.dates {
		f.dates[i].given = f.dates[i].heldBy(question)
	}
	for i := range f.amounts {
		f.amounts[i].given = f.amounts[i].heldBy(question)
	}
	for i := range f.names {
		f.names[i].given = f.names[i].heldBy(question)
	}
}

// adds reports whether f says anything beyond the question.
func (f *features) adds() bool {
	for _, t := range f.terms {
		if !t.given {
			return true
		}
	}
	for _, d := range f.dates {
		if !d.given {
			return true
		}
	}
	for _, a := range f.amounts {
		if !a.given {
			return true
		}
	}
	return false
}

// ungive forgets the question.
func (f *features) ungive() {
	for i := range f.terms {
		f.terms[i].given = false
	}
	for i := range f.dates {
		f.dates[i].given = false
	}
	for i := range f.amounts {
		f.amounts[i].given = false
	}
	for i := range f.names {
		f.names[i].given = false
	}
}

func (f *features) empty() bool { return len(f.terms) == 0 && len(f.dates) == 0 && len(f.amounts) == 0 }
