// SPDX-License-Identifier: Apache-2.0

package triples_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// zipf are triples over names of two or three words, some of them hubs.
func zipf(n int) func(yield func(triples.Triple, error) bool) {
	return func(yield func(triples.Triple, error) bool) {
		r := rand.New(rand.NewPCG(7, 8))
		words, hubs := rand.NewZipf(r, 1.05, 8, 200_000), rand.NewZipf(r, 1.2, 50, uint64(n/5))
		name := func(id uint64) triples.Entity {
			return triples.Entity{ID: fmt.Sprint("Q", id), Label: fmt.Sprintf("n%d w%d", id%100_000, words.Uint64())}
		}
		for range n {
			t := triples.Triple{Head: name(uint64(r.IntN(n/5 + 1))), Relation: same(fmt.Sprint("relation ", hubs.Uint64()%800)), Tail: name(hubs.Uint64())}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	for b.Loop() {
		if err := triples.Build(b.Context(), filepath.Join(b.TempDir(), "index"), zipf(n), triples.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
}

func BenchmarkSearch(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	dir := filepath.Join(b.TempDir(), "index")
	if err := triples.Build(b.Context(), dir, zipf(n), triples.Options{}); err != nil {
		b.Fatal(err)
	}
	ix, err := triples.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ix.Close() })
	var dst []rank.Scored[int32]
	i := int32(0)
	b.ReportAllocs()
	for b.Loop() {
		i = (i*7919 + 1) % int32(ix.Len())
		dst = ix.Search(ix.Triple(i).Text(), 10, dst)
	}
}
