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

// Limits of an index. MaxNorm keeps every product and sum of a scan finite in float32.
const (
	MaxDim  = 1 << 16
	MaxNorm = 1e18
)

// Options of an index.
type Options struct {
	// Dim is the number of components of every vector, 1 to [MaxDim].
	Dim int
	// Cosine scales rows, when they are added, and queries to length 1, so that scores are cosines. A vector of
	// zeros is not changed, and its score is always 0.
	Cosine bool
	// Signs also stores a sign bit for each component, for searches that read a share of the rows
	// ([Params].Share).
	Signs bool
	// Workers is the number of goroutines of one search in a large index, or of one batch; 0 means GOMAXPROCS.
	Workers int
}

// ErrVector is wrapped by errors about unusable vectors: of another dimension, with a component that is not
// finite, or longer than [MaxNorm].
var ErrVector = errors.New("unusable vector")

// Index stores vectors and finds those with the largest dot product with a query. It is safe for concurrent
// use; searches run concurrently, Add waits for them.
type Index struct {
	opts    Options
	stride  int // distance of two rows in floats: Dim rounded up to a multiple of laneWidth
	kernels kernels
	scratch sync.Pool // pool of *scratch

	mu      sync.RWMutex
	n       int
	rows    slabs[float32] // padded with zeros in both directions (see grow)
	longest float64        // length of the longest row
	codes   codeSlabs      // empty if they do not make a search faster
	folder  *flat.Folder   // folder with rows and codes, nil in memory
	signs   *signs         // nil without Options.Signs
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

// Vector appends the vector with the given id to dst, in its stored form (scaled, if scores are cosines). For
// an unknown id it appends nothing.
func (x *Index) Vector(id int32, dst []float32) []float32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if id < 0 || int(id) >= x.n {
		return dst
	}
	return append(dst, x.row(int(id))[:x.opts.Dim]...)
}

// Soon tells the operating system that a vector will be read, unless its id is unknown or the index in memory.
func (x *Index) Soon(id int32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.folder != nil && id >= 0 && int(id) < x.n {
		flat.Soon(x.row(int(id)))
	}
}

// Add copies vectors into the index. Their ids are consecutive numbers, from 0 for the first vector ever added.
// If a vector is unusable, none is added, and the error, which wraps [ErrVector], lists all unusable ones by
// their position among the arguments.
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

