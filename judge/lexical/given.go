// SPDX-License-Identifier: Apache-2.0

package lexical

import "slices"

// give marks what of f the question says already; the answer need not repeat
// it.
func (f *features) give(question *features) {
	for i := range f.terms {
		f.terms[i].given = f.terms[i].given || question.has(f.terms[i].hash)
	}
	for i := range f.dates {
		f.dates[i].given = f.dates[i].given || f.dates[i].heldBy(question)
	}
	for i := range f.amounts {
		f.amounts[i].given = f.amounts[i].given || f.amounts[i].heldBy(question)
	}
	for i := range f.names {
		n := &f.names[i]
		n.given = n.given || n.heldBy(question)
		for k := range f.terms {
			t := &f.terms[k]
			t.given = t.given || n.given && t.name && n.has(t.hash)
		}
	}
}

// withdraw forgets what was given.
func (f *features) withdraw() {
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

// has reports whether a word is a part of the name.
func (n *name) has(hash uint64) bool {
	return slices.ContainsFunc(n.parts, func(p namePart) bool { return p.hash == hash })
}

// adds reports whether f says anything beyond the question.
func (f *features) adds() bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return !t.given }) ||
		slices.ContainsFunc(f.dates, func(d date) bool { return !d.given }) ||
		slices.ContainsFunc(f.amounts, func(a amount) bool { return !a.given })
}

func (f *features) empty() bool { return len(f.terms) == 0 && len(f.dates) == 0 && len(f.amounts) == 0 }
