// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Limits of what an index takes. MaxNorm keeps every product and sum of a scan finite in float32.
const (
	MaxDim  = 1 << 16
	MaxNorm = 1e18
)

// Options describe an index.
type Options struct {
	// Dim is the number of components of every vector, 1 to [MaxDim].
	Dim int
	// Cosine scales rows when they are added, and queries, to length 1, so that scores are cosines. A
	// vector of zeros stays as it is and scores 0 with everything.
	Cosine bool
	// Signs keeps one sign bit of each component, too, for searches that read a
	// share of the rows ([Params].Share).
	Signs bool
	// Workers is the number of goroutines that share one search over a large
	// index, or one batch; 0 means GOMAXPROCS.
	Workers int
}

// ErrVector is wrapped by the errors for vectors an index cannot take: of another dimension, with a
// component that is not finite, or longer than [MaxNorm].
var ErrVector = errors.New("unusable vector")

// Index stores vectors and finds those with the largest dot product. It is
// safe for concurrent use; searches run side by side, Add waits for them.
type Index struct {
	opts    Options
	stride  int // floats from row to row: Dim rounded up to a multiple of laneWidth
	kernels kernels
	scratch sync.Pool // of *scratch

	mu      sync.RWMutex
	n       int
	rows    slabs[float32] // padded with zeros in both directions, see grow
	longest float64        // norm of the longest row
	codes   codeSlabs      // empty unless they pay
	folder  *flat.Folder   // where rows and codes lie, if not in memory
	signs   *signs         // nil unless kept
}

// New returns an empty index.
func New(opts Options) (*Index, error) {
	c := opt.Checks{Of: "vector: new index"}
	opt.Range(&c, "Dim", opts.Dim, 1, MaxDim)
	opt.Min(&c, "Workers", opts.Workers, 0)
	if err := c.Err(); err != nil {
		return nil, err
	}
	opts.Workers = par.Workers(opts.Workers)
	x := &Index{opts: opts, stride: roundUp(opts.Dim, laneWidth), kernels: fastest()}
	x.rows, x.codes.values, x.codes.bounds = newSlabs[float32](x.stride), newSlabs[int8](x.stride), newSlabs[bound](1)
	if opts.Signs {
		x.signs = &signs{turn: newRotation(opts.Dim)}
	}
	x.scratch.New = func() any { return new(scratch) }
	return x, nil
}

// Len returns the number of vectors.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.n
}

// Dim returns the number of components of a vector.
func (x *Index) Dim() int { return x.opts.Dim }

// Vector appends the vector with the given id to dst, as it is stored (scaled, if the index is for
// cosines). An id that was never given out appends nothing.
func (x *Index) Vector(id int32, dst []float32) []float32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if id < 0 || int(id) >= x.n {
		return dst
	}
	return append(dst, x.row(int(id))[:x.opts.Dim]...)
}

// Soon hints to the operating system that a vector will be read. It does nothing for unknown
// ids and for an index in memory.
func (x *Index) Soon(id int32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.folder != nil && id >= 0 && int(id) < x.n {
		flat.Soon(x.row(int(id)))
	}
}

