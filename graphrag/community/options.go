// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Quality is what Leiden maximises.
type Quality int

const (
	// ModularityQuality is the quality of [Modularity], the default.
	ModularityQuality Quality = iota
	// CPMQuality, the constant Potts model, is the quality of [CPM].
	CPMQuality
)

// Options of [Leiden] and [Hierarchical]. The zero value runs the algorithm of
// the paper for modularity until it is stable.
type Options struct {
	// Quality to maximise, by default modularity.
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
	// [Hierarchical] uses it for the whole graph, not for the parts.
	Initial []int32
}

// ErrOptions is wrapped by the errors for options that cannot be used.
var ErrOptions = errors.New("unusable options")

// resolve fills in the defaults and reports everything that is wrong.
func (o Options) resolve(n int) (Options, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("community: "+format+": %w", append(args, ErrOptions)...))
	}
	if o.Quality != ModularityQuality && o.Quality != CPMQuality {
		bad("Quality is %d: it must be ModularityQuality or CPMQuality", o.Quality)
	}
	if !positive(o.Resolution) && o.Resolution != 0 {
		bad("Resolution is %v: it must be a finite number above 0", o.Resolution)
	}
	if !positive(o.Randomness) && o.Randomness != 0 {
		bad("Randomness is %v: it must be a finite number above 0", o.Randomness)
	}
	if o.MaxPasses < 0 {
		bad("MaxPasses is %d: it must be 0 or more", o.MaxPasses)
	}
	if err := checkLabels(o.Initial, n); o.Initial != nil && err != nil {
		bad("Initial: %v", err)
	}
	o.Resolution = cmp.Or(o.Resolution, 1)
	o.Randomness = cmp.Or(o.Randomness, 0.01)
	o.MaxPasses = cmp.Or(o.MaxPasses, 50)
	return o, errors.Join(errs...)
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

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
