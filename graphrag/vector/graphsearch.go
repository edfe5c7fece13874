// SPDX-License-Identifier: Apache-2.0

package vector

import "slices"

// walkPays is how many rows there are at least for each in the beam: a walk looks at some
// dozens of rows, here and there, for each it keeps.
const walkPays = 100

// walk returns the rows that a walk through the graph finds for the query of s, in the
// order of their ids, and whether that pays: not if so few rows are to be kept that a
// beam wide enough costs more than looking at all.
func (x *Index) walk(s *scratch, p Params) ([]int32, bool) {
	g, w := x.graph, &s.walker
	w.codes, w.kernels = &x.codes, &x.kernels
	s.bytes = slices.Grow(s.bytes[:0], x.stride)[:x.stride]
	w.query, w.scale = s.bytes, codeRow(s.bytes, s.query).scale
	entry := int32(0)
	for at := len(g.layers) - 1; at > 0; at-- {
		if w.walk(&g.layers[at], entry, 1); len(w.beam) > 0 {
			entry = g.layers[at].below[w.beam[0].id]
		}
	}
	wanted := max(p.Beam, p.K)
	for beam := wanted; beam <= g.linked/walkPays; beam *= 2 {
		w.walk(&g.layers[0], entry, beam)
		s.near = s.near[:0]
		for _, r := range w.beam {
			if len(s.near) < wanted && (p.Keep == nil || p.Keep(r.id)) {
				s.near = append(s.near, r.id)
			}
		}
		if len(s.near) == wanted {
			slices.Sort(s.near)
			return s.near, true
		}
	}
	return nil, false
}
