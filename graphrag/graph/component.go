// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
)

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

// Induced returns the graph of the given nodes and the edges between them. Node
// i of it is nodes[i]. Nodes that do not exist or are named twice are errors.
func (g *Graph) Induced(nodes []int32) (*Graph, error) {
	place := make([]int32, g.N()) // 1 + new number, 0 for a node that is left out
	for i, u := range nodes {
		if u < 0 || int(u) >= g.N() {
			return nil, fmt.Errorf("graph: induced: node %d in a graph of %d nodes", u, g.N())
		}
		if place[u] != 0 {
			return nil, fmt.Errorf("graph: induced: node %d is named twice", u)
		}
		place[u] = int32(i) + 1
	}
	h := &Graph{offsets: make([]int64, len(nodes)+1)}
	var s32 sorter[float32]
	var s64 sorter[float64]
	for i, u := range nodes {
		lo, hi := g.Row(u)
		for a := lo; a < hi; a++ {
			v := place[g.targets[a]]
			if v == 0 {
				continue
			}
			h.targets = append(h.targets, v-1)
			if g.weights32 != nil {
				h.weights32 = append(h.weights32, g.weights32[a])
			}
			if g.weights64 != nil {
				h.weights64 = append(h.weights64, g.weights64[a])
			}
		}
		h.offsets[i+1] = int64(len(h.targets))
		switch row := h.targets[h.offsets[i]:]; {
		case slices.IsSorted(row):
		case g.weights64 != nil:
			s64.sort(row, h.weights64[h.offsets[i]:])
		case g.weights32 != nil:
			s32.sort(row, h.weights32[h.offsets[i]:])
		default:
			s32.sort(row, nil)
		}
	}
	// Weights of no arcs are still weights of the graph's precision.
	if g.weights32 != nil && h.weights32 == nil {
		h.weights32 = []float32{}
	}
	if g.weights64 != nil && h.weights64 == nil {
		h.weights64 = []float64{}
	}
	return h, nil
}
