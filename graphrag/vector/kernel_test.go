// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

func randomVector(rng *rand.Rand, dim int, size float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(size * rng.NormFloat64())
	}
	return v
}

// kernelSets are all kernels that this processor can run: for floats and for codes.
func kernelSets() map[string]kernels {
	codes := portable()
	codes.codesPay = true
	return map[string]kernels{"floats": portable(), "codes": codes, "fastest": fastest()}
}

func TestFloatsWithinErrorBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for dim := laneWidth; dim <= 40*laneWidth; dim += laneWidth * (1 + rng.IntN(5)) {
		n := rowGroup * (1 + rng.IntN(5))
		rows, query := randomVector(rng, n*dim, 1), randomVector(rng, dim, 1)
		out := make([]float32, n)
		dotRows(out, rows, query)
		for i, got := range out {
			row := rows[i*dim : (i+1)*dim]
			want, limits := exactDot(row, query), floatError(dim, norm(row), norm(query))
			check.Must(t, math.Abs(float64(got)-want) <= limits,
				"dim %d: row %d = %v, want %v ± %v", dim, i, got, want, limits)
		}
	}
}

func TestCodeKernelsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, k := range kernelSets() {
		for _, dim := range []int{laneWidth, 2 * laneWidth, 96, 384, 416, 4096, MaxDim} {
			n := 3 * rowGroup
			codes, query := make([]int8, n*dim), new(queryCode)
			for i := range codes {
				codes[i] = int8(rng.IntN(2*maxCode+1) - maxCode)
			}
			v := randomVector(rng, dim, 1)
			if dim == 96 {
				for i := range v { // codes of the largest size, all with one sign
					v[i] = -1
				}
			}
			query.set(v, norm(v))
			// The first two rows reach the largest possible sums.
			for i, q := range query.words {
				codes[i], codes[dim+i] = maxCode, -maxCode
				if q < 0 {
					codes[i], codes[dim+i] = -maxCode, maxCode
				}
			}
			out := make([]int32, n)
			k.dotCodes(out, codes, query)
			for i := range n {
				var want int64
				for j, q := range query.words {
					want += int64(codes[i*dim+j]) * int64(q)
				}
				check.Must(t, int64(out[i]) == want,
					"%s: dim %d: row %d = %d, want %d", name, dim, i, out[i], want)
			}
		}
	}
}

func TestCodeErrorBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, size := range []float64{1e-44, 1e-30, 1, 1e15} {
		for range 50 {
			dim := laneWidth * (1 + rng.IntN(12))
			row, query := randomVector(rng, dim, size), randomVector(rng, dim, 1)
			values := make([]int8, dim)
			b := codeRow(values, row)
			var code queryCode
			length := norm(query)
			code.set(query, length)
			sum := make([]int32, 1)
			for i, q := range code.words {
				sum[0] += int32(q) * int32(values[i])
			}
			got := float64(float32(sum[0]) * (float32(code.step) * b.scale))
			want := exactDot(row, query) / length
			limits := float64(b.rest) + codeError(code.rest, norm(row), float64(b.rest), length)
			check.Must(t, math.Abs(got-want) <= limits,
				"size %g, dim %d: %v, want %v ± %v", size, dim, got, want, limits)
			if size == 1 && limits > .05*norm(row) {
				t.Fatalf("dim %d: bound %v is useless for a row of length %v", dim, limits, norm(row))
			}
		}
	}
}