// Add copies vectors into the index. Their ids are the next free numbers: the first vector ever added is 0.
// If one vector is unusable none is added, and the error, which wraps [ErrVector], names each of them by
// its position among the arguments.
func (x *Index) Add(vectors ...[]float32) error {
	norms := make([]float64, len(vectors))
	var errs []error
	for i, v := range vectors {
		var err error
		if norms[i], err = x.check(v); err != nil {
			errs = append(errs, fmt.Errorf("vector: add: row %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return x.add(vectors, func(i int, row []float32) {
		if x.opts.Cosine {
			scale(row, norms[i])
		}
	})
}

// add adds vectors, each scaled.
func (x *Index) add(vectors [][]float32, scaled func(i int, row []float32)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.folder != nil {
		return errors.New("vector: add: the index is in a folder and does not grow: write another with Create")
	}
	if len(vectors) > math.MaxInt32-x.n {
		return fmt.Errorf("vector: add: %d rows beside %d, an index holds at most %d: use several", len(vectors), x.n, math.MaxInt32)
	}
	first := x.n
	x.grow(len(vectors))
	for i, v := range vectors {
		row := x.row(first + i)
		copy(row, v)
		scaled(i, row)
		x.longest = max(x.longest, norm(row))
		if x.signs != nil {
			x.signs.add(row)
		}
	}
	for i := first; x.kernels.codesPay && i < x.n; i++ {
		x.codes.set(i, x.row(i))
	}
	return nil
}

// AddFrom adds rows of another index of the same options as they are stored there, to the bit.
func (x *Index) AddFrom(from *Index, ids ...int32) error {
	rows := make([][]float32, len(ids))
	for i, id := range ids {
		if rows[i] = from.Vector(id, nil); len(rows[i]) != x.opts.Dim {
			return fmt.Errorf("vector: add: row %d of another index: %w: %d components, the index has %d", id, ErrVector, len(rows[i]), x.opts.Dim)
		}
	}
	return x.add(rows, func(int, []float32) {})
}

// grow makes room for more rows. The matrix is kept a whole number of
// rowGroups high, because the kernels read that many rows at a time.
func (x *Index) grow(more int) {
	x.n += more
	height := roundUp(x.n, rowGroup)
	x.rows.grow(height)
	if x.kernels.codesPay {
		x.codes.values.grow(height)
		x.codes.bounds.grow(height)
	}
}

func (x *Index) row(i int) []float32 { return x.rows.read(i, 1) }

// check returns the norm of a vector, or what is wrong with it.
func (x *Index) check(v []float32) (float64, error) {
	if len(v) != x.opts.Dim {
		return 0, fmt.Errorf("%w: %d components, the index has %d", ErrVector, len(v), x.opts.Dim)
	}
	for i, c := range v {
		if c-c != 0 {
			return 0, fmt.Errorf("%w: component %d is %v", ErrVector, i, c)
		}
	}
	length := norm(v)
	if length > MaxNorm {
		return 0, fmt.Errorf("%w: length %.3g is more than %.0g, scale it down", ErrVector, length, float64(MaxNorm))
	}
	return length, nil
}

const (
	// slabRows is the least height of a slab in memory: a multiple of what a scan takes at
	// a time, so that no block of rows is in two.
	slabRows = 8192
	// slabBytes make higher slabs of narrow rows, up to sixteen times: pages of 2 MB fill them.
	slabBytes = 1 << 23
)

// slabs is a matrix of rows, in slabs, so that growing copies the first one at most.
type slabs[T any] struct {
	width int
	tall  int // rows of a slab
	parts [][]T
	sums  *flat.Sums // of the one part in a folder
}

func newSlabs[T any](width int) slabs[T] {
	var zero T
	tall := slabRows
	for tall < 16*slabRows && tall*width*int(unsafe.Sizeof(zero)) < slabBytes {
		tall *= 2
	}
	return slabs[T]{width: width, tall: tall}
}

// grow makes the matrix a number of rows high; new rows are zero.
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

// read is part of what may lie in a folder, where it is checked, see [Index.Err].
func (s *slabs[T]) read(first, n int) []T {
	if s.sums != nil {
		s.sums.Check(first*s.width, (first+n)*s.width)
	}
	return s.part(first, n)
}

// part are n rows from first on, all in one slab.
func (s *slabs[T]) part(first, n int) []T {
	slab, at := s.parts[first/s.tall], first%s.tall
	return slab[at*s.width : (at+n)*s.width]
}

// lie takes a matrix in a folder as one slab, without a copy.
func (s *slabs[T]) lie(matrix []T, sums *flat.Sums) {
	s.tall, s.parts, s.sums = max(1, len(matrix)/s.width), [][]T{matrix}, sums
}
