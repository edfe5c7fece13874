// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
		records := make([]store.Record, min(batch, rows-from))
		for i := range records {
			records[i] = store.Record{ID: fmt.Sprintf("r%08d", from+i), Text: made.text(150), Vector: made.vector()}
		}
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

// Bench loads generated passages of 150 words and 128 components, and asks for the ten best
// by words and by vectors: a hybrid query, two calls. It reports the passages a second,
// the times of queries, and how many of the true nearest vectors are found.
func Bench(b *testing.B, s store.Store, rows int) {
	start := time.Now()
	_, table := load(b, s, rows)
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
			for _, id := range idsOf(exact[0]) {
				if want++; slices.Contains(idsOf(near[0]), id) {
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
}

// Outage is a test of an engine of several nodes.
type Outage struct {
	Rows int // passages
	// Settle is how long it waits first, for an engine that keeps what was put in memory for a
	// while.
	Settle time.Duration
	// For is how long questions are asked: half as many a second as the whole engine
	// answers. After a sixth of it Kill takes a node away, after half of it Revive brings it
	// back, and returns when it answers; it goes on for a sixth after that.
	For          time.Duration
	Kill, Revive func(t *testing.T)
}

// Test asks questions while a node is away. There must be no wrong answer, no error but
// store.ErrUnavailable, which is tried again, and none at the end; then it must be possible to
// write. The store is not to try again by itself.
func (o Outage) Test(t *testing.T, s store.Store) {
	g, table := load(t, s, o.Rows)
	time.Sleep(o.Settle)
	q := newQuestions(t, table)
	rate := q.sustained(t)
	out := &tally{slowest: map[string]time.Duration{}}
	var wait sync.WaitGroup
	start := time.Now()
	every := time.Duration(float64(2*time.Second) / rate)
	n, phase := 0, "before"
	back := make(chan struct{})
	end := start.Add(4 * o.For)
	for next := start; time.Now().Before(end); next = next.Add(every) {
		time.Sleep(time.Until(next))
		switch past := time.Since(start); {
		case phase == "before" && past > o.For/6:
			phase = "away"
			o.Kill(t)
		case phase == "away" && past > o.For/2:
			phase = "back"
			wait.Go(func() { defer close(back); o.Revive(t) })
		case phase == "back" && past > o.For*5/6:
			select {
			case <-back:
				phase, end = "after", time.Now().Add(o.For/6)
			default:
			}
		}
		i, during := n, phase
		n++
		wait.Go(func() { q.ask(t, i, during, out) })
	}
	wait.Wait()
	t.Logf("%d passages: %.0f questions a second before; asked %.0f a second: %d questions, %d errors, all unavailable and tried again; slowest, with that: %v",
		o.Rows, rate, rate/2, n, out.errors, out.slowest)
	if phase != "after" {
		t.Error("the node did not come back")
	}
	if out.late > 0 {
		t.Errorf("%d errors after the node was back", out.late)
	}
	until := time.Now().Add(o.For)
	err := errors.New("not tried")
	for err != nil && time.Now().Before(until) {
		if err = table.Put(t.Context(), store.Record{ID: "late", Text: "zeppelin"}); err == nil {
			err = g.Flush(t.Context())
		}
		time.Sleep(100 * time.Millisecond)
	}
	hits, errSearch := table.SearchText(t.Context(), store.TextQuery{Text: "zeppelin", K: 3})
	if err != nil || errSearch != nil || !slices.Equal(idsOf(hits[0]), []string{"late"}) {
		t.Errorf("writing when all are back: %v, %v, %v", err, errSearch, hits)
	}
}

// tally is what came of questions.
type tally struct {
	mu           sync.Mutex
	errors, late int
	slowest      map[string]time.Duration
}

// questions are by words and by vectors, with the answers of the whole engine.
type questions struct {
	table   store.Table
	words   []store.TextQuery
	vectors []store.VectorQuery
	want    [][]string
}

func newQuestions(t *testing.T, table store.Table) *questions {
	q := &questions{table: table}
	made := newGenerated(3)
	for range 100 {
		q.words = append(q.words, store.TextQuery{Text: made.text(4), K: 10})
		q.vectors = append(q.vectors, store.VectorQuery{Vector: made.vector(), K: 10, Effort: 1})
	}
	for i := range 100 {
		ids, err := q.answer(t.Context(), i)
		must(t, err)
		q.want = append(q.want, ids)
	}
	return q
}

func (q *questions) answer(ctx context.Context, i int) ([]string, error) {
	i %= len(q.words)
	hits, err := q.table.SearchText(ctx, q.words[i])
	if err != nil {
		return nil, err
	}
	near, err := q.table.SearchVectors(ctx, q.vectors[i])
	if err != nil {
		return nil, err
	}
	return append(idsOf(hits[0]), idsOf(near[0])...), nil
}

// sustained is how many questions a second four who ask get answered.
func (q *questions) sustained(t *testing.T) float64 {
	const long = 5 * time.Second
	var wait sync.WaitGroup
	var n atomic.Int64
	start := time.Now()
	for who := range 4 {
		wait.Go(func() {
			for i := who; time.Since(start) < long; i++ {
				if _, err := q.answer(t.Context(), i); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wait.Wait()
	if n.Load() == 0 {
		t.Fatal("no question was answered")
	}
	return float64(n.Load()) / time.Since(start).Seconds()
}

// ask asks until there is an answer.
func (q *questions) ask(t *testing.T, i int, during string, out *tally) {
	start := time.Now()
	for {
		got, err := q.answer(t.Context(), i)
		out.mu.Lock()
		if err == nil {
			out.slowest[during] = max(out.slowest[during], time.Since(start).Round(time.Millisecond))
			if want := q.want[i%len(q.want)]; !slices.Equal(got, want) {
				t.Errorf("question %d, %s: %v, want %v", i, during, got, want)
			}
			out.mu.Unlock()
			return
		}
		if out.errors++; during == "after" {
			out.late++
		}
		out.mu.Unlock()
		if !errors.Is(err, store.ErrUnavailable) || time.Since(start) > time.Minute {
			t.Errorf("question %d, %s: %v", i, during, err)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
