// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

const loadDim = 128

// generated are passages with words by Zipf's law and vectors around some centers.
type generated struct {
	r       *rand.Rand
	zipf    *rand.Zipf
	centers [][]float32
}

func newGenerated(seed uint64) *generated {
	r := rand.New(rand.NewPCG(7, 7))
	g := &generated{centers: make([][]float32, 200)}
	for i := range g.centers {
		g.centers[i] = make([]float32, loadDim)
		for j := range g.centers[i] {
			g.centers[i][j] = float32(r.NormFloat64())
		}
	}
	g.r = rand.New(rand.NewPCG(seed, 1))
	g.zipf = rand.NewZipf(g.r, 1.1, 20, 200_000)
	return g
}

func (g *generated) text(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", g.zipf.Uint64())
	}
	return strings.Join(words, " ")
}

func (g *generated) vector() []float32 {
	v := slices.Clone(g.centers[g.r.IntN(len(g.centers))])
	for j := range v {
		v[j] += float32(g.r.NormFloat64()) / 2
	}
	return v
}

// passages are n records, the first of which has the number from.
func passages(g *generated, from, n int) []store.Record {
	records := make([]store.Record, n)
	for i := range records {
		records[i] = store.Record{ID: fmt.Sprintf("r%08d", from+i), Text: g.text(150), Vector: g.vector()}
	}
	return records
}

// load puts generated passages into a collection.
func load(t testing.TB, s store.Store, rows int) (store.Generation, store.Table) {
	c, err := s.Create(t.Context(), "load", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: loadDim}}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Write(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	table, err := g.Table("chunks")
	if err != nil {
		t.Fatal(err)
	}
	made := newGenerated(1)
	const batch = 1000
	for from := 0; from < rows; from += batch {
		records := passages(made, from, min(batch, rows-from))
		err := table.Put(t.Context(), records...)
		for n := 0; errors.Is(err, store.ErrUnavailable) && n < 30; n++ { // it may not try again itself
			time.Sleep(time.Second)
			err = table.Put(t.Context(), records...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g, table
}

// Queries that come first are not measured, so many or so long: servers compile, and fill
// caches.
const (
	warm     = 400
	warmTime = 20 * time.Second
)

// Bench loads generated passages of 150 words and 128 components, and asks for the ten best
// by words and by vectors: a hybrid query, two calls. It reports the passages a second,
// the times of hybrid queries and of the search by words in them, and how many of the true
// nearest vectors are found.
func Bench(b *testing.B, s store.Store, rows int) {
	start := time.Now()
	_, table := load(b, s, rows)
	rate := float64(rows) / time.Since(start).Seconds()
	ask := func(text string, v []float32) (near []store.Hit, words, both time.Duration) {
		start := time.Now()
		if _, err := table.SearchText(b.Context(), store.TextQuery{Text: text, K: 10}); err != nil {
			b.Fatal(err)
		}
		words = time.Since(start)
		hits, err := table.SearchVectors(b.Context(), store.VectorQuery{Vector: v, K: 10})
		if err != nil {
			b.Fatal(err)
		}
		return hits[0], words, time.Since(start)
	}
	g := newGenerated(4)
	begun := time.Now()
	for n := 0; n < warm && time.Since(begun) < warmTime; n++ {
		ask(g.text(6), g.vector())
	}
	g = newGenerated(2)
	var words, took []time.Duration
	found, want := 0, 0
	b.ResetTimer()
	for b.Loop() {
		text, v := g.text(6), g.vector()
		near, byWords, both := ask(text, v)
		words, took = append(words, byWords), append(took, both)
		if len(took)%20 == 1 {
			b.StopTimer()
			exact, err := table.SearchVectors(b.Context(), store.VectorQuery{Vector: v, K: 10, Effort: 1})
			if err != nil {
				b.Fatal(err)
			}
			for _, id := range idsOf(exact[0]) {
				if want++; slices.Contains(idsOf(near), id) {
					found++
				}
			}
			b.StartTimer()
		}
	}
	b.ReportMetric(rate, "rows/s")
	for name, times := range map[string][]time.Duration{"": took, "-words": words} {
		slices.Sort(times)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		b.ReportMetric(ms(times[len(times)/2]), "p50"+name+"-ms")
		b.ReportMetric(ms(times[len(times)*99/100]), "p99"+name+"-ms")
	}
	b.ReportMetric(float64(found)/float64(max(want, 1)), "recall@10")
}
