// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
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

// rankGap separates the prizes of two ranks of edges (G-Retriever's constant c).
const rankGap = 0.01

// NodePrizes gives the k (G-Retriever: 3) most similar nodes the prizes k, k-1, … 1 and all others 0; k is at
// most the number of nodes that are similar at all, above 0. Of equally similar ones the first come first.
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

// EdgePrizes gives prizes to the edges of the k greatest distinct similarities (G-Retriever: 5 for WebQSP,
// 3 for scene graphs). The edges of rank j, from 0, share k-j between them, but no more each than just less
// than one of the rank before; k is at most the number of distinct similarities above 0.
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

// EdgeCost returns what an edge costs beside edge prizes: cost (G-Retriever: ½ for WebQSP, 1 for scene
// graphs), but somewhat less than the greatest prize if there is one, so that one edge at least pays.
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

// Subgraph selects the connected part of a textual graph with the greatest sum of node and edge prizes less
// the costs of its edges, as far as [FindTree] finds it. edges are the edges of a graph of len(nodePrizes)
// nodes; their weights are ignored, several may join the same nodes, an edge from a node to itself is never
// selected. Each costs [EdgeCost] of cost and edgePrizes. An edge whose prize is above that becomes a node
// with the difference as its prize, between two halves that cost nothing; one with less of a prize becomes
// cheaper by it. Without any prize nothing is selected.
func Subgraph(ctx context.Context, edges []Edge, nodePrizes, edgePrizes []float64, cost float64) (*Selection, error) {
	if len(edgePrizes) != len(edges) {
		return nil, fmt.Errorf("graph: %d prizes for %d edges", len(edgePrizes), len(edges))
	}
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return nil, fmt.Errorf("graph: an edge costs %v, want a finite number of 0 or more", cost)
	}
	if len(nodePrizes)+len(edges) > math.MaxInt32 {
		return nil, errors.New("graph: there are more nodes and edges than 2^31")
	}
	for e, p := range edgePrizes {
		if lower(edges[e]) < 0 || int(upper(edges[e])) >= len(nodePrizes) {
			return nil, fmt.Errorf("graph: edge %d joins %d and %d among %d nodes", e, edges[e].From, edges[e].To, len(nodePrizes))
		}
		if !(p >= 0) || math.IsInf(p, 1) {
			return nil, fmt.Errorf("graph: edge %d has the prize %v, not a finite number of 0 or more: %w", e, p, ErrPrize)
		}
	}
	positive := func(p float64) bool { return p > 0 }
	if !slices.ContainsFunc(nodePrizes, positive) && !slices.ContainsFunc(edgePrizes, positive) {
		return &Selection{}, ctx.Err()
	}
	s := newSplit(edges, nodePrizes, edgePrizes, EdgeCost(cost, edgePrizes))
	g, err := New(len(s.prizes), s.parts)
	if err != nil {
		return nil, err
	}
	t, err := FindTree(ctx, g, s.prizes)
	if err != nil {
		return nil, err
	}
	return s.selection(t, edges), nil
}

// split is a graph in which edges with prizes are split in two.
type split struct {
	nodes   int32     // of the graph itself; the others represent edges
	prizes  []float64 // of all nodes
	parts   []Edge    // no two between the same nodes
	whole   []int32   // the edges that are not split: parts[i] is whole[i]
	virtual []int32   // the edges that are: node nodes+i is virtual[i]
}

func newSplit(edges []Edge, nodePrizes, edgePrizes []float64, cost float64) *split {
	s := &split{nodes: int32(len(nodePrizes)), prizes: slices.Clone(nodePrizes)}
	var halves []Edge
	for e, edge := range edges {
		switch {
		case edge.From == edge.To:
		case edgePrizes[e] > cost:
			v := int32(len(s.prizes))
			s.prizes = append(s.prizes, edgePrizes[e]-cost)
			s.virtual = append(s.virtual, int32(e))
			halves = append(halves, Edge{From: edge.From, To: v}, Edge{From: v, To: edge.To})
		default:
			s.whole = append(s.whole, int32(e))
		}
	}
	s.whole = cheapest(inOrder(s.whole, edges, s.nodes), edges, edgePrizes)
	for _, e := range s.whole {
		s.parts = append(s.parts, Edge{From: edges[e].From, To: edges[e].To, Weight: cost - edgePrizes[e]})
	}
	s.parts = append(s.parts, halves...)
	return s
}

// lower and upper are the ends of an edge.
func lower(e Edge) int32 { return min(e.From, e.To) }
func upper(e Edge) int32 { return max(e.From, e.To) }

// inOrder orders edges by their lower ends, then by their upper ones, then as they were: it counts the
// edges of each node, since comparing them would take longer than all the rest of a selection.
func inOrder(list []int32, edges []Edge, nodes int32) []int32 {
	out := make([]int32, len(list))
	for _, end := range []func(Edge) int32{upper, lower} {
		starts := make([]int32, nodes+1)
		for _, e := range list {
			starts[end(edges[e])+1]++
		}
		for u := range nodes {
			starts[u+1] += starts[u]
		}
		for _, e := range list {
			u := end(edges[e])
			out[starts[u]] = e
			starts[u]++
		}
		list, out = out, list
	}
	return list
}

// cheapest keeps, of consecutive edges between the same nodes, the first one with the
// greatest prize: it can replace all of them.
func cheapest(list []int32, edges []Edge, prizes []float64) []int32 {
	kept := list[:0]
	for _, e := range list {
		last := len(kept) - 1
		switch {
		case last < 0 || lower(edges[kept[last]]) != lower(edges[e]) || upper(edges[kept[last]]) != upper(edges[e]):
			kept = append(kept, e)
		case prizes[e] > prizes[kept[last]]:
			kept[last] = e
		}
	}
	return kept
}

// selection maps a tree of the split graph back.
func (s *split) selection(t *Tree, edges []Edge) *Selection {
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
			at, _ := slices.BinarySearchFunc(s.whole, e, func(w int32, e Edge) int {
				return cmp.Or(cmp.Compare(lower(edges[w]), e.From), cmp.Compare(upper(edges[w]), e.To))
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
