// SPDX-License-Identifier: Apache-2.0

package graph

// Components returns the connected component of each node and their number.
// Components are numbered in the order of their smallest nodes.
func (g *Graph) Components() (component []int32, count int) {
	component = make([]int32, g.N())
	for u := range component {
		component[u] = -1
	}
	var queue []int32
	for u := range int32(g.N()) {
		if component[u] >= 0 {
			continue
		}
		component[u] = int32(count)
		queue = append(queue[:0], u)
		for len(queue) > 0 {
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
	return component, count
}
