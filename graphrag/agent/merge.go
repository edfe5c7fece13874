// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// merge puts together what several searches found, each of which should be heard:
// the first hit of each, then the second of each, and so on, and the same with what
// they derived.
func merge(all []graphrag.Found, want int) graphrag.Found {
	var out graphrag.Found
	hits, derived := make(map[string]graphrag.Hit), make(map[string]graphrag.Derived)
	ids, texts := make([][]string, len(all)), make([][]string, len(all))
	for i, f := range all {
		for _, h := range f.Ranked {
			ids[i] = append(ids[i], h.Chunk.ID)
			if _, ok := hits[h.Chunk.ID]; !ok {
				hits[h.Chunk.ID] = h
			}
		}
		for _, d := range f.Derived {
			texts[i] = append(texts[i], d.Text)
			if _, ok := derived[d.Text]; !ok {
				derived[d.Text] = d
			}
		}
		out.Steps = append(out.Steps, f.Steps...)
		out.Usage = out.Usage.Add(f.Usage)
	}
	out.Ranked = []graphrag.Hit{}
	for place, id := range rank.Interleave(ids...) {
		if place == want {
			break
		}
		h := hits[id]
		h.Score = 1 / float64(place+1)
		out.Ranked = append(out.Ranked, h)
	}
	for _, text := range rank.Interleave(texts...) {
		out.Derived = append(out.Derived, derived[text])
	}
	return out
}
