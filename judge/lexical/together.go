// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"slices"

	"github.com/wildgraph/wildgraph/judge"
)

// mostTogether is how many statements may state a gold one together. Gold statements are
// often composite: who, when and where stand in two or three sentences of an answer.
const mostTogether = 3

// matches finds for every gold statement the predicted ones that state it, alone or
// together, and which predicted ones the gold ones support: those, and what a gold
// statement states.
func (r *reader) matches(gold, predicted []features) (matches []judge.Match, supported []bool) {
	supported = make([]bool, len(predicted))
	for g := range gold {
		for _, p := range r.stated(&gold[g], predicted) {
			matches = append(matches, judge.Match{Gold: g, Predicted: p})
			supported[p] = true
		}
	}
	for p := range predicted {
		supported[p] = supported[p] || predicted[p].statedByOneOf(gold)
	}
	return matches, supported
}

// stated finds the statements that state a gold one: each that does so alone, or
// else the few that do so together.
func (r *reader) stated(gold *features, predicted []features) []int {
	if gold.empty() {
		return nil
	}
	var alone []int
	for p := range predicted {
		if gold.statedIn(&predicted[p], nil).same {
			alone = append(alone, p)
		}
	}
	if alone != nil {
		return alone
	}
	return r.together(gold, predicted)
}

// together adds the statement that covers most of the rest until the gold one is
// stated. Only statements about the same thing take part.
func (r *reader) together(gold *features, predicted []features) []int {
	var chosen []int
	var joined []features
	best := 0.0
	for len(chosen) < mostTogether {
		next := -1
		for p := range predicted {
			if slices.Contains(chosen, p) || !predicted[p].partOf(gold) {
				continue
			}
			whole := r.join(append(slices.Clip(joined), predicted[p]))
			if all, stated, _, _ := gold.shares(&whole, nil); all > 0 && stated/all > best {
				best, next = stated/all, p
			}
		}
		if next < 0 {
			return nil
		}
		chosen, joined = append(chosen, next), append(joined, predicted[next])
		whole := r.join(joined)
		if gold.statedIn(&whole, nil).same {
			slices.Sort(chosen)
			return chosen
		}
	}
	return nil
}

// partOf reports whether f names something that the gold statement names and says
// something else of it too, or, where that names nothing, shares two words with it;
// and denies none of it.
func (f *features) partOf(gold *features) bool {
	names, words := 0, 0.0
	for i := range gold.names {
		if gold.names[i].in(f) {
			names++
		}
	}
	for i := range gold.terms {
		if t := &gold.terms[i]; !t.name && !t.given && f.has(t.hash) {
			words += float64(t.weight)
		}
	}
	for i := range gold.dates {
		if gold.dates[i].in(f) {
			words++
		}
	}
	for i := range gold.amounts {
		if gold.amounts[i].in(f) {
			words++
		}
	}
	if names == 0 && (len(gold.names) > 0 || words < 2) || words == 0 {
		return false
	}
	return !gold.contradicts(f)
}