// add adds vectors; scaled scales the stored row of vector i.
func (x *Index) add(vectors [][]float32, scaled func(i int, row []float32)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.folder != nil {
		return errors.New("vector: add: the index is in a folder and does not grow: write another with Create")
	}
	if len(vectors) > math.MaxInt32-x.n {
		return fmt.Errorf("vector: add %d rows to %d: an index holds at most %d: use several indexes", len(vectors), x.n, math.MaxInt32)
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

// AddFrom adds rows of another index with the same options, without changing a bit.
func (x *Index) AddFrom(from *Index, ids ...int32) error {
	rows := make([][]float32, len(ids))
	for i, id := range ids {
		if rows[i] = from.Vector(id, nil); len(rows[i]) != x.opts.Dim {
			return fmt.Errorf("vector: add: row %d of another index: %w: it has %d components, those of this index have %d", id, ErrVector, len(rows[i]), x.opts.Dim)
		}
	}
	return x.add(rows, func(int, []float32) {})
}

// grow makes room for more rows. The number of rows is rounded up to a multiple of rowGroup, because the
// kernels read that many rows at once.
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

// check returns the length of a vector, or an error if it is unusable.
func (x *Index) check(v []float32) (float64, error) {
	if len(v) != x.opts.Dim {
		return 0, fmt.Errorf("%w: it has %d components, those of the index have %d", ErrVector, len(v), x.opts.Dim)
	}
	for i, c := range v {
		if c-c != 0 {
			return 0, fmt.Errorf("%w: component %d is %v, want a finite number", ErrVector, i, c)
		}
	}
	length := norm(v)
	if length > MaxNorm {
		return 0, fmt.Errorf("%w: length %.3g is more than %.0g, scale it down", ErrVector, length, float64(MaxNorm))
	}
	return length, nil
}

const (
	// slabRows is the least number of rows of a slab: a multiple of the rows that a scan reads at once, so that
	// no block of rows is in two slabs.
	slabRows = 8192
	// slabBytes is the size that slabs of short rows have at least, with up to sixteen times slabRows, so that
	// they fill memory pages of 2 MB.
	slabBytes = 1 << 23
)

// slabs is a matrix in parts of equal height, so that growing copies at most the first part.
type slabs[T any] struct {
	width int
	tall  int // number of rows in a slab
	parts [][]T
	sums  *flat.Sums // checksums of the only part, in a folder
}

func newSlabs[T any](width int) slabs[T] {
	var zero T
	tall := slabRows
	for tall < 16*slabRows && tall*width*int(unsafe.Sizeof(zero)) < slabBytes {
		tall *= 2
	}
	return slabs[T]{width: width, tall: tall}
}

// grow extends the matrix to a number of rows; new rows are zero.
func (s *slabs[T]) grow(height int) {
	for first := max(0, len(s.parts)-1) * s.tall; first < height; first += s.tall { // slabs before the last one are full
		at := first / s.tall
		if at == len(s.parts) {
			s.parts = append(s.parts, nil)
		}
		if at > 0 && s.parts[at] == nil { // in one allocation, since discarded ones stay until garbage collection
			s.parts[at] = flat.Huge(make([]T, 0, s.tall*s.width))
		}
		want := min(s.tall, height-first) * s.width
		if have := len(s.parts[at]); have < want {
			s.parts[at] = slices.Grow(s.parts[at], want-have)[:want]
		}
	}
}

// read returns n rows from first on, like part. In a folder it also checks them (see [Index.Err]).
func (s *slabs[T]) read(first, n int) []T {
	if s.sums != nil {
		s.sums.Check(first*s.width, (first+n)*s.width)
	}
	return s.part(first, n)
}

// part returns n rows from first on, which must be in one slab.
func (s *slabs[T]) part(first, n int) []T {
	slab, at := s.parts[first/s.tall], first%s.tall
	return slab[at*s.width : (at+n)*s.width]
}

// lie uses a matrix in a folder as the only slab, without copying it.
func (s *slabs[T]) lie(matrix []T, sums *flat.Sums) {
	s.tall, s.parts, s.sums = max(1, len(matrix)/s.width), [][]T{matrix}, sums
}

// Kernels read vectors whose length is a multiple of laneWidth, and rows in groups of rowGroup, so that they
// need no code for remainders.
const (
	laneWidth = 32
	rowGroup  = 4
	// signGroup is the number of rows whose signs are stored together, word by word, so that they can be
	// compared in parallel.
	signGroup = 8
	// signPlanes is the number of words of a query for one word of a row: one for the signs, two for the bits
	// of the magnitudes.
	signPlanes = 3
)

// kernels are the inner loops of a scan. All slices are flat and of matching lengths: rows has len(out)
// vectors as long as query, len(out) is a multiple of rowGroup.
//
// They are exact.
type kernels struct {
	// dotCodes sets out[i] to codes[i] · query.
	dotCodes func(out []int32, codes []int8, query *queryCode)
	// codesPay reports whether dotCodes is faster than [dotRows]. In plain Go it is not, since processors have
	// fewer multipliers for integers.
	codesPay bool
}

// portable returns the kernels in plain Go.
func portable() kernels {
	return kernels{dotCodes: dotCodeRows}
}

// dotRows sets out[i] to rows[i] · query, with an error by rounding of at most [floatError].
func dotRows(out, rows, query []float32) {
	for i := range out {
		out[i] = dot32(rows[i*len(query):(i+1)*len(query)], query)
	}
}

// dot32 keeps eight sums, so that additions need not wait for each other.
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

// dotCodeRows processes rows in groups, to load each part of the query once.
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

// differRows sets out[i] to the sum of the magnitudes of the query where its sign differs from the sign of row
// i. rows contains the signs of len(out) rows, in whole groups.
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

// exactDot defines the score: float64, four sums in a fixed order. Whether the compiler fuses multiplication
// and addition makes no difference, because the products are exact.
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
