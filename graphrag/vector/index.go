// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
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

// Kernels read vectors whose length is a multiple of laneWidth, and rows in
// groups of rowGroup, so that they need no code for the rest.
const (
	laneWidth = 32
	rowGroup  = 4
	// signGroup rows are stored together, word by word, so that they can be compared side by side.
	signGroup = 8
	// signPlanes is the number of words of a query for one word of a row: the signs,
	// and two bits of the magnitudes.
	signPlanes = 3
)

// kernels are the inner loops of a scan. All slices are flat and of matching lengths: rows has len(out)
// vectors as long as query, len(out) is a multiple of rowGroup.
//
// They are exact.
type kernels struct {
	// dotCodes: out[i] = codes[i] · query.
	dotCodes func(out []int32, codes []int8, query *queryCode)
	// codesPay reports whether dotCodes is faster than [dotRows]. In plain Go it is
	// not: there are fewer multipliers for integers.
	codesPay bool
}

// portable are the kernels in plain Go.
func portable() kernels {
	return kernels{dotCodes: dotCodeRows}
}

// dotRows: out[i] = rows[i] · query, but for rounding, see [floatError].
func dotRows(out, rows, query []float32) {
	for i := range out {
		out[i] = dot32(rows[i*len(query):(i+1)*len(query)], query)
	}
}

// dot32 keeps eight sums: fewer wait for the adder.
func dot32(x, y []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(x) >= 8 && len(y) >= 8 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		x, y = x[8:], y[8:]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// dotCodeRows takes rows in groups, to load each part of the query once.
func dotCodeRows(out []int32, codes []int8, query *queryCode) {
	dim := len(query.words)
	for ; len(out) >= rowGroup; out, codes = out[rowGroup:], codes[rowGroup*dim:] {
		a, b, c, d := codes[:dim], codes[dim:][:dim], codes[2*dim:][:dim], codes[3*dim:][:dim]
		var s0, s1, s2, s3 int32
		for i, q := range query.words {
			s0 += int32(a[i]) * int32(q)
			s1 += int32(b[i]) * int32(q)
			s2 += int32(c[i]) * int32(q)
			s3 += int32(d[i]) * int32(q)
		}
		out[0], out[1], out[2], out[3] = s0, s1, s2, s3
	}
}

// differRows: out[i] is the sum of the magnitudes of the query where its sign
// differs from row i. bits contains len(out) rows, whole groups.
func differRows(out []int32, rows, planes []uint64) {
	for ; len(out) >= signGroup; out = out[signGroup:] {
		var sums [signGroup]int
		for p := planes; len(p) >= signPlanes; p = p[signPlanes:] {
			group := rows[:signGroup]
			rows = rows[signGroup:]
			for i, word := range group {
				word ^= p[0]
				sums[i] += bits.OnesCount64(word) + 2*bits.OnesCount64(word&p[1]) + 4*bits.OnesCount64(word&p[2])
			}
		}
		for i, sum := range sums {
			out[i] = int32(sum)
		}
	}
}

// exactDot is the definition of the score: float64, four sums in a fixed order. The compiler may fuse
// multiplication and addition or not, because the products are exact.
func exactDot(x, y []float32) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	return (s0 + s1) + (s2 + s3)
}