// An index in a folder gives the results of one in memory, bit for bit, with one slab and with several.
func TestFolder(t *testing.T) {
	for _, o := range []Options{{Dim: 7}, {Dim: 33, Cosine: true}, {Dim: 24, Workers: 3}} {
		for _, n := range []int{0, 1, 5, 2*slabRows + 11} {
			rng := rand.New(rand.NewPCG(uint64(n), 9))
			dir := filepath.Join(t.TempDir(), "index")
			memory := check.Of(New(o)).OK(t)
			w := check.Of(Create(dir, o)).OK(t)
			for range n {
				v := randomVector(rng, o.Dim, 1)
				check.OK(t, errors.Join(memory.Add(v), w.Add(v)))
			}
			check.OK(t, w.Close())
			folder := check.Of(Open(dir, o)).OK(t)
			check.True(t, folder.Len() == n && folder.opts.Dim == o.Dim,
				"%+v: %d rows of %d", o, folder.Len(), folder.opts.Dim)
			var queries [][]float32
			for range 9 {
				queries = append(queries, randomVector(rng, o.Dim, 3))
			}
			for _, q := range queries {
				got, errGot := folder.Search(q, 10, nil)
				want, errWant := memory.Search(q, 10, nil)
				check.Must(t, errGot == nil && errWant == nil && reflect.DeepEqual(got, want),
					"%+v, %d rows: %v, want %v; %v, %v", o, n, got, want, errGot, errWant)
			}
			check.Fails(t, folder.Add(queries[0]), "does not grow", "it grows")
			check.OK(t, folder.Close())
		}
	}
}

func TestBadFolders(t *testing.T) {
	dir := t.TempDir()
	w := check.Of(Create(filepath.Join(dir, "good"), Options{Dim: 2})).OK(t)
	check.Is(t, w.Add([]float32{1, 2}, []float32{1}), ErrVector, "another dimension")
	check.Is(t, w.Add([]float32{1, float32(math.NaN())}), ErrVector, "no number")
	check.OK(t, errors.Join(w.Add([]float32{1, 2}), w.Close()))
	x, err := Open(filepath.Join(dir, "good"), Options{})
	check.True(t, err == nil && x.Len() == 1, "what was unusable left something: %v", err)
	_, err = Create(filepath.Join(dir, "good"), Options{Dim: 2})
	check.Fails(t, err, "already", "over another")
	check.True(t, check.Err(Create(filepath.Join(dir, "none"), Options{})) != nil, "without a dimension")
	half := check.Of(Create(filepath.Join(dir, "half"), Options{Dim: 2})).OK(t)
	check.OK(t, errors.Join(half.Add([]float32{1, 2}), half.Abort()))
	check.Is(t, check.Err(Open(filepath.Join(dir, "half"), Options{})), ErrFolder, "a half folder")
	check.OK(t, os.Truncate(filepath.Join(dir, "good", "small"), 8))
	_, err = Open(filepath.Join(dir, "good"), Options{})
	check.True(t, errors.Is(err, ErrFolder) && strings.Contains(err.Error(), "small"), "a cut folder: %v", err)
}

// keptOf is the oracle: the scores of the rows to keep, sorted.
func keptOf(t *testing.T, x *Index, query []float32, p Params) []rank.Scored[int32] {
	t.Helper()
	scores := check.Of(x.Scores(query, nil)).OK(t)
	all := []rank.Scored[int32]{}
	for i, score := range scores {
		if p.Keep == nil || p.Keep(int32(i)) {
			all = append(all, rank.Scored[int32]{ID: int32(i), Score: score})
		}
	}
	slices.SortFunc(all, rank.Compare)
	return all[:max(0, min(p.K, len(all)))]
}

// keeps are conditions that accept no row, all, one, every seventh, and the half above.
func keeps(n int) []func(int32) bool {
	return []func(int32) bool{
		nil,
		func(int32) bool { return false },
		func(int32) bool { return true },
		func(id int32) bool { return int(id) == n/2 },
		func(id int32) bool { return id%7 == 3 },
		func(id int32) bool { return int(id) >= n/2 },
	}
}

func TestKeep(t *testing.T) {
	for name, kernels := range kernelSets() {
		rng := rand.New(rand.NewPCG(4, 4))
		for _, n := range []int{1, 300, 2*shardRows + 7} {
			for _, opts := range []Options{{Workers: 1}, {Cosine: true, Workers: 3}} {
				opts.Dim = 5 + rng.IntN(30)
				x := newIndex(t, opts, kernels)
				check.OK(t, x.Add(someVectors(rng, n, opts.Dim, n == 300)...))
				queries := append(someVectors(rng, 2, opts.Dim, n == 300), make([]float32, opts.Dim))
				for i, keep := range keeps(n) {
					p := Params{K: rng.IntN(40), Keep: keep}
					for _, q := range queries {
						want := keptOf(t, x, q, p)
						got := check.Of(x.SearchWith(q, p, []rank.Scored[int32]{})).OK(t)
						if diff := gocmp.Diff(want, got); diff != "" {
							t.Fatalf("%s %+v n=%d condition %d k=%d: (-want +got)\n%s", name, opts, n, i, p.K, diff)
						}
					}
				}
			}
		}
	}
}

