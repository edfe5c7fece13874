// SPDX-License-Identifier: Apache-2.0

package view

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The forces that the tree computes are those of all pairs within a few percent.
func TestRepel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 500
	x, y, mass := make([]float64, n), make([]float64, n), make([]float64, n)
	for v := range x {
		x[v], y[v], mass[v] = 100*r.NormFloat64(), 100*r.NormFloat64(), 1+9*r.Float64()
	}
	x[1], y[1] = x[0], y[0] // two nodes at one place
	var tr tree
	tr.build(x, y, mass)
	var off, all float64
	for v := range x {
		var fx, fy float64
		for w := range x {
			dx, dy := x[v]-x[w], y[v]-y[w]
			if d2 := dx*dx + dy*dy; d2 > 0 {
				fx += repulsion * mass[v] * mass[w] * dx / d2
				fy += repulsion * mass[v] * mass[w] * dy / d2
			}
		}
		gx, gy := tr.repel(x[v], y[v], mass[v])
		off += math.Hypot(gx-fx, gy-fy)
		all += math.Hypot(fx, fy)
	}
	check.True(t, off <= .06*all, "forces are off by %.1f %%", 100*off/all)
}

// Groups joined by one edge are apart, and nodes joined by edges are near each other.
func TestLayoutSetsGroupsApart(t *testing.T) {
	const groups, size = 6, 30
	r := rand.New(rand.NewPCG(3, 4))
	var edges []graph.Edge
	labels := make([]int32, groups*size) // the layout does not get the groups
	for v := range int32(groups * size) {
		for range 4 {
			edges = append(edges, graph.Edge{From: v, To: v/size*size + r.Int32N(size), Weight: 1})
		}
		if v%size == 0 {
			edges = append(edges, graph.Edge{From: v, To: (v + size) % (groups * size), Weight: 1})
		}
	}
	g := check.Of(graph.New(groups*size, edges)).OK(t)
	x, y, err := layout(t.Context(), g, labels)
	check.OK(t, err)
	var within, between, n, m float64
	for v := range x {
		for w := range v {
			d := math.Hypot(x[v]-x[w], y[v]-y[w])
			check.Must(t, !math.IsNaN(d) && !math.IsInf(d, 0), "no place")
			if v/size == w/size {
				within, n = within+d, n+1
			} else {
				between, m = between+d, m+1
			}
		}
	}
	ratio := (between / m) / (within / n)
	check.True(t, ratio >= 2.5, "between groups it is %.2f times as far as within", ratio)
}

// Components without an edge between them are not so far apart that they look like dots.
func TestPartsFillThePicture(t *testing.T) {
	const stars, size, alone = 3, 15, 4
	var edges []graph.Edge
	for v := range int32(stars * size) {
		if hub := v / size * size; v != hub {
			edges = append(edges, graph.Edge{From: hub, To: v, Weight: 1})
		}
	}
	g := check.Of(graph.New(stars*size+alone, edges)).OK(t)
	x, y, err := layout(t.Context(), g, make([]int32, g.N()))
	check.OK(t, err)
	rescale(x, y)
	long := 0.0
	for _, e := range edges {
		long += math.Hypot(x[e.From]-x[e.To], y[e.From]-y[e.To]) / float64(len(edges))
	}
	check.True(t, long >= .12, "an edge is %.3f of the picture long", long)
}

// Nodes at one place are moved apart, even where no force acts.
func TestSeparate(t *testing.T) {
	x, y := make([]float64, 30), make([]float64, 30)
	for v := range x {
		x[v], y[v] = .5, .5
	}
	separate(x, y)
	for v := range x {
		for w := range v {
			d := math.Hypot(x[v]-x[w], y[v]-y[w])
			check.True(t, d >= .02, "%d and %d are %.3f apart", v, w, d)
		}
	}
}
