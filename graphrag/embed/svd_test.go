// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// randomSparse returns a matrix with the given share of nonzero entries, and the same matrix in dense form.
func randomSparse(rng *rand.Rand, rows, cols int, share float64) (*sparse, *mat.Dense) {
	a, d := newSparse(cols), mat.NewDense(rows, cols, nil)
	for i := range rows {
		var row []weighted
		for j := range cols {
			if rng.Float64() < share {
				w := float64(float32(rng.NormFloat64())) // the value in the matrix's precision
				row = append(row, weighted{int32(j), w})
				d.Set(i, j, w)
			}
		}
		a.add(row)
	}
	return a, d
}

func denseSVD(t *testing.T, d *mat.Dense) (sigma []float64, v *mat.Dense) {
	t.Helper()
	var exact mat.SVD
	check.Must(t, exact.Factorize(d, mat.SVDThin), "dense SVD failed")
	v = new(mat.Dense)
	exact.VTo(v)
	return exact.Values(nil), v
}

// TestRightSingularTruncated decomposes a matrix of rank 8 with noise: a sketch of rank 8+oversample must find
// its values and the space of its vectors.
func TestRightSingularTruncated(t *testing.T) {
	const rows, cols, rank = 120, 200, 8
	rng := rand.New(rand.NewPCG(3, 2))
	d := mat.NewDense(rows, cols, nil)
	for r := range rank {
		x, y := make([]float64, rows), make([]float64, cols)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for j := range y {
			y[j] = rng.NormFloat64()
		}
		d.RankOne(d, 1/float64(r+1), mat.NewVecDense(rows, x), mat.NewVecDense(cols, y))
	}
	a := newSparse(cols)
	for i := range rows {
		row := make([]weighted, cols)
		for j := range row {
			d.Set(i, j, d.At(i, j)+.01*rng.NormFloat64())
			row[j] = weighted{int32(j), d.At(i, j)}
		}
		a.add(row)
	}
	want, wantV := denseSVD(t, d)
	sigma, v, err := rightSingular(t.Context(), a, rank, 1, 1)
	check.OK(t, err)
	check.Must(t, len(sigma) == rank, "%d singular values, want %d", len(sigma), rank)
	for j := range sigma {
		check.True(t, math.Abs(sigma[j]/want[j]-1) <= 1e-5, "singular value %d is %v, want %v", j, sigma[j], want[j])
	}
	// Both bases span the same space if the product of one with the other is orthogonal: its squares add up to
	// the rank.
	squares := 0.0
	for j := range rank {
		for l := range rank {
			dot := 0.0
			for i := range cols {
				dot += v[i*rank+j] * wantV.At(i, l)
			}
			squares += dot * dot
		}
	}
	check.True(t, math.Abs(squares-rank) <= 1e-4, "the spaces differ: squares sum to %v, want %d", squares, rank)
}

func TestRightSingularDegenerate(t *testing.T) {
	for name, a := range map[string]*sparse{
		"no rows":    newSparse(4),
		"no columns": {starts: []int{0, 0, 0}},
		"zeros":      {cols: 3, starts: []int{0, 0, 0}},
	} {
		sigma, _, err := rightSingular(t.Context(), a, 5, 0, 1)
		check.True(t, err == nil && len(sigma) == 0, "%s: %d singular values, error %v", name, len(sigma), err)
	}
	twice := newSparse(2)
	for range 3 {
		twice.add([]weighted{{0, 1}, {1, 2}})
	}
	sigma, _, err := rightSingular(t.Context(), twice, 2, 0, 1)
	check.True(t, err == nil && len(sigma) == 1 && math.Abs(sigma[0]-math.Sqrt(15)) <= 1e-9, "rank one: %v, %v; want √15", sigma, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = rightSingular(ctx, twice, 2, 0, 1)
	check.Is(t, err, context.Canceled, "cancelled")
}

func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	a, d := randomSparse(rng, 9, 13, .4)
	back := a.transpose().transpose()
	check.True(t, slices.Equal(a.col, back.col) && slices.Equal(a.val, back.val) && slices.Equal(a.starts, back.starts), "transposed twice is another matrix")
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	out := make([]float64, 9)
	check.OK(t, mul(t.Context(), a, out, x, 1, 2))
	var want mat.VecDense
	want.MulVec(d, mat.NewVecDense(13, x))
	for i := range out {
		check.True(t, math.Abs(out[i]-want.AtVec(i)) <= 1e-12, "row %d of the product is %v, want %v", i, out[i], want.AtVec(i))
	}
}

// If singular values fall slowly, as those of text do, the nearest rows in the reduced space are still mostly
// those of the exact decomposition.
func TestNeighboursAreThoseOfTheExactSVD(t *testing.T) {
	const rows, cols, rank, near = 300, 400, 40, 10
	rng := rand.New(rand.NewPCG(3, 9))
	a, d := randomSparse(rng, rows, cols, .1)
	_, exact := denseSVD(t, d)
	sigma, v, err := rightSingular(t.Context(), a, rank, 1, 1)
	check.OK(t, err)
	var want mat.Dense
	want.Mul(d, exact.Slice(0, cols, 0, rank))
	var got mat.Dense
	got.Mul(d, mat.NewDense(cols, len(sigma), v))
	shared := 0
	for i := range rows {
		of := nearestRows(&want, i, near)
		for _, j := range nearestRows(&got, i, near) {
			if slices.Contains(of, j) {
				shared++
			}
		}
	}
	if share := float64(shared) / (rows * near); share < .65 { // two rounds give .57
		t.Errorf("%.3f of the nearest rows are shared, want .65", share)
	}
}