// A condition is evaluated only for rows that could be among the best.
func TestKeepIsLazy(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	const n = 4 * shardRows
	for _, opts := range []Options{{Dim: 16}, {Dim: 16, Workers: 4}} {
		x := newIndex(t, opts, fastest())
		for range n {
			check.OK(t, x.Add(randomVector(rng, opts.Dim, 1)))
		}
		var asked atomic.Int64
		p := Params{K: 10, Keep: func(id int32) bool { asked.Add(1); return id%2 == 0 }}
		check.OK(t, check.Err(x.SearchWith(randomVector(rng, opts.Dim, 1), p, nil)))
		check.True(t, asked.Load() <= n/10, "%+v: asked about %d rows of %d", opts, asked.Load(), n)
	}
}

// A search of listed rows finds what an equal condition finds, also in an index large enough for several
// workers; rows can be copied from another index, bit for bit.
func TestIDs(t *testing.T) {
	for _, kernels := range kernelSets() {
		idsWith(t, kernels)
	}
}

func idsWith(t *testing.T, kernels kernels) {
	rng := rand.New(rand.NewPCG(8, 9))
	x := newIndex(t, Options{Dim: 9, Cosine: true, Workers: 3}, kernels)
	check.OK(t, x.Add(someVectors(rng, 6000, 9, false)...))
	y := newIndex(t, Options{Dim: 9, Cosine: true}, kernels)
	var ids []int32
	for id := int32(0); id < 6000; id += int32(1 + rng.IntN(3)) {
		ids = append(ids, id)
	}
	check.OK(t, y.AddFrom(x, ids...))
	for _, q := range append(someVectors(rng, 5, 9, false), make([]float32, 9)) {
		for _, k := range []int{0, 1, 30} {
			got, err := x.SearchWith(q, Params{K: k, IDs: ids}, nil)
			want := keptOf(t, x, q, Params{K: k, Keep: func(id int32) bool { return slices.Contains(ids, id) }})
			check.Must(t, err == nil && slices.Equal(got, want), "%v, want %v, error %v", got, want, err)
			if got, err = y.Search(q, k, nil); err != nil || len(got) != len(want) {
				t.Fatal(got, err)
			}
			for i := range got {
				check.Must(t, got[i].Score == want[i].Score && ids[got[i].ID] == want[i].ID,
					"taken over: %v, want %v", got[i], want[i])
			}
		}
	}
	got, err := x.SearchWith(make([]float32, 9), Params{K: 3, IDs: []int32{}}, nil)
	check.True(t, err == nil && len(got) == 0, "of no rows: %v, %v", got, err)
	check.True(t, y.AddFrom(x, 6000) != nil, "a row that is not there was taken over")
}

// bruteForce scores every stored row by the definition, and checks the scores against plain sums within the
// precision of float64.
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

// someVectors has vectors of small integers, so that equal scores are frequent, or of very different lengths.
// Some are repeated and some are zero.
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

// TestSearchIsExact compares ids and order with brute force, and scores bit for bit, for every dimension to 70,
// all kernels and all options.
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

// TestConcurrentUse adds and searches concurrently, for the race detector.
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

// TestScores compares all scores with the definition.
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
		{[]float32{math.MaxFloat32}, []float32{math.MaxFloat32}, 1}, // the square overflows a float32
		{[]float32{0, 0}, []float32{1, 0}, 0},
		{[]float32{1}, []float32{1, 0}, 0},
		{nil, nil, 0},
	} {
		got := Cosine(tt.a, tt.b)
		check.True(t, math.Abs(got-tt.want) <= 1e-15, "cosine of %v and %v is %v, want %v", tt.a, tt.b, got, tt.want)
	}
}
