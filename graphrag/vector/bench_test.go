// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

const (
	benchRows = 100_000
	benchDim  = 384
)

// clustered returns vectors around 1,000 centres in 32 latent dimensions, as
// embeddings of text lie, of which the last 1,000 are queries.
var clustered = sync.OnceValue(func() [][]float32 {
	const latent, centres = 32, 1000
	rng := rand.New(rand.NewPCG(384, 1))
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	centre, basis := normal(centres*latent), normal(latent*benchDim)
	vectors := make([][]float32, benchRows+1000)
	for i := range vectors {
		c := rng.IntN(centres)
		v := make([]float32, benchDim)
		for l := range latent {
			z := centre[c*latent+l] + .5*float32(rng.NormFloat64())
			for j, b := range basis[l*benchDim : (l+1)*benchDim] {
				v[j] += z * b
			}
		}
		vectors[i] = v
	}
	return vectors
})

func benchIndex(b *testing.B, opts Options) (*Index, [][]float32) {
	b.Helper()
	opts.Dim, opts.Cosine = benchDim, true
	x, err := New(opts)
	texttest.OK(b, err)
	texttest.OK(b, x.Add(clustered()[:benchRows]...))
	return x, clustered()[benchRows:]
}

// BenchmarkSearch holds single queries next to what bounds them: one reading
// of the same floats (bytes.Count, which is assembly and does little else),
// and gonum's matrix-vector product without any selection.
func BenchmarkSearch(b *testing.B) {
	index, queries := benchIndex(b, Options{})
	rows := slices.Concat(index.rows.parts...)
	b.Run("read", func(b *testing.B) {
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 4*len(rows))
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			bytes.Count(raw, []byte{0xff})
		}
	})
	b.Run("gonum", func(b *testing.B) {
		a := blas32.General{Rows: benchRows, Cols: benchDim, Stride: index.stride, Data: rows}
		x := blas32.Vector{N: benchDim, Inc: 1, Data: queries[0]}
		y := blas32.Vector{N: benchRows, Inc: 1, Data: make([]float32, benchRows)}
		b.SetBytes(int64(4 * len(rows)))
		for b.Loop() {
			blas32.Gemv(blas.NoTrans, 1, a, x, 0, y)
		}
	})
	single := func(x *Index) func(b *testing.B) {
		return func(b *testing.B) {
			var dst []rank.Scored[int32]
			b.ReportAllocs()
			b.SetBytes(int64(4 * x.n * x.stride))
			for i := 0; b.Loop(); i++ {
				dst, _ = x.Search(queries[i%len(queries)], 10, dst[:0])
			}
		}
	}
	parallel, _ := benchIndex(b, Options{Workers: runtime.GOMAXPROCS(0)})
	b.Run("codes", single(index))
	b.Run("codes/workers", single(parallel))
	index.kernels = portable()
	b.Run("floats", single(index))
}

func BenchmarkAdd(b *testing.B) {
	vectors := clustered()[:10_000]
	b.SetBytes(4 * benchDim * int64(len(vectors)))
	for b.Loop() {
		x, _ := New(Options{Dim: benchDim, Cosine: true})
		texttest.OK(b, x.Add(vectors...))
	}
}
