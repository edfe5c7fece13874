// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

// topical returns vectors around centers, and fifty more as queries.
func topical(rng *rand.Rand, n, dim int) (rows, queries [][]float32) {
	centers := make([][]float32, 60)
	for i := range centers {
		centers[i] = randomVector(rng, dim, 1)
	}
	for range n + 50 {
		v := randomVector(rng, dim, .6)
		for j, c := range centers[rng.IntN(len(centers))] {
			v[j] += c
		}
		rows = append(rows, v)
	}
	return rows[:n], rows[n:]
}

// inFolder returns an index of rows in a new folder.
func inFolder(t testing.TB, o Options, rows [][]float32) (x *Index, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "index")
	w := check.Of(Create(dir, o)).OK(t)
	check.OK(t, errors.Join(w.Add(rows...), w.Close()))
	x = check.Of(Open(dir, o)).OK(t)
	t.Cleanup(func() { _ = x.Close() })
	return x, dir
}

// The transform keeps angles and, up to a factor, is its own inverse, for an even and an odd number of steps.
func TestRotation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, dim := range []int{4, 12, 64, 100, 128, 320, 384} {
		r := newRotation(dim)
		check.Must(t, r.width >= dim && r.width <= dim+63 && r.width%64 == 0 && r.width%r.block == 0 &&
			r.block&(r.block-1) == 0, "%d components take %d", dim, r.width)
		a, b := randomVector(rng, dim, 1), randomVector(rng, dim, 1)
		x, y := make([]float32, r.width), make([]float32, r.width)
		r.apply(x, a)
		r.apply(y, b)
		scale := float64(r.block * r.block)
		want, got := exactDot(a, b), exactDot(x, y)/scale
		check.True(t, math.Abs(got-want) <= 1e-4*norm(a)*norm(b), "%d components: product %v, want %v", dim, got, want)
		if r.block < r.width {
			continue
		}
		for i := range x {
			want := float32(0) // a row of the matrix by its definition
			for j, v := range a {
				sign := 1 - 2*float32(popcount(i&j)&1)
				want += sign * r.flips[0][j] * v
			}
			y[i] = want
		}
		one := rotation{r.width, r.block, [2][]float32{r.flips[0], ones(r.width)}}
		one.apply(x, a)
		hadamard(x) // a second transform gives the vector times the width
		for i := range y {
			if got := float64(x[i]) / float64(r.width); math.Abs(got-float64(y[i])) > 1e-4*norm(y) {
				t.Fatalf("%d components: transform at %d is %v, want %v", dim, i, got, y[i])
			}
		}
	}
}

func popcount(n int) (bits int) {
	for ; n > 0; n &= n - 1 {
		bits++
	}
	return bits
}

func ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

func TestDifferRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for words := 1; words < 20; words += 1 + rng.IntN(4) {
		n := signGroup * (1 + rng.IntN(5))
		rows, planes := make([]uint64, n*words), make([]uint64, signPlanes*words)
		for i := range rows {
			rows[i] = rng.Uint64()
		}
		for i := range planes {
			planes[i] = rng.Uint64()
		}
		out := make([]int32, n)
		differRows(out, rows, planes)
		for i, got := range out {
			want := 0 // computed bit by bit
			for bit := range 64 * words {
				at := func(word uint64) int { return int(word >> (bit % 64) & 1) }
				row := at(rows[(i/signGroup*words+bit/64)*signGroup+i%signGroup])
				plane := planes[bit/64*signPlanes:]
				if row != at(plane[0]) {
					want += 1 + 2*at(plane[1]) + 4*at(plane[2])
				}
			}
			check.Must(t, int(got) == want, "%d words: row %d differs by %d, want %d", words, i, got, want)
		}
	}
}

