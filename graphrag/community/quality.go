// SPDX-License-Identifier: Apache-2.0

package community

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Modularity returns the modularity of a partition at resolution γ,
//
//	Q = Σ over the communities C of  in(C)/2m - γ·(W(C)/2m)²
//
// in(C) being the weight of the edge ends inside of C, W(C) the sum of the
// strengths of its nodes, 2m that of all nodes; a loop has both of its ends at
// its node. Without any weight it is 0. Labels are 0..N-1, one for each node;
// the error says what is wrong with them. Newman and Girvan (2004), with the
// resolution of Reichardt and Bornholdt (2006).
func Modularity(g *graph.Graph, labels []int32, resolution float64) (float64, error) {
	return measured(g, labels, Options{Quality: ModularityQuality, Resolution: resolution})
}

// CPM returns the constant Potts model's quality of a partition at resolution
// γ,
//
//	H = Σ over the communities C of  e(C) - γ·|C|·(|C|-1)/2
//
// e(C) being the weight of the edges inside of C, loops included. It is in units
// of edge weight. Traag, Van Dooren and Nesterov (2011). Labels as for
// [Modularity].
func CPM(g *graph.Graph, labels []int32, resolution float64) (float64, error) {
	return measured(g, labels, Options{Quality: CPMQuality, Resolution: resolution})
}

func measured(g *graph.Graph, labels []int32, opts Options) (float64, error) {
	if err := checkLabels(labels, g.N()); err != nil {
		return 0, fmt.Errorf("community: %w", err)
	}
	return quality(g, labels, opts), nil
}

func quality(g *graph.Graph, labels []int32, opts Options) float64 {
	type totals struct {
		inside float64 // weight of edge ends
		weight float64
		size   float64
	}
	comms := make([]totals, g.N())
	twice := 0.0
	targets := g.Targets()
	for u, c := range labels {
		inside, strength := 0.0, 0.0
		lo, hi := g.Row(int32(u))
		for a := lo; a < hi; a++ {
			w := g.Weight(a)
			if targets[a] == int32(u) {
				w *= 2
			}
			strength += w
			if labels[targets[a]] == c {
				inside += w
			}
		}
		comms[c].inside += inside
		comms[c].weight += strength
		comms[c].size++
		twice += strength
	}
	sum := 0.0
	for _, c := range comms {
		switch {
		case opts.Quality == CPMQuality:
			sum += c.inside/2 - opts.Resolution*c.size*(c.size-1)/2
		case twice > 0:
			share := c.weight / twice
			sum += c.inside/twice - opts.Resolution*share*share
		}
	}
	return sum
}
