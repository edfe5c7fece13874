// SPDX-License-Identifier: Apache-2.0

package steiner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// rankGap keeps the prize of a rank of edges below that of the rank before
// (G-Retriever's constant c).
const rankGap = 0.01

// NodePrizes gives the k (G-Retriever: 3) most similar nodes the prizes k, k-1, … 1 and all
// others 0; k is at most the number of nodes that are similar at all, above 0. Of equally
// similar ones the first come first.
func NodePrizes(similarities []float64, k int) []float64 {
	var top rank.Top[int32]
	top.Reset(max(0, k))
	for i, s := range similarities {
		if s > 0 {
			top.Push(int32(i), s)
		}
	}
	prizes := make([]float64, len(similarities))
	best := top.Append(nil)
	for place, x := range best {
		prizes[x.ID] = float64(len(best) - place)
	}
	return prizes
}

// EdgePrizes gives prizes to the edges of the k greatest distinct similarities
// (G-Retriever: 5 for WebQSP, 3 for scene graphs).
// The edges of rank j, from 0, share k-j between them, but no more each than
// just less than one of the rank before; k is at most the number of distinct
// similarities above 0.
func EdgePrizes(similarities []float64, k int) []float64 {
	ranks := slices.Clone(similarities)
	slices.SortFunc(ranks, func(a, b float64) int { return cmp.Compare(b, a) })
	ranks = slices.DeleteFunc(slices.Compact(ranks), func(s float64) bool { return !(s > 0) })
	k = max(0, min(k, len(ranks)))
	counts := make([]int, k)
	places := make([]int, len(similarities))
	for i, s := range similarities {
		places[i], _ = slices.BinarySearchFunc(ranks, s, func(r, s float64) int { return cmp.Compare(s, r) })
		if places[i] < k {
			counts[places[i]]++
		}
	}
	values, last := make([]float64, k), float64(k)
	for j := range values {
		values[j] = min(float64(k-j)/float64(counts[j]), last)
		last = values[j] * (1 - rankGap)
	}
	prizes := make([]float64, len(similarities))
	for i, r := range places {
		if r < k {
			prizes[i] = values[r]
		}
	}
	return prizes
}

// EdgeCost returns what an edge costs beside edge prizes: cost (G-Retriever: ½ for
// WebQSP, 1 for scene graphs), but somewhat
// less than the greatest prize if there is one, so that one edge at least pays.
func EdgeCost(cost float64, edgePrizes []float64) float64 {
	top := 0.0
	for _, p := range edgePrizes {
		top = max(top, p)
	}
	if top == 0 {
		return cost
	}
	return min(cost, top*(1-rankGap/2))
}

// Selection is a part of a textual graph.
type Selection struct {
	// Nodes in ascending order, among them both ends of each edge.
	Nodes []int32
	// Edges are positions in the list of edges, in ascending order.
	Edges []int32
}

// Subgraph selects the connected part of a textual graph with the greatest sum
// of node and edge prizes less the costs of its edges, as far as [Find] finds
// it. edges are the edges of a graph of len(nodePrizes) nodes; their weights are
// ignored, several may join the same nodes, an edge from a node to itself is
// never selected. Each costs [EdgeCost] of cost and edgePrizes. An edge whose
// prize is above that becomes a node with the difference as its prize, between
// two halves that cost nothing; one with less of a prize becomes cheaper by it.
// Without any prize nothing is selected.
func Subgraph(ctx context.Context, edges []graph.Edge, nodePrizes, edgePrizes []float64, cost float64) (*Selection, error) {
	if len(edgePrizes) != len(edges) {
		return nil, fmt.Errorf("steiner: %d prizes for %d edges", len(edgePrizes), len(edges))
	}
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return nil, fmt.Errorf("steiner: an edge costs %v, want a finite number of 0 or more", cost)
	}
	if len(nodePrizes)+len(edges) > math.MaxInt32 {
		return nil, errors.New("steiner: more nodes and edges than an int32 can number")
	}
	for e, p := range edgePrizes {
		if !(p >= 0) || math.IsInf(p, 1) {
			return nil, fmt.Errorf("steiner: edge %d has the prize %v, not a finite number of 0 or more: %w", e, p, ErrPrize)
		}
	}
	positive := func(p float64) bool { return p > 0 }
	if !slices.ContainsFunc(nodePrizes, positive) && !slices.ContainsFunc(edgePrizes, positive) {
		return &Selection{}, ctx.Err()
	}
	s := newSplit(edges, nodePrizes, edgePrizes, EdgeCost(cost, edgePrizes))
	g, err := graph.New(len(s.prizes), s.parts, graph.Options{})
	if err != nil {
		return nil, err
	}
	t, err := Find(ctx, g, s.prizes)
	if err != nil {
		return nil, err
	}
	return s.selection(t, edges), nil
}

