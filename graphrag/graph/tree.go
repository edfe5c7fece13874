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
	// Nodes are the nodes, in ascending order.
	Nodes []int32
	// Edges are the edges, with From below To, in ascending order; an edge's weight is its cost.
	Edges []Edge
	// Prize is the sum of the nodes' prizes, Cost the sum of the edges' costs; the tree maximizes Prize - Cost.
	Prize, Cost float64
}

// ErrPrize is wrapped by errors about prizes that are negative or not finite.
var ErrPrize = errors.New("unusable prize")

// FindTree returns a tree of the graph that maximizes prizes less costs, with at least one node unless the
// graph is empty; of trees of equal worth it prefers a small one. prizes has one number of at least 0 per node.
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
	if sum > math.MaxFloat64/4 { // leaves room to add the moats at both ends of an edge
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

// edgesOf returns the edges of a graph without self-loops.
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

// prune returns the subtree of greatest worth in a forest (strong pruning). The root of each tree is its node
// with the greatest prize; a branch is kept if it is worth more than the edge to it.
func prune(ctx context.Context, forest []Edge, prizes []float64) (*Tree, error) {
	f := newRows(len(prizes), forest)
	worth, parent := slices.Clone(prizes), make([]int32, len(prizes))
	cost := make([]float64, len(prizes)) // by node: cost of the edge to its parent
	for i := range parent {
		parent[i] = unseen
	}
	order := make([]int32, 0, len(prizes)) // parents come before their children
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

// richest returns the nodes with a prize, in descending order of prizes; of equal ones the lower node first.
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

// rows holds the edges of a forest, grouped by node.
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

// rankGap is the least relative gap between the prizes of edges of two ranks (G-Retriever's constant c).
const rankGap = 0.01

// NodePrizes gives the k most similar nodes (3 in G-Retriever) the prizes k, k-1, … 1, and all others 0; k is
// reduced to the number of nodes with a similarity above 0. Of equally similar nodes the lower one comes first.
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

// EdgePrizes gives prizes to the edges with the k greatest distinct similarities (G-Retriever: 5 for WebQSP, 3
// for scene graphs). The edges of rank j, from 0, share the prize k-j, but none gets as much as an edge of the
// rank before; k is reduced to the number of distinct similarities above 0.
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

// EdgeCost returns the cost of an edge next to edge prizes: cost (G-Retriever: ½ for WebQSP, 1 for scene
// graphs), but less than the greatest prize if there is one, so that at least one edge is worth its cost.
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
	// Nodes are the nodes, in ascending order, including both ends of each edge.
	Nodes []int32
	// Edges are indexes in the list of edges, in ascending order.
	Edges []int32
}

// Subgraph selects the connected part of a textual graph with the greatest sum of node and edge prizes less the
// costs of its edges, as far as [FindTree] finds it. edges are the edges of a graph of len(nodePrizes) nodes.
// Their weights are ignored; parallel edges are allowed; self-loops are never selected. Each edge costs
// [EdgeCost] of cost and edgePrizes. An edge whose prize is above its cost becomes a node that has the
// difference as its prize, with a free edge to either end; for other edges the prize is subtracted from the
// cost. If all prizes are 0, nothing is selected.
func Subgraph(ctx context.Context, edges []Edge, nodePrizes, edgePrizes []float64, cost float64) (*Selection, error) {
	if len(edgePrizes) != len(edges) {
		return nil, fmt.Errorf("graph: %d prizes for %d edges", len(edgePrizes), len(edges))
	}
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return nil, fmt.Errorf("graph: an edge costs %v, want a finite number of 0 or more", cost)
	}
	if len(nodePrizes)+len(edges) > math.MaxInt32 {
		return nil, errors.New("graph: there are more than 2^31 nodes and edges")
	}
	for e, p := range edgePrizes {
		if lower(edges[e]) < 0 || int(upper(edges[e])) >= len(nodePrizes) {
			return nil, fmt.Errorf("graph: edge %d joins the nodes %d and %d, but there are %d nodes", e, edges[e].From, edges[e].To, len(nodePrizes))
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

// split is a graph in which a node replaces each edge whose prize exceeds its cost.
type split struct {
	nodes   int32     // number of original nodes; later nodes replace edges
	prizes  []float64 // prizes of all nodes
	parts   []Edge    // edges of the split graph, at most one between two nodes
	whole   []int32   // the original edges that are not replaced: parts[i] is whole[i]
	virtual []int32   // the replaced edges: node nodes+i is virtual[i]
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

// lower returns the lower end of an edge, upper the other one.
func lower(e Edge) int32 { return min(e.From, e.To) }
func upper(e Edge) int32 { return max(e.From, e.To) }

// inOrder sorts edges by their lower ends, then by their upper ends, and is stable. It is a counting sort,
// because comparing edges would take longer than the rest of a selection.
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

// cheapest keeps one of consecutive edges between the same nodes, the first with the greatest prize.
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

// selection converts a tree of the split graph to a selection of the original one.
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
