// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"slices"
	"unsafe"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

const (
	// slabRows is the least height of a slab in memory: a multiple of what a scan takes at
	// a time, so that no block of rows lies in two.
	slabRows = 8192
	// slabBytes make higher slabs of narrow rows, up to sixteen times: pages of 2 MB fill them.
	slabBytes = 1 << 23
)

// slabs is a matrix of rows, in slabs, so that growing copies the first one at most.
type slabs[T any] struct {
	width int
	tall  int // rows of a slab
	parts [][]T
}

func newSlabs[T any](width int) slabs[T] {
	var zero T
	tall := slabRows
	for tall < 16*slabRows && tall*width*int(unsafe.Sizeof(zero)) < slabBytes {
		tall *= 2
	}
	return slabs[T]{width: width, tall: tall}
}

// grow makes the matrix a number of rows high; what is new is zero.
func (s *slabs[T]) grow(height int) {
	for first := max(0, len(s.parts)-1) * s.tall; first < height; first += s.tall { // those before are full
		at := first / s.tall
		if at == len(s.parts) {
			s.parts = append(s.parts, nil)
		}
		if at > 0 && s.parts[at] == nil { // all at once: what growing leaves behind stays until it is collected
			s.parts[at] = flat.Huge(make([]T, 0, s.tall*s.width))
		}
		want := min(s.tall, height-first) * s.width
		if have := len(s.parts[at]); have < want {
			s.parts[at] = slices.Grow(s.parts[at], want-have)[:want]
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
