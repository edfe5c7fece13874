// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"errors"
	"fmt"
	"math"
)

// Seed is a node of a reset vector. A vector is scaled to sum 1; a node that is
// named several times has the sum of its weights.
type Seed struct {
	Node   int32
	Weight float64
}

// ErrReset is wrapped by the errors for reset vectors that are zero, negative,
// not finite, or name nodes a graph does not have.
var ErrReset = errors.New("unusable reset vector")

// Uniform returns seeds of equal weight.
func Uniform(nodes ...int32) []Seed {
	seeds := make([]Seed, len(nodes))
	for i, u := range nodes {
		seeds[i] = Seed{u, 1}
	}
	return seeds
}

// reset is a checked reset vector. The walk that never comes back from nodes
// without an edge is proportional to the one that starts again there: it is
// computed instead, and divided by its sum.
type reset struct {
	total float64 // weight of all seeds
	sum   float64 // of the walk that does not come back
}

// checkReset checks seeds for a graph.
func (s *system) checkReset(seeds []Seed) (reset, error) {
	total, lost, largest := 0.0, 0.0, 0.0
	for _, seed := range seeds {
		switch {
		case seed.Node < 0 || int(seed.Node) >= len(s.strength):
			return reset{}, fmt.Errorf("ppr: %w: node %d in a graph of %d nodes", ErrReset, seed.Node, len(s.strength))
		case !(seed.Weight >= 0) || math.IsInf(seed.Weight, 1):
			return reset{}, fmt.Errorf("ppr: %w: node %d has %v, want a finite number of 0 or more", ErrReset, seed.Node, seed.Weight)
		}
		largest = max(largest, seed.Weight)
		total += seed.Weight
		if s.strength[seed.Node] == 0 {
			lost += seed.Weight
		}
	}
	if total == 0 {
		return reset{}, fmt.Errorf("ppr: %w: it is zero, name a node", ErrReset)
	}
	if math.IsInf(total, 1) || largest < math.SmallestNonzeroFloat64*0x1p60 {
		return reset{}, fmt.Errorf("ppr: %w: weights of up to %v, scale them", ErrReset, largest)
	}
	return reset{total, 1 - s.damping*lost/total}, nil
}

// addLost adds the seeds without an edge, where the walker only ever starts, to the values of
// the nodes from a place on.
func (s *system) addLost(seeds []Seed, v reset, from int, dst []float64) {
	for _, seed := range seeds {
		if s.strength[seed.Node] == 0 && int(seed.Node) >= from {
			dst[int(seed.Node)-from] += (1 - s.damping) * (seed.Weight / v.total) / v.sum
		}
	}
}