// Estimates are right on average, except for the small factor by which the quantizer lowers all scores, and
// their deviation is the paper's: about sqrt((1-c²)/c²)/sqrt(width-1) of the lengths, c = sqrt(2/pi), plus a
// little for the rounding of the query.
func TestEstimates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	const dim = 384
	turn := newRotation(dim)
	turned, group, planes := make([]float32, turn.width), make([]uint64, signGroup*turn.words()), make([]uint64, signPlanes*turn.words())
	var off []float64
	for range 500 {
		row, query := randomVector(rng, dim, 3), randomVector(rng, dim, 1)
		for j := range row { // near the query
			row[j] += query[j]
		}
		unit := turn.signRow(group, 3, row, turned)
		most := turn.signQuery(planes, query, turned)
		step := signStep / 2 * norm(turned) / math.Sqrt(float64(turn.width)) / float64(turn.block)
		sums := make([]int32, signGroup)
		differRows(sums, group, planes)
		estimate := float64(unit) * float64(most-2*sums[3]) * step
		off = append(off, (estimate-exactDot(row, query))/norm(row)/norm(query))
	}
	mean, deviation := stat.MeanStdDev(off, nil)
	c2 := 2 / math.Pi
	want := math.Sqrt((1-c2)/c2) / math.Sqrt(float64(turn.width-1))
	check.True(t, math.Abs(mean) <= .015 && deviation <= 1.2*want && deviation >= .9*want,
		"estimates are off by %.4f in the mean, deviation %.4f; want 0 and about %.4f", mean, deviation, want)
}

// Keys have the order of the scores, and give the lowest score that has them.
func TestOrder(t *testing.T) {
	inf := float32(math.Inf(1))
	sorted := []float32{-inf, -3e30, -2, -1, -1e-40, 0, 1e-38, .5, .51, 1, 7e20, inf}
	for i, f := range sorted[1:] {
		check.True(t, order(sorted[i]) < order(f), "%v comes before %v", f, sorted[i])
	}
	for _, f := range sorted[1:] {
		least := unordered(order(f))
		if below := math.Nextafter32(least, -inf); least > f || order(least) != order(f) || order(below) >= order(f) {
			t.Errorf("%v: the least number of its key is %v, and %v is below", f, least, below)
		}
	}
}

// A share finds nearly all of the best rows, and the result has the same bits with any kernel, number of
// workers and place of the index.
func TestShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var rows, queries [][]float32
	for range 2*shardRows + 77 {
		rows, queries = append(rows, randomVector(rng, 48, 1)), append(queries, randomVector(rng, 48, 1))
	}
	queries = queries[:50]
	for _, o := range []Options{{Cosine: true}, {}} {
		o.Dim, o.Signs, o.Workers = 48, true, 1
		x, dir := inFolder(t, o, rows)
		check.Must(t, x.Len() == len(rows), "%+v: %d rows", o, x.Len())
		p := Params{K: 10, Share: .01}
		wanted := x.reads(p)
		check.Must(t, wanted <= len(rows)/4, "%d rows are read", wanted)
		found := 0
		var first [][]rank.Scored[int32]
		for _, q := range queries {
			want := keptOf(t, x, q, p)
			for _, all := range []Params{{K: 10}, {K: 10, Share: 1}, {K: len(rows) / manyTimes, Share: .01}} {
				exact, err := x.SearchWith(q, all, nil)
				diff := gocmp.Diff(want, exact[:10])
				check.Must(t, err == nil && diff == "", "%+v %+v: %v (-want +got)\n%s", o, all, err, diff)
			}
			got, err := x.SearchWith(q, p, nil)
			check.Must(t, err == nil && len(got) == 10, "%+v: %v, %v", o, got, err)
			for _, hit := range got {
				if hit.Score >= want[9].Score {
					found++
				}
			}
			first = append(first, got)
		}
		recall := float64(found) / float64(10*len(queries))
		check.True(t, recall >= .99, "%+v: recall@10 is %.3f", o, recall)
		memory, err := New(o)
		check.OK(t, err)
		check.OK(t, memory.Add(rows...))
		for i, q := range queries {
			got, err := memory.SearchWith(q, p, nil)
			diff := gocmp.Diff(first[i], got)
			check.Must(t, err == nil && diff == "", "%+v: %v (-folder +memory)\n%s", o, err, diff)
		}
		other := check.Of(Open(dir, Options{Workers: 4})).OK(t)
		for name, kernels := range kernelSets() {
			other.kernels = kernels
			for i, q := range queries {
				got, err := other.SearchWith(q, p, nil)
				if diff := gocmp.Diff(first[i], got); err != nil || diff != "" {
					t.Fatalf("%+v %s: with 4 workers: %v (-1 +4)\n%s", o, name, err, diff)
				}
			}
		}
		err = other.Close()
		check.OK(t, err)
	}
}

