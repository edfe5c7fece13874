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

// vector is one around a center, of the number.
func (g *generated) vector() ([]float32, int) {
	center := g.r.IntN(len(g.centers))
	v := slices.Clone(g.centers[center])
	for j := range v {
		v[j] += float32(g.r.NormFloat64()) / 2
	}
	return v, center
}

// load puts generated passages into a table.
func load(b *testing.B, s store.Store, rows int) store.Table {
	fields := map[string]store.Kind{"n": store.Number, "center": store.Number}
	c, err := s.Create(b.Context(), "load", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: benchDim, Fields: fields}}})
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
			v, center := made.vector()
			records[i] = store.Record{ID: fmt.Sprintf("r%08d", from+i), Text: made.text(150), Vector: v, Fields: store.Fields{"n": (from + i) % 1000, "center": center}}
		}
		must(b, table.Put(b.Context(), records...))
	}
	must(b, g.Flush(b.Context()))
	return table
}

// conditions are met by a share of the passages: at random, or by those of some centers, so that
// most vectors that are asked for have none of their own nearest among them.
var conditions = []struct {
	name  string
	where store.Filter
}{
	{"all", store.Filter{}},
	{"half", store.Range("n", 0, 499)},
	{"tenth", store.Range("n", 0, 99)},
	{"hundredth", store.Range("n", 0, 9)},
	{"thousandth", store.Equal("n", 7)},
	{"tenth-of-centers", store.Range("center", 0, 19)},
	{"hundredth-of-centers", store.Range("center", 0, 1)},
	{"thousandth-of-centers", store.And(store.Equal("center", 3), store.Range("n", 0, 199))},
}

// Bench loads passages of 150 words with vectors of 128 components, and asks each question under
// one condition after the other, each in turn the first, since it warms the caches of the others: the
// ten best by words, then by vectors. It reports the passages loaded per second, and, under each of
// the conditions, the median of queries of either kind, the time that the first one takes more, and how
// many of the ten nearest vectors are found.
func Bench(b *testing.B, s store.Store, rows int) {
	start := time.Now()
	table := load(b, s, rows)
	rate := float64(rows) / time.Since(start).Seconds()
	words, vectors := make([][]time.Duration, len(conditions)), make([][]time.Duration, len(conditions))
	ask := func(g *generated) {
		text := g.text(6)
		v, _ := g.vector()
		turn := len(words[0])
		for j := range conditions {
			i := (j + turn) % len(conditions)
			c := conditions[i]
			start := time.Now()
			_, err := table.SearchText(b.Context(), store.TextQuery{Text: text, K: 10, Where: c.where})
			must(b, err)
			words[i] = append(words[i], time.Since(start))
			start = time.Now()
			_, err = table.SearchVectors(b.Context(), store.VectorQuery{Vector: v, K: 10, Where: c.where})
			must(b, err)
			vectors[i] = append(vectors[i], time.Since(start))
		}
	}
	// Servers compile and fill caches: 400 questions, or twenty seconds, are not measured.
	g := newGenerated(4)
	for begun := time.Now(); len(words[0]) < 400 && time.Since(begun) < 20*time.Second; {
		ask(g)
	}
	first := make([]time.Duration, len(conditions))
	for i := range conditions {
		first[i] = words[i][0] + vectors[i][0]
		words[i], vectors[i] = nil, nil
	}
	g = newGenerated(2)
	for b.Loop() {
		ask(g)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	median := func(took []time.Duration) float64 {
		slices.Sort(took)
		return ms(took[len(took)/2])
	}
	b.ReportMetric(rate, "rows/s")
	for i, c := range conditions {
		byWords, byVectors := median(words[i]), median(vectors[i])
		b.ReportMetric(byWords, c.name+"-words-ms")
		b.ReportMetric(byVectors, c.name+"-vectors-ms")
		b.ReportMetric(ms(first[i])-byWords-byVectors, c.name+"-first-ms")
		b.ReportMetric(ofTen(b, table, c.where), c.name+"-of-ten")
	}
}

// ofTen is how many of the ten vectors that are nearest under a condition are found, in the mean.
func ofTen(b *testing.B, table store.Table, where store.Filter) float64 {
	const queries = 50
	g, found := newGenerated(3), 0
	for range queries {
		v, _ := g.vector()
		q := store.VectorQuery{Vector: v, K: 10, Where: where}
		some, err := table.SearchVectors(b.Context(), q)
		must(b, err)
		q.Effort = 1
		best, err := table.SearchVectors(b.Context(), q)
		must(b, err)
		for _, h := range best[0] {
			if slices.ContainsFunc(some[0], func(o store.Hit) bool { return o.ID == h.ID }) {
				found++
			}
		}
	}
	return float64(found) / queries
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
	goesOn(t, second, building, records)
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

// goesOn puts the records within two minutes after there is room again.
func goesOn(t *testing.T, g store.Generation, table store.Table, records []store.Record) {
	t.Helper()
	begun, err := time.Now(), errors.New("not tried")
	for err != nil && time.Since(begun) < 2*time.Minute {
		if err = table.Put(t.Context(), records...); err == nil {
			err = g.Flush(t.Context())
		}
		if err != nil {
			wants(t, "put when there is room", err, store.ErrUnavailable)
			time.Sleep(time.Second)
		}
	}
	must(t, err)
	t.Logf("it goes on %v after there is room", time.Since(begun).Round(time.Millisecond))
}
