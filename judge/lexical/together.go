// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"slices"

	"github.com/wildgraph/wildgraph/judge"
)

// mostTogether is how many statements may state a gold one together: who, when and
// where are rarely spread over more, and the more there are the likelier they speak
// of different things.
const mostTogether = 3

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

// together adds the statement that holds most of what is still open until the gold
// one is stated. Only statements that speak of the same thing take part.
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
			if _, _, all, held := gold.shares(&whole, nil); all > 0 && held/all > best {
				best, next = held/all, p
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
	names := 0
	for i := range gold.names {
		if n := &gold.names[i]; n.heldBy(f) {
			names++
		}
	}
	_, words := gold.words(f)
	for i := range gold.dates {
		if gold.dates[i].heldBy(f) {
			words++
		}
	}
	for i := range gold.amounts {
		if gold.amounts[i].heldBy(f) {
			words++
		}
	}
	if names == 0 && (len(gold.names) > 0 || words < 2) || words == 0 {
		return false
	}
	return !gold.contradicts(f)
}

// giveTopic marks the names, dates and numbers that the question gives: sentences of
// a summary need not repeat them.
func (f *features) giveTopic(question *features) {
	topic := *question
	topic.terms = nil
	for _, t := range question.terms {
		if t.name {
			topic.terms = append(topic.terms, t)
		}
	}
	f.give(&topic)
}

// matches finds for every gold statement the predicted ones that state it, and which
// predicted ones the gold ones support: those, and what a gold statement states.
func (r *reader) matches(gold, predicted []features) (matches []judge.Match, supported []bool) {
	supported = make([]bool, len(predicted))
	for g := range gold {
		for _, p := range r.stated(&gold[g], predicted) {
			matches = append(matches, judge.Match{Gold: g, Predicted: p})
			supported[p] = true
		}
	}
	for p := range predicted {
		supported[p] = supported[p] || !predicted[p].empty() &&
			slices.ContainsFunc(gold, func(g features) bool { return predicted[p].statedIn(&g, nil).same })
	}
	return matches, supported
}
