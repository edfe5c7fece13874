// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

const (
	// cached is the number of nodes whose directions fit a core's own cache, so that the
	// order of the nodes matters little.
	cached = 1 << 17
	// A cluster grows along single edges until it has clusterSeed nodes, and from then on
	// only to nodes with two edges into it. Nodes of more than clusterDegree arcs add no
	// edges: they do not belong to one cluster more than to others.
	clusterSeed, clusterDegree = 64, 128
)

// placed marks a node of [clusters.ties] that is in the order.
const placed = 255

// clusters reorders nodes so that neighbours are close: cluster by cluster, each of which
// grows by the node with the most edges into it.
type clusters struct {
	g       *graph.Graph
	ties    []uint8 // edges from each node into the cluster, at most len(tied)-1
	tied    [8][]int32
	head    int // of tied[1], which is a queue
	touched []int32
	order   []int32
}

// reorder orders the nodes that are first in their class.
func reorder(ctx context.Context, g *graph.Graph, first []int32, count int) ([]int32, error) {
	x := &clusters{g: g, ties: make([]uint8, len(first)), order: make([]int32, 0, count)}
	for u, f := range first {
		if f != int32(u) {
			x.ties[u] = placed
		}
	}
	for u := range first {
		if x.ties[u] == placed {
			continue
		}
		x.begin()
		for v, begun := int32(u), len(x.order); v >= 0; v = x.next(len(x.order) - begun) {
			if len(x.order)%stride == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			x.place(v)
		}
	}
	return x.order, nil
}

// begin clears the state of the last cluster.
func (x *clusters) begin() {
	for _, u := range x.touched {
		if x.ties[u] != placed {
			x.ties[u] = 0
		}
	}
	x.touched, x.head = x.touched[:0], 0
	for i := range x.tied {
		x.tied[i] = x.tied[i][:0]
	}
}

func (x *clusters) place(u int32) {
	x.ties[u] = placed
	x.order = append(x.order, u)
	row := x.g.Neighbors(u)
	if len(row) > clusterDegree {
		return
	}
	for _, t := range row {
		ties := x.ties[t]
		if ties >= uint8(len(x.tied)-1) {
			continue
		}
		if ties == 0 {
			x.touched = append(x.touched, t)
		}
		x.ties[t] = ties + 1
		x.tied[ties+1] = append(x.tied[ties+1], t)
	}
}

// next returns the node with the most ties to a cluster of that size, or -1.
func (x *clusters) next(size int) int32 {
	for ties := len(x.tied) - 1; ties > 1; ties-- {
		for list := x.tied[ties]; len(list) > 0; list = x.tied[ties] {
			u := list[len(list)-1]
			x.tied[ties] = list[:len(list)-1]
			if x.ties[u] == uint8(ties) {
				return u
			}
		}
	}
	for ; size < clusterSeed && x.head < len(x.tied[1]); x.head++ {
		if u := x.tied[1][x.head]; x.ties[u] == 1 {
			return u
		}
	}
	return -1
}