// nearestRows returns the k rows with the highest cosine with row i.
func nearestRows(m *mat.Dense, i, k int) []int {
	rows, _ := m.Dims()
	cosine := func(j int) float64 {
		x, y := m.RowView(i), m.RowView(j)
		return mat.Dot(x, y) / mat.Norm(x, 2) / mat.Norm(y, 2)
	}
	scores, order := make([]float64, rows), make([]int, rows)
	for j := range order {
		scores[j], order[j] = cosine(j), j
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[1 : k+1]
}

// topics returns a matrix like those of texts: terms with Zipf's frequencies, and terms of a subject.
func topics(rng *rand.Rand, rows, cols int) *sparse {
	zipf := rand.NewZipf(rng, 1.1, 3, uint64(cols-1))
	a := newSparse(cols)
	for range rows {
		counts := make(map[int32]int)
		subject := rng.IntN(20)
		for range 300 {
			term := zipf.Uint64()
			if rng.IntN(3) == 0 {
				term = uint64(100*subject) + term%100
			}
			counts[int32(term)]++
		}
		var row []weighted
		for term, n := range counts {
			row = append(row, weighted{term, (1 + math.Log(float64(n))) / math.Sqrt(float64(len(counts)))})
		}
		slices.SortFunc(row, func(a, b weighted) int { return cmp.Compare(a.term, b.term) })
		a.add(row)
	}
	return a
}

// TestSingle compares power iterations in single and double precision: they give the same vectors.
func TestSingle(t *testing.T) {
	const dim = 64
	a := topics(rand.New(rand.NewPCG(3, 7)), 600, 5000)
	o := operator{a, a.transpose(), 0}
	sigma, _, v, err := matrix.Truncated(t.Context(), o, dim, powerIterations, 1)
	check.OK(t, err)
	wantSigma, _, wantV, err := matrix.Truncated(t.Context(), struct{ matrix.Matrix }{o}, dim, powerIterations, 1)
	check.OK(t, err)
	for i := range a.rows() {
		got, want := latent(a, i, sigma, v), latent(a, i, wantSigma, wantV)
		dot := 0.0
		for j := range got {
			dot += got[j] * want[j]
		}
		check.True(t, dot > 1-1e-6, "row %d: cosine %v to the vector of double precision", i, dot)
	}
}

// latent returns the vector of a row, normalized.
func latent(a *sparse, i int, sigma, v []float64) []float64 {
	out, squares := make([]float64, len(sigma)), 0.0
	for k := a.starts[i]; k < a.starts[i+1]; k++ {
		for j := range out {
			out[j] += float64(a.val[k]) * v[int(a.col[k])*len(sigma)+j] / math.Sqrt(sigma[j])
		}
	}
	for _, x := range out {
		squares += x * x
	}
	for j := range out {
		out[j] /= math.Sqrt(squares)
	}
	return out
}

// The number of dimensions depends on the size of the corpus, within two bounds.
func TestAutomaticDim(t *testing.T) {
	for texts, want := range map[int]int{0: 384, 3000: 384, 8643: 650, 21_400: 1024, 1 << 30: 1024} {
		got := automaticDim(texts)
		check.Equal(t, got, want, "%d texts: %d dimensions", texts, got)
	}
}

// Every way to add up rows gives the same bits, for all widths near the kernel's.
func TestSumRows(t *testing.T) {
	t.Run("float32", sameSums[float32])
	t.Run("float64", sameSums[float64])
}

func sameSums[F float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, width := range []int{1, 3, 4, 7, 8, 9, 31, 32, 33, 63, 64, 65, 72, 127, 136, 394} {
		for _, n := range []int{0, 1, 2, 50} {
			const rows = 20
			x, want, got := make([]F, rows*width), make([]F, width), make([]F, width)
			for i := range x {
				x[i] = F(rng.NormFloat64())
			}
			cols, vals := make([]int32, n), make([]float32, n)
			for k := range cols {
				cols[k], vals[k] = rng.Int32N(rows), float32(rng.NormFloat64())
			}
			for i := range got {
				got[i], want[i] = F(math.NaN()), F(math.NaN()) // must be overwritten
			}
			sumRows(got, x, cols, vals)
			sumRest(want, 0, x, cols, vals)
			for i := range want {
				check.Must(t, math.Float64bits(float64(got[i])) == math.Float64bits(float64(want[i])),
					"width %d, %d rows: component %d is %v, want %v", width, n, i, got[i], want[i])
			}
		}
	}
}

func TestSumRowsBeyond(t *testing.T) {
	defer func() {
		check.True(t, recover() != nil, "a row behind the end of the matrix was read")
	}()
	sumRows(make([]float32, 8), make([]float32, 16), []int32{2}, []float32{1})
}

// A term in only one text counts if there are fewer than a hundred texts; the most frequent terms precede
// others.
func TestVocabulary(t *testing.T) {
	texts := slices.Repeat([]string{"owl", "mouse owl", "owl fox"}, 33)
	for n, want := range map[int]int{98: 4, 99: 3} {
		v, _, err := readCorpus(t.Context(), text.Plain(), append(texts[:n:n], "lynx"), 1)
		check.OK(t, err)
		if v.terms.Len() != want || string(v.terms.At(0)) != "owl" {
			t.Errorf("%d texts: %d terms, want %d, the first %q", n+1, v.terms.Len(), want, v.terms.At(0))
		}
	}
}
