// SPDX-License-Identifier: Apache-2.0

package vector

import "slices"

// slabRows is the height of a slab: a multiple of what a scan takes at a time, so
// that no block of rows lies in two.
const slabRows = 8192

// slabs is a matrix of rows, in slabs, so that growing copies one slab at most.
type slabs[T any] struct {
	width int
	parts [][]T
}

// grow makes the matrix a number of rows high; what is new is zero.
func (s *slabs[T]) grow(height int) {
	for first := 0; first < height; first += slabRows {
		at := first / slabRows
		if at == len(s.parts) {
			s.parts = append(s.parts, nil)
		}
		want := min(slabRows, height-first) * s.width
		if have := len(s.parts[at]); have < want {
			s.parts[at] = slices.Grow(s.parts[at], want-have)[:want]
		}
	}
}

// part are n rows from first on, all in one slab.
func (s *slabs[T]) part(first, n int) []T {
	slab, at := s.parts[first/slabRows], first%slabRows
	return slab[at*s.width : (at+n)*s.width]
}

// lie takes a matrix as it lies in memory.
func (s *slabs[T]) lie(matrix []T) {
	s.parts = slices.Collect(slices.Chunk(matrix, slabRows*s.width))
}
