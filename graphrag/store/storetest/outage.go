// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Outage is a test of an engine of several nodes.
type Outage struct {
	Rows int // passages
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
	t.Logf("%d passages: %.0f questions a second before; asked %.0f a second: %d questions, %d wrong by words, %d by vectors, %d errors, all unavailable and tried again; slowest, with that: %v",
		o.Rows, rate, rate/2, n, out.wrongWords, out.wrongVectors, out.errors, out.slowest)
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
	mu                       sync.Mutex
	errors, late             int
	wrongWords, wrongVectors int
	slowest                  map[string]time.Duration
}

// check compares an answer with that of the whole engine, and shows the first that differ.
func (o *tally) check(t *testing.T, i int, during string, got, want found) {
	for _, x := range []struct {
		by        string
		got, want []string
		wrong     *int
	}{{"words", got.words, want.words, &o.wrongWords}, {"vectors", got.vectors, want.vectors, &o.wrongVectors}} {
		if slices.Equal(x.got, x.want) {
			continue
		}
		if *x.wrong++; *x.wrong > 5 {
			t.Fail()
			continue
		}
		t.Errorf("question %d, %s, by %s: %v, want %v", i, during, x.by, x.got, x.want)
	}
}

// questions are by words and by vectors, with the answers of the whole engine.
type questions struct {
	table   store.Table
	words   []store.TextQuery
	vectors []store.VectorQuery
	want    []found
}

// found is the answer to a question: the ids of the ten best by words, and by vectors.
type found struct{ words, vectors []string }

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

func (q *questions) answer(ctx context.Context, i int) (found, error) {
	i %= len(q.words)
	hits, err := q.table.SearchText(ctx, q.words[i])
	if err != nil {
		return found{}, err
	}
	near, err := q.table.SearchVectors(ctx, q.vectors[i])
	if err != nil {
		return found{}, err
	}
	return found{idsOf(hits[0]), idsOf(near[0])}, nil
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
			out.check(t, i, during, got, q.want[i%len(q.want)])
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
