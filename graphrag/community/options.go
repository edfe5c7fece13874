// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// Quality is what Leiden maximizes.
type Quality int

const (
	// ModularityQuality is the quality of [Modularity], the default.
	ModularityQuality Quality = iota
	// CPMQuality, the constant Potts model, is the quality of [CPM].
	CPMQuality
)

// Options of [Leiden] and [HierarchicalLeiden]. The zero value runs the algorithm of
// the paper for modularity until it is stable.
type Options struct {
	// Quality to maximize, by default modularity.
	Quality Quality
	// Resolution γ: the larger, the more and smaller communities. For CPM it is
	// the density of edges that a community has at least inside and at most
	// towards others. Finite and above 0; 0 means 1.
	Resolution float64
	// Randomness θ of the refinement: a node joins a community with a
	// probability in proportion to exp(gain/θ), the gain in units of edge
	// weight. Finite and above 0; 0 means the 0.01 of Traag, Waltman and van Eck
	// (2019), "Experimental analysis".
	Randomness float64
	// MaxPasses bounds the passes, each of which goes through all levels from
	// single nodes up. 0 means 50. Two passes are what most
	// libraries do by default; large graphs gain little after that.
	MaxPasses int
	// Seed of all randomness.
	Seed uint64
	// Initial is the partition the first pass starts from, a label of 0..N-1
	// for each node; nil means that each node is a community of its own.
	// [HierarchicalLeiden] uses it for the whole graph, not for the parts.
	Initial []int32
}

// resolve fills in the defaults and reports everything that is wrong.
func (o Options) resolve(n int) (Options, error) {
	checks := opt.Checks{Of: "community"}
	opt.Range(&checks, "Quality", o.Quality, ModularityQuality, CPMQuality)
	opt.Min(&checks, "Resolution", o.Resolution, 0)
	opt.Min(&checks, "Randomness", o.Randomness, 0)
	opt.Min(&checks, "MaxPasses", o.MaxPasses, 0)
	if err := checkLabels(o.Initial, n); o.Initial != nil && err != nil {
		checks.Add(fmt.Errorf("the labels in Initial: %w", err))
	}
	o.Resolution = cmp.Or(o.Resolution, 1)
	o.Randomness = cmp.Or(o.Randomness, 0.01)
	o.MaxPasses = cmp.Or(o.MaxPasses, 50)
	return o, checks.Err()
}

func checkLabels(labels []int32, n int) error {
	if len(labels) != n {
		return fmt.Errorf("%d labels for %d nodes, want one each", len(labels), n)
	}
	for u, c := range labels {
		if c < 0 || int(c) >= n {
			return fmt.Errorf("label %d of node %d is not in 0..%d", c, u, n-1)
		}
	}
	return nil
}

// strengths reports whether nodes weigh their strengths (modularity), or 1 (CPM).
func (o Options) strengths() bool { return o.Quality == ModularityQuality }
