// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Limits of what an index takes. MaxNorm keeps every product and sum of a
// scan finite in float32.
const (
	MaxDim  = 1 << 16
	MaxNorm = 1e18
)

// Options describe an index.
type Options struct {
	// Dim is the number of components of every vector, 1 to [MaxDim].
	Dim int
	// Cosine scales rows when they are added, and queries, to length 1, so
	// that scores are cosines. A vector of zeros stays as it is and scores 0
	// with everything.
	Cosine bool
	// Quantized keeps an int8 code beside each row. Results are the same,
	// searches take a fraction of the time. Without assembly for the
	// processor it would not pay and has no effect.
	Quantized bool
	// Signs keeps a bit or two of each component besides, in the folders that
	// [Create] writes, for searches that read a share of the rows ([Params].Share). An
	// index in memory has none.
	Signs bool
	// Graph keeps links between rows that are alike, for searches that walk along them
	// ([Params].Beam). It needs Cosine and Quantized. Adding a row takes some thirty
	// times as long, shared by all Workers if rows come by the hundred.
	Graph bool
	// Workers is the number of goroutines that share one search over a large
	// index, or one batch; 0 means GOMAXPROCS.
	Workers int
}

// ErrVector is wrapped by the errors for vectors an index cannot take: of
// another dimension, with a component that is not finite, or longer than
// [MaxNorm].
var ErrVector = errors.New("unusable vector")

// Index holds vectors and finds those with the largest dot product. It is
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
	codes   codes          // empty unless quantized
	folder  *flat.Folder   // where rows and codes lie, if not in memory
	signs   *signs         // of rows in a folder, if it has some
	graph   *graph         // of rows, if there is one
}

// New returns an empty index.
func New(opts Options) (*Index, error) {
	c := opt.Checks{Of: "vector: new index"}
	opt.Range(&c, "Dim", opts.Dim, 1, MaxDim)
	opt.Min(&c, "Workers", opts.Workers, 0)
	c.Want(!opts.Graph || opts.Cosine && opts.Quantized, "Graph", opts.Graph, "Cosine and Quantized beside it")
	if err := c.Err(); err != nil {
		return nil, err
	}
	opts.Workers = par.Workers(opts.Workers)
	x := &Index{opts: opts, stride: roundUp(opts.Dim, laneWidth), kernels: fastest()}
	x.rows, x.codes.values, x.codes.bounds = newSlabs[float32](x.stride), newSlabs[int8](x.stride), newSlabs[bound](1)
	if opts.Graph {
		x.graph = new(graph)
	}
	x.scratch.New = func() any { return new(scratch) }
	return x, nil
}

// Dim returns the dimension of the vectors.
func (x *Index) Dim() int { return x.opts.Dim }

// Len returns the number of vectors.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.n
}

// Vector appends the vector with the given id to dst, as it is stored (scaled,
// if the index is for cosines). An id that was never given out appends
// nothing.
func (x *Index) Vector(id int32, dst []float32) []float32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if id < 0 || int(id) >= x.n {
		return dst
	}
	return append(dst, x.row(int(id))[:x.opts.Dim]...)
}

// Soon tells the system that a vector of an index in a folder will be read. Of an id that
// was never given out, and of an index in memory, it does nothing.
func (x *Index) Soon(id int32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.folder != nil && id >= 0 && int(id) < x.n {
		flat.Soon(x.row(int(id)))
	}
}

// Add copies vectors into the index. Their ids are the next free numbers: the
// first vector ever added is 0. If one vector is unusable none is added, and
// the error, which wraps [ErrVector], names each of them by its position
// among the arguments.
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
		if x.opts.Cosine {
			scale(row, norms[i])
		}
		x.longest = max(x.longest, norm(row))
	}
	x.encode(first)
	if x.graph != nil {
		x.graph.grow(&x.codes, &x.kernels, x.n, x.opts.Workers, false)
	}
	return nil
}

// grow makes room for more rows. The matrix is kept a whole number of
// rowGroups high, because the kernels read that many rows at a time.
func (x *Index) grow(more int) {
	x.n += more
	height := roundUp(x.n, rowGroup)
	x.rows.grow(height)
	if x.quantized() {
		x.codes.values.grow(height)
		x.codes.bounds.grow(height)
	}
}

func (x *Index) quantized() bool { return x.opts.Quantized && (x.kernels.codesPay || x.opts.Graph) }

// encode computes the codes of the rows from first on.
func (x *Index) encode(first int) {
	if !x.quantized() {
		return
	}
	for i := first; i < x.n; i++ {
		x.codes.set(i, x.row(i))
	}
}

func (x *Index) row(i int) []float32 { return x.rows.part(i, 1) }

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
