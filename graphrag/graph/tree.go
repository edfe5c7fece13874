// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Tree is a subtree of a graph.
type Tree struct {
	// Nodes in ascending order.
	Nodes []int32
	// Edges, one less than nodes, each with From below To, in ascending order; their weights are their costs.
	Edges []Edge
	// Prize is the sum of the prizes of the nodes, Cost the sum of the costs of the edges;
	// the tree maximizes Prize - Cost.
	Prize, Cost float64
}

// ErrPrize is wrapped by the errors for prizes that are negative or not finite.
var ErrPrize = errors.New("unusable prize")

// FindTree returns a tree anywhere in the graph. It has at least one node, unless the graph has none; among
// trees of the same worth it prefers small ones. prizes has one number of at least 0 for each node.
// Self-loops are ignored.
func FindTree(ctx context.Context, g *Graph, prizes []float64) (*Tree, error) {
	if len(prizes) != g.N() {
		return nil, fmt.Errorf("graph: %d prizes for %d nodes", len(prizes), g.N())
	}
	sum := 0.0
	for u, p := range prizes {
		if !(p >= 0) || math.IsInf(p, 1) {
			return nil, fmt.Errorf("graph: node %d has the prize %v, not a finite number of 0 or more: %w", u, p, ErrPrize)
		}
		sum += p
	}
	if sum > math.MaxFloat64/4 { // moats of two ends are added, and more
		return nil, fmt.Errorf("graph: the prizes add up to more than a quarter of what a float64 holds: %w: scale prizes and costs down", ErrPrize)
	}
	if g.N() == 0 {
		return &Tree{}, ctx.Err()
	}
	grown, err := grow(ctx, g, prizes)
	if err != nil {
		return nil, err
	}
	return prune(ctx, grown.forest, prizes)
}

// edgesOf lists the edges of a graph without its self-loops.
func edgesOf(ctx context.Context, g *Graph) ([]Edge, error) {
	if g.Arcs() > math.MaxInt32 {
		return nil, fmt.Errorf("graph: %d arcs, want at most %d", g.Arcs(), math.MaxInt32)
	}
	edges := make([]Edge, 0, g.Arcs()/2)
	seen := 0
	for e := range g.Edges() {
		if seen++; seen%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e.From != e.To {
			edges = append(edges, e)
		}
	}
	return edges, nil
}

// prune is strong pruning: of the trees of a forest it returns the subtree of greatest worth. Each tree hangs
// from its greatest prize; below a node those branches are kept that are worth more than the edge to them.
func prune(ctx context.Context, forest []Edge, prizes []float64) (*Tree, error) {
	f := newRows(len(prizes), forest)
	worth, parent := slices.Clone(prizes), make([]int32, len(prizes))
	cost := make([]float64, len(prizes)) // of the edge to the parent
	for i := range parent {
		parent[i] = unseen
	}
	order := make([]int32, 0, len(prizes)) // each node after its parent
	visit := func(top int32) {
		parent[top] = top
		first := len(order)
		order = append(order, top)
		for ; first < len(order) && (first%stride != 0 || ctx.Err() == nil); first++ {
			u := order[first]
			for _, e := range f.row(u) {
				if parent[e.To] == unseen {
					parent[e.To], cost[e.To] = u, e.Weight
					order = append(order, e.To)
				}
			}
		}
	}
	for _, u := range richest(prizes) {
		if parent[u] == unseen {
			visit(u)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, u := range slices.Backward(order) {
		if gain := worth[u] - cost[u]; parent[u] != u && gain > 0 {
			worth[parent[u]] += gain
		}
	}
	top := int32(0)
	for u, w := range worth {
		if w > worth[top] {
			top = int32(u)
		}
	}
	t := &Tree{Nodes: []int32{top}}
	for i := 0; i < len(t.Nodes); i++ {
		u := t.Nodes[i]
		for _, e := range f.row(u) {
			if parent[e.To] == u && e.To != u && worth[e.To]-cost[e.To] > 0 {
				t.Nodes = append(t.Nodes, e.To)
				t.Edges = append(t.Edges, Edge{From: min(u, e.To), To: max(u, e.To), Weight: e.Weight})
			}
		}
	}
	slices.Sort(t.Nodes)
	slices.SortFunc(t.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for _, u := range t.Nodes {
		t.Prize += prizes[u]
	}
	for _, e := range t.Edges {
		t.Cost += e.Weight
	}
	return t, ctx.Err()
}

// richest are the nodes with prizes, the greatest first, of equal ones the lower.
func richest(prizes []float64) []int32 {
	var nodes []int32
	for u, p := range prizes {
		if p > 0 {
			nodes = append(nodes, int32(u))
		}
	}
	slices.SortStableFunc(nodes, func(a, b int32) int { return cmp.Compare(prizes[b], prizes[a]) })
	return nodes
}

const unseen = -1

// rows are the edges of a forest by node.
type rows struct {
	starts []int32
	edges  []Edge
}

func newRows(n int, forest []Edge) rows {
	r := rows{starts: make([]int32, n+1), edges: make([]Edge, 2*len(forest))}
	for _, e := range forest {
		r.starts[e.From]++
		r.starts[e.To]++
	}
	sum := int32(0)
	for u, d := range r.starts {
		sum += d
		r.starts[u] = sum
	}
	for _, e := range slices.Backward(forest) {
		r.starts[e.From]--
		r.edges[r.starts[e.From]] = e
		r.starts[e.To]--
		r.edges[r.starts[e.To]] = Edge{From: e.To, To: e.From, Weight: e.Weight}
	}
	return r
}

func (r rows) row(u int32) []Edge { return r.edges[r.starts[u]:r.starts[u+1]] }
