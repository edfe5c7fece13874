// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

// bruteForce scores every stored row by the definition, which must agree with
// a sum in plain order as far as float64 can tell.
func bruteForce(t *testing.T, x *Index, query []float32, k int) []rank.Scored[int32] {
	t.Helper()
	query = slices.Clone(query)
	if x.opts.Cosine {
		scale(query, norm(query))
	}
	padded := append(slices.Clone(query), make([]float32, x.stride-len(query))...)
	var all []rank.Scored[int32]
	for i := range x.n {
		plain := 0.0
		v := x.Vector(int32(i), nil)
		for j := range v {
			plain += float64(v[j]) * float64(query[j])
		}
		score := exactDot(x.row(i), padded)
		check.Must(t, math.Abs(score-plain) <= 1e-13*norm(v)*norm(query), "row %d: score %v, plain sum %v", i, score, plain)
		all = append(all, rank.Scored[int32]{ID: int32(i), Score: float64(float32(score))})
	}
	slices.SortFunc(all, func(a, b rank.Scored[int32]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return all[:max(0, min(k, len(all)))]
}

func newIndex(t testing.TB, opts Options, k kernels) *Index {
	t.Helper()
	x := check.Of(New(opts)).OK(t)
	x.kernels = k
	return x
}

// someVectors are of small integers, so that equal scores are frequent, or of
// very different lengths. Some are repeated and some zero.
func someVectors(rng *rand.Rand, n, dim int, integers bool) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		v := make([]float32, dim)
		size := math.Pow(10, float64(rng.IntN(7)-3))
		for j := range v {
			if integers {
				v[j] = float32(rng.IntN(5) - 2)
			} else {
				v[j] = float32(size * math.Round(1e4*rng.NormFloat64()))
			}
		}
		if i > 0 && rng.IntN(10) == 0 {
			copy(v, vectors[rng.IntN(i)])
		}
		if rng.IntN(20) == 0 {
			clear(v)
		}
		vectors[i] = v
	}
	return vectors
}

// TestSearchIsExact compares ids and order with brute force, and scores to
// the last bit, for every dimension to 70, all kernels and all options.
func TestSearchIsExact(t *testing.T) {
	for name, kernels := range kernelSets() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			for dim := 1; dim <= 70; dim++ {
				for variant := range 4 {
					opts := Options{Dim: dim, Cosine: variant&1 != 0}
					vectors := someVectors(rng, rng.IntN(120), dim, variant&2 != 0)
					x := newIndex(t, opts, kernels)
					for rest := vectors; len(rest) > 0; {
						n := 1 + rng.IntN(len(rest))
						check.OK(t, x.Add(rest[:n]...))
						rest = rest[n:]
					}
					queries := someVectors(rng, 3, dim, variant&2 != 0)
					k := rng.IntN(len(vectors) + 4)
					for _, q := range queries {
						got := check.Of(x.Search(q, k, nil)).OK(t)
						want := bruteForce(t, x, q, k)
						if diff := gocmp.Diff(want, got); len(want) > 0 && diff != "" {
							t.Fatalf("%+v n=%d k=%d: (-want +got)\n%s", opts, len(vectors), k, diff)
						}
					}
				}
			}
		})
	}
}

func TestSearchAppends(t *testing.T) {
	x := newIndex(t, Options{Dim: 2}, fastest())
	for _, k := range []int{-1, 0, 3} {
		got, err := x.Search([]float32{1, 0}, k, nil)
		check.True(t, err == nil && len(got) == 0, "empty index, k=%d: %v, %v", k, got, err)
	}
	check.OK(t, x.Add([]float32{1, 0}, []float32{0, 0}, []float32{2, 0}))
	got := check.Of(x.Search([]float32{1, 0}, 10, []rank.Scored[int32]{{ID: 99}})).OK(t)
	check.Equal(t, got, []rank.Scored[int32]{{ID: 99}, {ID: 2, Score: 2}, {ID: 0, Score: 1}, {ID: 1}}, "(-want +got)")
	check.Equal(t, x.Vector(2, nil), []float32{2, 0}, "Vector(2)")
	v := x.Vector(3, nil)
	check.True(t, v == nil, "Vector(3) = %v", v)
}

