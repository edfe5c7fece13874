// SPDX-License-Identifier: Apache-2.0

package vector

import "slices"

// slabRows is the height of a slab in memory: a multiple of what a scan takes at a
// time, so that no block of rows lies in two.
const slabRows = 8192

// slabs is a matrix of rows, in slabs, so that growing copies the first one at most.
type slabs[T any] struct {
	width int
	tall  int // rows of a slab
	parts [][]T
}

func newSlabs[T any](width int) slabs[T] { return slabs[T]{width: width, tall: slabRows} }

// grow makes the matrix a number of rows high; what is new is zero.
func (s *slabs[T]) grow(height int) {
	for first := max(0, len(s.parts)-1) * s.tall; first < height; first += s.tall { // those before are full
		at := first / s.tall
		if at == len(s.parts) {
			s.parts = append(s.parts, nil)
		}
		want := min(s.tall, height-first) * s.width
		if have := len(s.parts[at]); have < want {
			room := want - have
			if at > 0 { // all at once: what growing leaves behind stays until it is collected
				room = s.tall*s.width - have
			}
			s.parts[at] = slices.Grow(s.parts[at], room)[:want]
		}
	}
}

// part are n rows from first on, all in one slab.
func (s *slabs[T]) part(first, n int) []T {
	slab, at := s.parts[first/s.tall], first%s.tall
	return slab[at*s.width : (at+n)*s.width]
}

// lie takes a matrix as it lies in memory: one slab.
func (s *slabs[T]) lie(matrix []T) {
	s.tall, s.parts = max(1, len(matrix)/s.width), [][]T{matrix}
}