// With a condition the share is a share of the accepted rows: as many are read.
func TestKeepWithShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, queries := topical(rng, 9000, 24)
	rows[7], rows[8999] = make([]float32, 24), make([]float32, 24)
	x, _ := inFolder(t, Options{Dim: 24, Signs: true}, rows)
	queries = append(queries[:6], make([]float32, 24))
	conditions := append(keeps(len(rows)), func(id int32) bool { return id%200 == 7 }) // accepts 45 rows, which are all read
	for i, keep := range conditions {
		for _, k := range []int{0, 10, 50, math.MaxInt} {
			p := Params{K: k, Keep: keep, Share: .12}
			found, wanted := 0, 0
			for _, q := range queries {
				want := keptOf(t, x, q, p)
				got, err := x.SearchWith(q, p, []rank.Scored[int32]{})
				check.Must(t, err == nil && len(got) == len(want),
					"condition %d, k=%d: %d rows, want %d; %v", i, k, len(got), len(want), err)
				for n, hit := range got {
					check.True(t, keep == nil || keep(hit.ID),
						"condition %d: row %d is not to be kept", i, hit.ID)
					if hit.Score >= want[len(want)-1].Score {
						found++
					}
					wanted++
					check.True(t, n <= 0 || rank.Compare(got[n-1], hit) < 0, "condition %d: not in order", i)
				}
			}
			few := i == len(conditions)-1 || i == 3
			if recall := float64(found) / float64(wanted); wanted > 0 && (recall < .95 || few && recall < 1) {
				t.Errorf("condition %d, k=%d: recall %.3f", i, k, recall)
			}
		}
	}
}

func TestShareAllocatesNothing(t *testing.T) {
	rows, queries := topical(rand.New(rand.NewPCG(3, 8)), 3000, 8)
	x, _ := inFolder(t, Options{Dim: 8, Signs: true, Workers: 1}, rows)
	var dst []rank.Scored[int32]
	least := math.Inf(1)
	for range 20 { // repeats, since a pool may be emptied at any time
		least = min(least, testing.AllocsPerRun(1, func() { dst, _ = x.SearchWith(queries[0], Params{K: 5, Share: .1}, dst[:0]) }))
	}
	check.Equal(t, least, 0, "a query allocates %v times", least)
}

// Few rows, equal rows, rows of zeros, rows of extreme length, and no rows.
func TestSignsOfLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{0, 1, 8, 2500} {
		for _, equal := range []bool{false, true} {
			rows := someVectors(rng, n, 5, true)
			for i := range rows {
				switch {
				case equal:
					rows[i] = rows[0]
				case i%2 == 0:
					scale(rows[i], norm(rows[i])*1e-17)
				}
			}
			x, _ := inFolder(t, Options{Dim: 5, Signs: true}, rows)
			for _, q := range someVectors(rng, 9, 5, true) {
				want := keptOf(t, x, q, Params{K: 3})
				got, err := x.SearchWith(q, Params{K: 3, Share: .01}, []rank.Scored[int32]{})
				check.Must(t, err == nil && len(got) == len(want),
					"%d rows: %v, want %v; %v", n, got, want, err)
				if diff := gocmp.Diff(want, got); (n < fewRows || equal) && diff != "" {
					t.Errorf("%d rows, equal %v: (-want +got)\n%s", n, equal, diff)
				}
			}
		}
	}
}

// An index whose writing was killed is refused, and so are sign files that do not match, and files of versions
// without them.
func TestBadSigns(t *testing.T) {
	rows, _ := topical(rand.New(rand.NewPCG(3, 7)), 500, 8)
	dir := filepath.Join(t.TempDir(), "killed")
	check.OK(t, check.Of(Create(dir, Options{Dim: 8, Signs: true})).OK(t).Add(rows...))
	check.Is(t, check.Err(Open(dir, Options{})), ErrFolder, "not finished")
	for old, damaged := range map[string]string{
		`"version": 5`:          `"version": 4`,
		"      \"bytes\": 2016": "      \"bytes\": 2012",
		`"bytes": 4032`:         `"bytes": 4024`,
	} {
		_, dir := inFolder(t, Options{Dim: 8, Signs: true}, rows)
		path := filepath.Join(dir, "manifest.json")
		data, err := os.ReadFile(path)
		check.OK(t, err)
		changed := strings.Replace(string(data), old, damaged, 1)
		err = os.WriteFile(path, []byte(changed), 0o600)
		check.Must(t, err == nil && changed != string(data), "%v: %s is not in\n%s", err, old, data)
		check.Is(t, check.Err(Open(dir, Options{})), ErrFolder, "%s", damaged)
	}
}
