// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Twins are nodes of one weight with the same arcs to all others, and arcs of one weight a
// to each other, a ≥ γ'·w(v)²: names that stand in one place of a text alone are such. Were two
// of them in different communities, one of them would gain by joining the other; and any number
// of them are γ-connected. So they are one node from the beginning.
type twins[W weight] struct {
	first  []int32 // node of the lowest number in the class of each
	size   []int32 // of the class of a first node
	inside []W     // weight between the nodes of the class of a first node
}

// firsts appends the rows of the classes from lo to hi to arcs: those of their first nodes, which
// have the number of their class, and all others -1. The ends of the rows are the offsets of to.
func (net *network[W]) firsts(to *network[W], arcs []arc[W], firsts, class, size []int32, lo, hi int) []arc[W] {
	for c := lo; c < hi; c++ {
		u := firsts[c]
		k := W(size[u])
		for _, a := range net.row(u) {
			if other := class[a.to]; other >= 0 {
				arcs = append(arcs, arc[W]{other, k * W(size[a.to]) * a.w})
			}
		}
		to.weights[c] = k * net.weights[u]
		to.offsets[c+1] = int64(len(arcs))
	}
	return arcs
}

// twins finds twins by sums of hashes of their arcs, and compares the rows of those whose sums
// are equal. Each processor has a part of the sums.
func (net *network[W]) twins(ctx context.Context, sums []uint64, gamma float64, workers int) (twins[W], error) {
	n := net.n()
	t := twins[W]{first: make([]int32, n), size: make([]int32, n), inside: make([]W, n)}
	return t, par.Each(ctx, workers, workers, func(part int) error {
		var nodes []int32
		for u, sum := range sums {
			if int(sum%uint64(workers)) == part {
				nodes = append(nodes, int32(u))
			}
		}
		t.find(net, nodes, sums, gamma)
		return nil
	})
}

// find finds the twins among some nodes, in ascending order.
func (t *twins[W]) find(net *network[W], nodes []int32, sums []uint64, gamma float64) {
	table := make([]int32, 1<<bits.Len(uint(2*len(nodes)))) // node + 1
	mask := uint64(len(table) - 1)
	for _, u := range nodes {
		at := sums[u] >> 32 & mask
		for table[at] != 0 && sums[table[at]-1] != sums[u] {
			at = (at + 1) & mask
		}
		t.first[u], t.size[u] = u, 1
		if table[at] == 0 {
			table[at] = u + 1
		} else if len(net.row(u)) > 0 {
			t.join(net, table[at]-1, u, gamma)
		}
	}
}

// join puts u into the class of first if they are twins.
func (t *twins[W]) join(net *network[W], first, u int32, gamma float64) {
	inside, ok := net.between(first, u)
	weight := float64(net.weights[u])
	if !ok || net.weights[first] != net.weights[u] || float64(inside) < gamma*weight*weight ||
		t.size[first] > 1 && inside != t.inside[first] || !net.sameRows(first, u) {
		return
	}
	t.first[u], t.inside[first] = first, inside
	t.size[first]++
}

// between returns the weight of the arc from u to v, and whether there is one.
func (net *network[W]) between(u, v int32) (W, bool) {
	row := net.row(u)
	at, ok := slices.BinarySearchFunc(row, v, func(a arc[W], v int32) int { return int(a.to - v) })
	if !ok {
		return 0, false
	}
	return row[at].w, true
}

// sameRows tells whether u and v have the same arcs to all other nodes.
func (net *network[W]) sameRows(u, v int32) bool {
	a, b := net.row(u), net.row(v)
	if len(a) != len(b) {
		return false
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		if i < len(a) && a[i].to == v {
			i++
		}
		if j < len(b) && b[j].to == u {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
	}
}

// hash returns a sum over the arcs of u that is equal for twins: the node's own number stands in
// for the others, with the greatest weight, which is that between them if they go the same ways.
func (net *network[W]) hash(u int32) uint64 {
	sum, greatest := uint64(0), W(0)
	for _, a := range net.row(u) {
		sum += a.hash()
		if a.w > greatest {
			greatest = a.w
		}
	}
	return sum + arc[W]{u, greatest}.hash()
}

// hash spreads the bits of an arc by products.
func (a arc[W]) hash() uint64 {
	x := uint64(a.to)*0x9e3779b97f4a7c15 + math.Float64bits(float64(a.w))*0xd6e8feb86659fd93
	return x ^ x>>32
}