func TestCosine(t *testing.T) {
	x := newIndex(t, Options{Dim: 2, Cosine: true}, fastest())
	check.OK(t, x.Add([]float32{3, 4}, []float32{0, 0}, []float32{-1e-44, 0}, []float32{1e17, 0}))
	got := check.Of(x.Search([]float32{2, 0}, 4, nil)).OK(t)
	check.Equal(t, got, []rank.Scored[int32]{{ID: 3, Score: 1}, {ID: 0, Score: float64(float32(.6))}, {ID: 1, Score: 0}, {ID: 2, Score: -1}}, "(-want +got)")
	got = check.Of(x.Search([]float32{0, 0}, 2, nil)).OK(t)
	check.Equal(t, got, []rank.Scored[int32]{{ID: 0}, {ID: 1}}, "query of zeros")
}

func TestRefusals(t *testing.T) {
	if _, err := New(Options{Workers: -1}); err == nil ||
		!strings.Contains(err.Error(), "Dim is 0") || !strings.Contains(err.Error(), "Workers is -1") {
		t.Errorf("New: %v", err)
	}
	x := newIndex(t, Options{Dim: 2}, fastest())
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	err := x.Add([]float32{1, 2}, []float32{1}, []float32{0, nan}, []float32{inf, 0}, []float32{1e18, 1e18})
	check.Must(t, errors.Is(err, ErrVector), "Add: %v", err)
	for _, want := range []string{"row 1: ", "row 2: ", "component 1 is NaN", "row 3: ", "component 0 is -Inf", "row 4: ", "length 1.41e+18"} {
		check.Contains(t, err.Error(), want, "Add: error lacks %q:\n%v", want, err)
	}
	check.Equal(t, x.Len(), 0, "refused Add left %d rows", x.Len())
	check.Is(t, check.Err(x.Search([]float32{1}, 1, nil)), ErrVector, "Search")
}

// TestConcurrentUse adds and searches at once; the race detector looks on.
func TestConcurrentUse(t *testing.T) {
	x := newIndex(t, Options{Dim: 3, Workers: 2}, fastest())
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				if err := x.Add([]float32{float32(g), float32(i), 1}); err != nil {
					errs <- err
					return
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				got, err := x.Search([]float32{0, 0, 1}, 5, nil)
				if err == nil && !slices.IsSortedFunc(got, func(a, b rank.Scored[int32]) int { return cmp.Compare(a.ID, b.ID) }) {
					err = fmt.Errorf("equal scores out of order: %v", got)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	check.Equal(t, x.Len(), 200, "rows")
}

// TestScores holds all scores against the definition.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, opts := range []Options{{Dim: 3}, {Dim: 40, Cosine: true}} {
		x := newIndex(t, opts, fastest())
		vectors := someVectors(rng, 500, opts.Dim, opts.Dim == 3)
		check.OK(t, x.Add(vectors...))
		for _, q := range append(vectors[:10:10], make([]float32, opts.Dim)) {
			all, err := x.Scores(q, make([]float64, 1000))
			check.Must(t, err == nil && len(all) == x.Len(), "%d scores, %v", len(all), err)
			for _, r := range bruteForce(t, x, q, x.Len()) {
				check.Equal(t, all[r.ID], r.Score, "%+v: row %d", opts, r.ID)
			}
		}
	}
	check.Is(t, check.Err(newIndex(t, Options{Dim: 1}, fastest()).Scores([]float32{1, 2}, nil)), ErrVector, "unusable query")
}

func TestCosineOfTwo(t *testing.T) {
	for _, tt := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 0}, []float32{0, 2}, 0},
		{[]float32{3, 4}, []float32{6, 8}, 1},
		{[]float32{3, 4}, []float32{-3, -4}, -1},
		{[]float32{1, 1}, []float32{1, 0}, math.Sqrt(.5)},
		{[]float32{math.MaxFloat32}, []float32{math.MaxFloat32}, 1}, // squares overflow float32
		{[]float32{0, 0}, []float32{1, 0}, 0},
		{[]float32{1}, []float32{1, 0}, 0},
		{nil, nil, 0},
	} {
		got := Cosine(tt.a, tt.b)
		check.True(t, math.Abs(got-tt.want) <= 1e-15, "cosine of %v and %v is %v, want %v", tt.a, tt.b, got, tt.want)
	}
}
