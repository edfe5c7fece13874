// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// sorter sorts rows by target, and arcs of one target by weight. It keeps its
// memory from row to row.
type sorter[W float32 | float64] struct {
	keys    []uint64
	weights []W
}

// short rows are sorted by insertion.
const short = 24

// sort sorts a row in place. The weights may be nil.
func (s *sorter[W]) sort(targets []int32, weights []W) {
	switch {
	case weights == nil && len(targets) <= short:
		insertTargets(targets)
	case weights == nil:
		slices.Sort(targets)
	case len(targets) <= short:
		insertArcs(targets, weights)
	case !increasing(targets):
		s.sortArcs(targets, weights)
	}
}

// increasing reports whether targets are in order and all different, as those of a list
// that was sorted.
func increasing(targets []int32) bool {
	for i := 1; i < len(targets); i++ {
		if targets[i-1] >= targets[i] {
			return false
		}
	}
	return true
}

func insertTargets(targets []int32) {
	for i, t := range targets {
		for ; i > 0 && targets[i-1] > t; i-- {
			targets[i] = targets[i-1]
		}
		targets[i] = t
	}
}

func insertArcs[W float32 | float64](targets []int32, weights []W) {
	for i, t := range targets {
		w := weights[i]
		for ; i > 0 && (targets[i-1] > t || targets[i-1] == t && weights[i-1] > w); i-- {
			targets[i], weights[i] = targets[i-1], weights[i-1]
		}
		targets[i], weights[i] = t, w
	}
}

// sortArcs sorts keys of target and position, which hold no two equal ones.
func (s *sorter[W]) sortArcs(targets []int32, weights []W) {
	s.keys = s.keys[:0]
	for i, t := range targets {
		s.keys = append(s.keys, uint64(t)<<32|uint64(i))
	}
	s.weights = append(s.weights[:0], weights...)
	slices.Sort(s.keys)
	for i, key := range s.keys {
		targets[i], weights[i] = int32(key>>32), s.weights[uint32(key)]
	}
	for i := 0; i < len(targets); {
		first := i
		for i++; i < len(targets) && targets[i] == targets[first]; i++ {
		}
		if i-first > 1 {
			slices.Sort(weights[first:i])
		}
	}
}
