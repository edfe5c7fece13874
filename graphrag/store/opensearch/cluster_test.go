// SPDX-License-Identifier: Apache-2.0

package opensearch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/internal/check"
)

// These tests need a cluster: .ci/engines starts one and sets the environment variables.

// nodes returns the addresses of the cluster's nodes.
func nodes(t testing.TB) []string {
	list := os.Getenv("WILDGRAPH_OPENSEARCH")
	if list == "" {
		t.Skip("WILDGRAPH_OPENSEARCH names no nodes")
	}
	return strings.Split(list, ",")
}

// spread returns the settings of indexes for several nodes.
func spread(t testing.TB) (o opensearch.Options) {
	if len(nodes(t)) > 1 {
		o.Shards, o.Replicas = 3, 1
	}
	return o
}

var (
	stores  atomic.Int64
	options sync.Map // options by store
)

func open(t testing.TB, o opensearch.Options) store.Store {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = fmt.Sprintf("wgtest%d-%d", os.Getpid(), stores.Add(1))
	}
	s := check.Of(opensearch.Open(t.Context(), nodes(t), o)).OK(t)
	options.Store(s, o)
	t.Cleanup(func() { clear(t, o) })
	return s
}

// clear deletes the collections of a store.
func clear(t testing.TB, o opensearch.Options) {
	ctx := context.Background()
	s, err := opensearch.Open(ctx, nodes(t), o)
	if err != nil {
		t.Error(err)
		return
	}
	names, err := s.Collections(ctx)
	for _, name := range names {
		err = errors.Join(err, s.Drop(ctx, name))
	}
	err = errors.Join(err, s.Close())
	check.OK(t, err)
}

func TestStore(t *testing.T) {
	graphragtest.Store(t, graphragtest.StoreFactory{
		New: func(t *testing.T) store.Store { return open(t, spread(t)) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			o, _ := options.Load(s)
			return open(t, o.(opensearch.Options))
		},
	})
}

// Systems retrieve here the same as in memory. Many vectors of the sample are equally far from a question, so
// EfSearch is large enough to compare all of them.
func TestSystems(t *testing.T) {
	o := spread(t)
	o.EfSearch = 5000
	s := open(t, o)
	defer s.Close()
	for _, x := range all.Systems() {
		if slices.Contains(baselinestest.Storable, x.Name) {
			t.Run(x.Name, func(t *testing.T) { baselinestest.Stored(t, x.New, s, s) })
		}
	}
}

// No system with an index here shows anything of documents that a question excludes.
func TestNothingLeaks(t *testing.T) {
	s := open(t, spread(t))
	defer s.Close()
	for _, x := range all.Systems() {
		if slices.Contains(baselinestest.Storable, x.Name) {
			t.Run(x.Name, func(t *testing.T) { baselinestest.Leaks(t, baselinestest.InStore(t, x.New, s), 8) })
		}
	}
}

// passages writes passages to a generation in batches of 50, and repeats a batch after store.ErrUnavailable. It
// returns the number of failed batches.
func passages(t *testing.T, s store.Store, n int, before func(i int)) (g store.Generation, table store.Table, records []store.Record, failed int) {
	t.Helper()
	ctx := t.Context()
	c, err := s.Create(ctx, "load", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 128}}})
	if err == nil {
		g, err = c.Write(ctx, "first")
	}
	if err == nil {
		table, err = g.Table("chunks")
	}
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		words, v := make([]string, 50), make([]float32, 128)
		for j := range words {
			words[j] = fmt.Sprintf("w%d", int(r.ExpFloat64()*1000))
		}
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		records = append(records, store.Record{ID: fmt.Sprintf("r%08d", i), Text: strings.Join(words, " "), Vector: v})
	}
	for i := 0; i < n && err == nil; i += 50 {
		before(i)
		err = table.Put(ctx, records[i:min(i+50, n)]...)
		for begun := time.Now(); errors.Is(err, store.ErrUnavailable) && time.Since(begun) < 3*time.Minute; failed++ {
			time.Sleep(200 * time.Millisecond)
			err = table.Put(ctx, records[i:min(i+50, n)]...)
		}
	}
	check.OK(t, err)
	check.OK(t, g.Flush(ctx))
	return g, table, records, failed
}

