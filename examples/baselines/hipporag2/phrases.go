// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

// phrases weighs the ends of the facts and keeps the best as seeds, equal ones
// by entity. A phrase of no weight starts nothing.
func (s *searcher) phrases(facts []scored) []ppr.Seed {
	type phrase struct {
		entity       int32
		weight, rank float64
		facts        int
	}
	var found []phrase
	for _, f := range facts {
		r := &s.corpus.Graph.Relations[f.ID]
		for i, e := range []int32{r.Head, r.Tail} {
			if i == 1 && r.Tail == r.Head {
				continue
			}
			at := slices.IndexFunc(found, func(p phrase) bool { return p.entity == e })
			if at < 0 {
				at = len(found)
				found = append(found, phrase{entity: e})
			}
			p := &found[at]
			share := f.Score / float64(max(1, s.passages[e]))
			p.facts++
			if s.o.Phrases == Last {
				p.weight = share
				p.rank += f.Score
			} else {
				p.weight += share
				p.rank += share
			}
		}
	}
	for i := range found {
		p := &found[i]
		p.rank /= float64(p.facts)
		if s.o.Phrases == Mean {
			p.weight /= float64(p.facts)
		}
	}
	slices.SortFunc(found, func(a, b phrase) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.entity, b.entity)) })
	var seeds []ppr.Seed
	for _, p := range found[:min(s.o.Link, len(found))] {
		if p.weight > 0 {
			seeds = append(seeds, ppr.Seed{Node: p.entity, Weight: p.weight})
		}
	}
	return seeds
}
