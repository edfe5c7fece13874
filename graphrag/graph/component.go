// SPDX-License-Identifier: Apache-2.0

package graph

import "context"

// Components returns the connected component of each node and their number.
// Components are numbered in the order of their smallest nodes. The one error is
// the context's.
func (g *Graph) Components(ctx context.Context) (component []int32, count int, err error) {
	component = make([]int32, g.N())
	for u := range component {
		component[u] = -1
	}
	var queue []int32
	seen := 0
	for u := range int32(g.N()) {
		if component[u] >= 0 {
			continue
		}
		component[u] = int32(count)
		queue = append(queue[:0], u)
		for len(queue) > 0 {
			if seen++; seen%stride == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			v := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, w := range g.Neighbors(v) {
				if component[w] < 0 {
					component[w] = int32(count)
					queue = append(queue, w)
				}
			}
		}
		count++
	}
	return component, count, ctx.Err()
}

// stride is the number of nodes between two looks at the context.
const stride = 1 << 14
