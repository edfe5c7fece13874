// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Partition says which community each node is in.
type Partition struct {
	// Labels holds the community of each node. Communities are numbered from 0,
	// the largest first, equally large ones by their smallest node.
	Labels []int32
	// Communities is their number.
	Communities int
	// Quality of the partition: its modularity at the options' resolution.
	Quality float64
	// Passes is the number of passes that were run.
	Passes int
	// Stable reports whether the last pass changed nothing, so that no node has a better community.
	Stable bool
}

// Members returns the nodes of each community in ascending order. All lists share one array.
func (p Partition) Members() [][]int32 {
	sizes := make([]int, p.Communities)
	for _, c := range p.Labels {
		sizes[c]++
	}
	all := make([]int32, len(p.Labels))
	members := make([][]int32, p.Communities)
	for c, size := range sizes {
		members[c], all = all[:0:size], all[size:]
	}
	for u, c := range p.Labels {
		members[c] = append(members[c], int32(u))
	}
	return members
}

// canonical renumbers communities by descending size, then by their smallest
// node, and returns how many there are. Labels are below their number.
func canonical(labels []int32) int {
	type community struct{ label, size, first int32 }
	if len(labels) == 0 {
		return 0
	}
	comms := make([]community, slices.Max(labels)+1)
	for u, c := range labels {
		if comms[c].size == 0 {
			comms[c] = community{c, 0, int32(u)}
		}
		comms[c].size++
	}
	numbers := make([]int32, len(comms))
	comms = slices.DeleteFunc(comms, func(c community) bool { return c.size == 0 })
	slices.SortFunc(comms, func(a, b community) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	for i, c := range comms {
		numbers[c.label] = int32(i)
	}
	for u, c := range labels {
		labels[u] = numbers[c]
	}
	return len(comms)
}

// apart is the partition of n nodes each of which is a community of its own.
func apart(n int) Partition {
	p := Partition{Labels: make([]int32, n), Communities: n}
	singletons(p.Labels)
	return p
}

func singletons(labels []int32) {
	for u := range labels {
		labels[u] = int32(u)
	}
}

// quality returns the modularity of a partition at resolution γ,
//
//	Q = Σ over the communities C of  in(C)/2m - γ·(W(C)/2m)²
//
// in(C) is the weight of the edge ends inside C, W(C) the sum of the strengths of its nodes, 2m the sum of
// all strengths; a loop has both ends at its node. The quality of a graph without weight is 0. Newman and
// Girvan (2004), with the resolution of Reichardt and Bornholdt (2006). The error is the error of ctx.
func quality(ctx context.Context, g *graph.Graph, about survey, labels []int32, resolution float64) (float64, error) {
	inside := make([]float64, g.N()) // weight of the edge ends of each node that stay in its community
	if err := par.Ranges(ctx, g.N(), surveyRows, 0, func(_, lo, hi int) error {
		for u := lo; u < hi; u++ {
			inside[u] = insideOf(g, labels, int32(u))
		}
		return nil
	}); err != nil {
		return 0, err
	}
	type totals struct {
		inside float64 // weight of edge ends
		weight float64
	}
	comms := make([]totals, g.N())
	for u, c := range labels {
		comms[c].inside += inside[u]
		comms[c].weight += about.strengths[u]
	}
	sum := 0.0
	for _, c := range comms {
		if about.twice > 0 {
			share := c.weight / about.twice
			sum += c.inside/about.twice - resolution*share*share
		}
	}
	return sum, nil
}

// insideOf returns the weight of the edge ends of u that stay in its community. Which these are is
// not to be foreseen, so there is no branch.
func insideOf(g *graph.Graph, labels []int32, u int32) float64 {
	inside, own := 0.0, labels[u]
	lo, hi := g.Row(u)
	targets := g.Targets()
	for a := lo; a < hi; a++ {
		w := g.Weight(a)
		if targets[a] == u {
			w *= 2
		}
		bits := math.Float64bits(w)
		if labels[targets[a]] != own {
			bits = 0
		}
		inside += math.Float64frombits(bits)
	}
	return inside
}

// Options of [Leiden] and [HierarchicalLeiden]. The zero value runs the algorithm of
// the paper for modularity until it is stable.
type Options struct {
	// Resolution γ: the larger, the more and smaller communities. Finite and above 0; 0 means 1.
	Resolution float64 `default:"1" min:"0"`
	// Randomness θ of the refinement: a node joins a community with a probability in proportion to
	// exp(gain/θ), the gain in units of edge weight. Finite and above 0; 0 means the 0.01 of Traag, Waltman
	// and van Eck (2019), "Experimental analysis".
	Randomness float64 `default:"0.01" min:"0"`
	// MaxPasses bounds the passes, each of which goes through all levels from single nodes up. 0 means 50.
	// Two passes are what most libraries do by default; large graphs gain little after that.
	MaxPasses int `default:"50" min:"0"`
	// Seed of all randomness.
	Seed uint64
}

// resolve fills in the defaults and reports everything that is wrong.
func (o Options) resolve() (Options, error) {
	checks := opt.Checks{Of: "community"}
	checks.Fill(&o)
	return o, checks.Err()
}