// A node of several is killed and restarted while questions are asked. Each answer is that of the whole cluster
// or store.ErrUnavailable, and without an error once the node is back; then writing is possible too.
func TestOutage(t *testing.T) {
	kill, revive := graphragtest.Program(t, "WILDGRAPH_KILL"), graphragtest.Program(t, "WILDGRAPH_REVIVE")
	o := spread(t)
	o.Wait = -1
	s := open(t, o)
	defer s.Close()
	g, table, records, _ := passages(t, s, 20_000, func(int) {})
	defer g.Close()
	ask := func(i int) (ids []string, err error) {
		r := records[i%100*(len(records)/100)]
		hits, err := table.SearchText(t.Context(), store.TextQuery{Text: r.Text[:30], K: 10})
		if err != nil {
			return nil, err
		}
		near, err := table.SearchVectors(t.Context(), store.VectorQuery{Vector: r.Vector, K: 10, Effort: 1})
		if err != nil {
			return nil, err
		}
		for _, h := range slices.Concat(hits[0], near[0]) {
			ids = append(ids, h.ID)
		}
		return ids, nil
	}
	want := make([][]string, 100)
	for i := range want {
		var err error
		want[i], err = ask(i)
		check.OK(t, err)
	}
	var asked, unavailable, late atomic.Int64
	var back atomic.Bool
	var wait sync.WaitGroup
	end := make(chan struct{})
	for w := range 4 {
		wait.Go(func() {
			for i := w; ; i++ {
				select {
				case <-end:
					return
				default:
				}
				after := back.Load()
				got, err := ask(i)
				asked.Add(1)
				switch {
				case errors.Is(err, store.ErrUnavailable):
					if unavailable.Add(1); after {
						late.Add(1)
					}
				case err != nil || !slices.Equal(got, want[i%100]):
					t.Errorf("question %d: %v, %v; want %v", i, got, err, want[i%100])
					return
				}
			}
		})
	}
	time.Sleep(10 * time.Second)
	kill(t)
	time.Sleep(20 * time.Second)
	revive(t)
	time.Sleep(20 * time.Second) // its shards are back some time after it answers
	back.Store(true)
	time.Sleep(10 * time.Second)
	close(end)
	wait.Wait()
	t.Logf("%d questions, %d unavailable, %d of them after the node was back", asked.Load(), unavailable.Load(), late.Load())
	if late.Load() > 0 {
		t.Fail()
	}
	err := errors.Join(table.Put(t.Context(), store.Record{ID: "late", Text: "zeppelin"}), g.Flush(t.Context()))
	hits, errSearch := table.SearchText(t.Context(), store.TextQuery{Text: "zeppelin", K: 3})
	check.True(t, err == nil && errSearch == nil && len(hits[0]) == 1, "writing when all are back: %v, %v, %v", err, errSearch, hits)
}

// A node of several is killed and restarted while passages are written. In the end every node finds every
// passage by its vector: the nodes are asked in turn.
func TestInterrupted(t *testing.T) {
	kill, revive := graphragtest.Program(t, "WILDGRAPH_KILL"), graphragtest.Program(t, "WILDGRAPH_REVIVE")
	o := spread(t)
	o.Wait = time.Second
	s := open(t, o)
	defer s.Close()
	var wait sync.WaitGroup
	g, table, records, failed := passages(t, s, 3000, func(i int) {
		if i == 1000 {
			wait.Go(func() { kill(t); revive(t) })
		}
	})
	defer g.Close()
	wait.Wait()
	n, err := table.Count(t.Context(), graphrag.Condition{})
	check.True(t, n == len(records) && err == nil, "%d passages, %v; want %d", n, err, len(records))
	lost := 0
	for batch := range slices.Chunk(records, 50) {
		queries := make([]store.VectorQuery, len(batch))
		for i, r := range batch {
			queries[i] = store.VectorQuery{Vector: r.Vector, K: 1, Effort: 1}
		}
		for range nodes(t) {
			hits := check.Of(table.SearchVectors(t.Context(), queries...)).OK(t)
			for i, list := range hits {
				if len(list) != 1 || list[0].ID != batch[i].ID {
					lost++
				}
			}
		}
	}
	if t.Logf("%d puts failed, %d passages are not found", failed, lost); lost > 0 {
		t.Fail()
	}
}

// The servers' disk is full for a while. This test is the last one, because not every server recovers.
func TestFull(t *testing.T) {
	fill, free := graphragtest.Program(t, "WILDGRAPH_FILL"), graphragtest.Program(t, "WILDGRAPH_FREE")
	s := open(t, opensearch.Options{Wait: time.Second})
	defer s.Close()
	graphragtest.FullStore(t, s, fill, free)
}
