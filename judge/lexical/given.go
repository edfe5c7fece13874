// SPDX-License-Identifier: Apache-2.0

package lexical

import "slices"

// give marks what of f the question says already; the answer need not repeat
// it.
func (f *features) give(question *features) {
	for i := range f.terms {
		f.terms[i].given = question.has(f.terms[i].hash)
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
	return slices.ContainsFunc(f.terms, func(t term) bool { return !t.given }) ||
		slices.ContainsFunc(f.dates, func(d date) bool { return !d.given }) ||
		slices.ContainsFunc(f.amounts, func(a amount) bool { return !a.given })
}

func (f *features) empty() bool { return len(f.terms) == 0 && len(f.dates) == 0 && len(f.amounts) == 0 }
