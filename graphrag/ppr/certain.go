// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// ranking is the memory of a ranking that may become certain.
type ranking struct {
	top   rank.Top[int32]
	first []rank.Scored[int32]
}

// certain tells whether the first k values stay the first, and in their order, if each may
// be off by reach times its strength.
func (r *ranking) certain(values, strength []float64, reach float64, k int) bool {
	k = min(k, len(values))
	r.top.Reset(k)
	for u, value := range values {
		r.top.Push(int32(u), value)
	}
	if r.first = r.top.Append(r.first[:0]); k == 0 {
		return true
	}
	last, behind := r.first[k-1], 0.0 // the most that those behind may have
	for u, value := range values {
		if rank.Compare(rank.Scored[int32]{ID: int32(u), Score: value}, last) > 0 {
			behind = max(behind, value+reach*strength[u])
		}
	}
	for _, f := range slices.Backward(r.first) {
		off := reach * strength[f.ID]
		if f.Score-off <= behind {
			return false
		}
		behind = max(behind, f.Score+off)
	}
	return true
}