// split is a graph in which edges with prizes are split in two.
type split struct {
	nodes   int32        // of the graph itself; the others stand for edges
	prizes  []float64    // of all nodes
	parts   []graph.Edge // no two between the same nodes
	whole   []int32      // the edges that are not split: parts[i] is whole[i]
	virtual []int32      // the edges that are: node nodes+i is virtual[i]
}

func newSplit(edges []graph.Edge, nodePrizes, edgePrizes []float64, cost float64) *split {
	s := &split{nodes: int32(len(nodePrizes)), prizes: slices.Clone(nodePrizes)}
	var halves []graph.Edge
	for e, edge := range edges {
		switch {
		case edge.From == edge.To:
		case edgePrizes[e] > cost:
			v := int32(len(s.prizes))
			s.prizes = append(s.prizes, edgePrizes[e]-cost)
			s.virtual = append(s.virtual, int32(e))
			halves = append(halves, graph.Edge{From: edge.From, To: v}, graph.Edge{From: v, To: edge.To})
		default:
			s.whole = append(s.whole, int32(e))
		}
	}
	// Of several edges between the same nodes the cheapest can stand for all.
	ends := func(e int32) (int32, int32) {
		return min(edges[e].From, edges[e].To), max(edges[e].From, edges[e].To)
	}
	slices.SortFunc(s.whole, func(a, b int32) int {
		u, v := ends(a)
		x, y := ends(b)
		return cmp.Or(cmp.Compare(u, x), cmp.Compare(v, y), cmp.Compare(edgePrizes[b], edgePrizes[a]), cmp.Compare(a, b))
	})
	s.whole = slices.CompactFunc(s.whole, func(a, b int32) bool {
		u, v := ends(a)
		x, y := ends(b)
		return u == x && v == y
	})
	for _, e := range s.whole {
		s.parts = append(s.parts, graph.Edge{From: edges[e].From, To: edges[e].To, Weight: cost - edgePrizes[e]})
	}
	s.parts = append(s.parts, halves...)
	return s
}

// selection maps a tree of the split graph back.
func (s *split) selection(t *Tree, edges []graph.Edge) *Selection {
	var chosen Selection
	for _, u := range t.Nodes {
		if u < s.nodes {
			chosen.Nodes = append(chosen.Nodes, u)
			continue
		}
		chosen.Edges = append(chosen.Edges, s.virtual[u-s.nodes])
	}
	for _, e := range t.Edges {
		if e.To < s.nodes {
			at, _ := slices.BinarySearchFunc(s.whole, e, func(w int32, e graph.Edge) int {
				u, v := min(edges[w].From, edges[w].To), max(edges[w].From, edges[w].To)
				return cmp.Or(cmp.Compare(u, e.From), cmp.Compare(v, e.To))
			})
			chosen.Edges = append(chosen.Edges, s.whole[at])
		}
	}
	for _, e := range chosen.Edges {
		chosen.Nodes = append(chosen.Nodes, edges[e].From, edges[e].To)
	}
	slices.Sort(chosen.Nodes)
	chosen.Nodes = slices.Compact(chosen.Nodes)
	slices.Sort(chosen.Edges)
	return &chosen
}
