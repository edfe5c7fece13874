// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

const benchDim = 128

// generated makes texts with words by Zipf's law, and vectors around 200 centers.
type generated struct {
	r       *rand.Rand
	zipf    *rand.Zipf
	centers [][]float32
}

func newGenerated(seed uint64) *generated {
	g := &generated{r: rand.New(rand.NewPCG(7, 7)), centers: make([][]float32, 200)}
	for i := range g.centers {
		g.centers[i] = make([]float32, benchDim)
		for j := range g.centers[i] {
			g.centers[i][j] = float32(g.r.NormFloat64())
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

// load puts generated passages into a table.
func load(b *testing.B, s store.Store, rows int) store.Table {
	c, err := s.Create(b.Context(), "load", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: benchDim}}})
	must(b, err)
	g, err := c.Write(b.Context(), "first")
	must(b, err)
	b.Cleanup(func() { _ = g.Close() })
	table, err := g.Table("chunks")
	must(b, err)
	made := newGenerated(1)
	for from := 0; from < rows; from += 1000 {
		records := make([]store.Record, min(1000, rows-from))
		for i := range records {
			records[i] = store.Record{ID: fmt.Sprintf("r%08d", from+i), Text: made.text(150), Vector: made.vector()}
		}
		must(b, table.Put(b.Context(), records...))
	}
	must(b, g.Flush(b.Context()))
	return table
}

// Bench loads passages of 150 words with vectors of 128 components, and asks hybrid
// queries: the ten best by words, then by vectors. It reports the passages loaded per
// second, and percentiles of the queries.
func Bench(b *testing.B, s store.Store, rows int) {
	start := time.Now()
	table := load(b, s, rows)
	rate := float64(rows) / time.Since(start).Seconds()
	var took []time.Duration
	ask := func(g *generated) {
		text, v := g.text(6), g.vector()
		start := time.Now()
		_, err := table.SearchText(b.Context(), store.TextQuery{Text: text, K: 10})
		must(b, err)
		_, err = table.SearchVectors(b.Context(), store.VectorQuery{Vector: v, K: 10})
		must(b, err)
		took = append(took, time.Since(start))
	}
	// Servers compile and fill caches: 400 queries, or 20 seconds, are not measured.
	g := newGenerated(4)
	for begun := time.Now(); len(took) < 400 && time.Since(begun) < 20*time.Second; {
		ask(g)
	}
	g, took = newGenerated(2), nil
	for b.Loop() {
		ask(g)
	}
	slices.Sort(took)
	b.ReportMetric(rate, "rows/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// Program runs the shell script named by an environment variable, which does something to a
// server. The test is skipped if it names none.
func Program(t *testing.T, variable string) func(t *testing.T) {
	program := os.Getenv(variable)
	if program == "" {
		t.Skip(variable + " names no program")
	}
	return func(t *testing.T) {
		if out, err := exec.Command("sh", program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", variable, err, out)
		}
	}
}

// Full tests a server whose disk is full for a while: fill takes the room, and free gives
// it back. Puts fail with store.ErrUnavailable, the published generation stays as it was, and
// when there is room the build goes on.
func Full(t *testing.T, s store.Store, fill, free func(t *testing.T)) {
	ctx := t.Context()
	x := &suite{s: s}
	c, g, table := x.generation(t)
	old := sample(18, 200)
	put(t, g, table, old...)
	must(t, c.Publish(ctx, "first", ""))
	q := store.TextQuery{Text: "lighthouse expedition river", K: 10}
	want, err := table.SearchText(ctx, q)
	must(t, err)

	second, err := c.Write(ctx, "second")
	must(t, err)
	defer second.Close()
	building, err := second.Table("chunks")
	must(t, err)
	records := sample(19, 3000)
	put(t, second, building, records[:100]...)
	fill(t)
	for begun := time.Now(); err == nil && time.Since(begun) < time.Minute; {
		err = building.Put(ctx, records[100:]...)
	}
	wants(t, "put when the disk is full", err, store.ErrUnavailable)

	err = c.Publish(ctx, "second", "first")
	now := "second"
	if err != nil {
		now = "first"
		wants(t, "publish when the disk is full", err, store.ErrUnavailable)
	}
	got, err := table.SearchText(ctx, q)
	if err != nil {
		wants(t, "search when the disk is full", err, store.ErrUnavailable)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("when the disk is full (-want +got):\n%s", diff)
	}

	free(t)
	begun, err := time.Now(), errors.New("not tried")
	for err != nil && time.Since(begun) < 2*time.Minute {
		if err = building.Put(ctx, records...); err == nil {
			err = second.Flush(ctx)
		}
		if err != nil {
			wants(t, "put when there is room", err, store.ErrUnavailable)
			time.Sleep(time.Second)
		}
	}
	must(t, err)
	t.Logf("it goes on %v after there is room", time.Since(begun).Round(time.Millisecond))
	_, published, err := c.Generations(ctx)
	must(t, err)
	if published != now {
		t.Errorf("%q is published, want %q", published, now)
	}
	if published == "first" {
		must(t, c.Publish(ctx, "second", "first"))
	}
	same(t, "what was published before", all(t, table, ""), old)
	same(t, "what was built", all(t, building, ""), records)
}
