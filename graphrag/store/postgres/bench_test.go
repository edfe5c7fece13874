// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
)

const benchDim = 128

// generated are records with words by Zipf's law and vectors around some centers.
type generated struct {
	r       *rand.Rand
	zipf    *rand.Zipf
	centers [][]float32
}

func newGenerated(seed uint64) *generated {
	r := rand.New(rand.NewPCG(7, 7))
	g := &generated{centers: make([][]float32, 200)}
	for i := range g.centers {
		g.centers[i] = make([]float32, benchDim)
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

// BenchmarkEngines loads WILDGRAPH_ROWS records (20,000) into each engine, and asks for
// the ten best by words and by vectors: a hybrid query, two calls.
func BenchmarkEngines(b *testing.B) {
	rows := 20_000
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_ROWS")); err == nil {
		rows = n
	}
	for _, engine := range []struct {
		name string
		open func(b *testing.B) store.Store
	}{
		{"disk", func(b *testing.B) store.Store {
			s, err := disk.Open(b.TempDir(), disk.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return s
		}},
		{"postgres", func(b *testing.B) store.Store { return open(b, postgres.Options{}) }},
		{"postgres-hnsw", func(b *testing.B) store.Store { return open(b, postgres.Options{HNSW: &postgres.HNSW{EfSearch: 100}}) }},
	} {
		b.Run(engine.name, func(b *testing.B) {
			s := engine.open(b)
			defer s.Close()
			start := time.Now()
			table := load(b, s, rows)
			rate := float64(rows) / time.Since(start).Seconds()
			g := newGenerated(2)
			var took []time.Duration
			found, want := 0, 0
			b.ResetTimer()
			for b.Loop() {
				text, v := g.text(6), g.vector()
				start := time.Now()
				if _, err := table.SearchText(b.Context(), store.TextQuery{Text: text, K: 10}); err != nil {
					b.Fatal(err)
				}
				near, err := table.SearchVectors(b.Context(), store.VectorQuery{Vector: v, K: 10})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
				if len(took)%20 == 1 {
					b.StopTimer()
					exact, err := table.SearchVectors(b.Context(), store.VectorQuery{Vector: v, K: 10, Effort: 1})
					if err != nil {
						b.Fatal(err)
					}
					for _, id := range ids(exact[0]) {
						if want++; slices.Contains(ids(near[0]), id) {
							found++
						}
					}
					b.StartTimer()
				}
			}
			slices.Sort(took)
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(rate, "rows/s")
			b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
			b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
			b.ReportMetric(float64(found)/float64(max(want, 1)), "recall@10")
		})
	}
}

func load(b *testing.B, s store.Store, rows int) store.Table {
	c, err := s.Create(b.Context(), "corpus", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: benchDim}}})
	if err != nil {
		b.Fatal(err)
	}
	gen, err := c.Write(b.Context(), "first")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = gen.Close() })
	table, err := gen.Table("chunks")
	if err != nil {
		b.Fatal(err)
	}
	g := newGenerated(1)
	const batch = 1000
	for from := 0; from < rows; from += batch {
		records := make([]store.Record, min(batch, rows-from))
		for i := range records {
			records[i] = store.Record{ID: fmt.Sprintf("r%08d", from+i), Text: g.text(150), Vector: g.vector()}
		}
		if err := table.Put(b.Context(), records...); err != nil {
			b.Fatal(err)
		}
	}
	if err := gen.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	return table
}
