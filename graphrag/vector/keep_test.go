// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

// keptOf is the oracle: all scores, those of rows to keep, in order.
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

// keeps are conditions that keep nothing, all, one row, every seventh, and the half
// above.
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

// A condition is asked about the rows that could be found, not about all.
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

// A search of some rows alone finds what a condition that says the same finds, in one that is long
// enough to be shared by workers too; rows are taken over from another index to the bit.
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
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v, want %v, error %v", got, want, err)
			}
			if got, err = y.Search(q, k, nil); err != nil || len(got) != len(want) {
				t.Fatal(got, err)
			}
			for i := range got {
				if got[i].Score != want[i].Score || ids[got[i].ID] != want[i].ID {
					t.Fatalf("taken over: %v, want %v", got[i], want[i])
				}
			}
		}
	}
	got, err := x.SearchWith(make([]float32, 9), Params{K: 3, IDs: []int32{}}, nil)
	check.True(t, err == nil && len(got) == 0, "of no rows: %v, %v", got, err)
	check.True(t, y.AddFrom(x, 6000) != nil, "a row that is not there was taken over")
}
