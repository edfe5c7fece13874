// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// selector keeps, of rows with a lower and an upper bound for their score,
// those that are to be kept and can be among the K best: all whose upper bound reaches
// the K-th largest lower bound.
type selector struct {
	Params
	lows  []float32 // the K largest lower bounds, smallest first (a heap)
	cut   float32   // lows[0] once there are K, -Inf before, or what is wanted at least
	kept  []candidate
	limit int // size of kept at which it is pruned
}

type candidate struct {
	id    int32
	upper float32
}

func (s *selector) reset(p Params) {
	s.Params, s.lows, s.kept = p, s.lows[:0], s.kept[:0]
	s.cut = float32(math.Inf(-1))
	s.limit = 4*p.K + 1024
}

// offer takes a row. The caller should have dropped it when upper < s.cut.
func (s *selector) offer(id int32, lower, upper float32) {
	if s.Keep != nil && !s.Keep(id) {
		return
	}
	if len(s.kept) >= s.limit {
		s.prune()
		s.limit = max(s.limit, 2*len(s.kept))
	}
	s.kept = append(s.kept, candidate{id, upper})
	switch {
	case len(s.lows) < s.K:
		s.lows = append(s.lows, lower)
		s.up(len(s.lows) - 1)
		if len(s.lows) < s.K {
			return
		}
	case lower > s.lows[0]:
		s.lows[0] = lower
		s.down()
	}
	s.cut = max(s.cut, s.lows[0])
}

// prune drops what has fallen below the cut.
func (s *selector) prune() {
	kept := s.kept[:0]
	for _, c := range s.kept {
		if c.upper >= s.cut {
			kept = append(kept, c)
		}
	}
	s.kept = kept
}

func (s *selector) up(i int) {
	for i > 0 && s.lows[(i-1)/2] > s.lows[i] {
		s.lows[(i-1)/2], s.lows[i] = s.lows[i], s.lows[(i-1)/2]
		i = (i - 1) / 2
	}
}

func (s *selector) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s.lows) {
			return
		}
		if child+1 < len(s.lows) && s.lows[child+1] < s.lows[child] {
			child++
		}
		if s.lows[i] <= s.lows[child] {
			return
		}
		s.lows[i], s.lows[child] = s.lows[child], s.lows[i]
		i = child
	}
}
