// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// memory is an engine as plain as can be: documents in maps, searches that look at all.
type memory struct {
	mu        sync.Mutex
	registers map[string]string
	versions  map[string]int
	indexes   map[string]*index
	busy      int // calls that are throttled
	after     time.Duration
}

type index struct {
	spec engine.Spec
	docs map[string]engine.Doc
}

func newMemory() *memory {
	return &memory{registers: map[string]string{}, versions: map[string]int{}, indexes: map[string]*index{}}
}

func (m *memory) Load(_ context.Context, r string) ([]byte, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.registers[r]; ok {
		return []byte(v), strconv.Itoa(m.versions[r]), nil
	}
	return nil, "", nil
}

func (m *memory) Save(_ context.Context, r string, value []byte, was string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := ""
	if _, ok := m.registers[r]; ok {
		have = strconv.Itoa(m.versions[r])
	}
	if have != was {
		return store.ErrConflict
	}
	m.versions[r]++
	if m.registers[r] = string(value); value == nil {
		delete(m.registers, r)
	}
	return nil
}

func (m *memory) Registers(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.registers)), nil
}

func (m *memory) Create(_ context.Context, name string, s engine.Spec) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.indexes[name] == nil {
		m.indexes[name] = &index{s, map[string]engine.Doc{}}
	}
	return nil
}

func (m *memory) Drop(_ context.Context, names ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		delete(m.indexes, name)
	}
	return nil
}

func (m *memory) Alias(context.Context, map[string]string) error { return nil }

// with uses an index.
func (m *memory) with(name string, do func(*index)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy > 0 {
		m.busy--
		return fmt.Errorf("a test: %w", &store.ThrottledError{After: m.after})
	}
	ix := m.indexes[name]
	if ix == nil {
		return fmt.Errorf("index %s: %w", name, store.ErrNotFound)
	}
	do(ix)
	return nil
}

func (m *memory) Put(_ context.Context, name string, docs []engine.Doc) error {
	return m.with(name, func(ix *index) {
		for _, d := range docs {
			for field := range d.Fields {
				if _, ok := ix.spec.Fields[field]; !ok {
					panic("a field that was not declared: " + field)
				}
			}
			d.Vector = slices.Clone(d.Vector)
			ix.docs[d.ID] = d
		}
	})
}

func (m *memory) Delete(_ context.Context, name string, ids []string) error {
	return m.with(name, func(ix *index) {
		for _, id := range ids {
			delete(ix.docs, id)
		}
	})
}

func (m *memory) DeleteWhere(_ context.Context, name, field, value string) error {
	return m.with(name, func(ix *index) {
		maps.DeleteFunc(ix.docs, func(_ string, d engine.Doc) bool { return d.Fields[field] == value })
	})
}

func (m *memory) Refresh(_ context.Context, names ...string) (err error) {
	for _, name := range names {
		err = cmp.Or(err, m.with(name, func(*index) {}))
	}
	return err
}

func (m *memory) Get(_ context.Context, name string, ids []string) (hits []engine.Hit, err error) {
	err = m.with(name, func(ix *index) {
		for _, id := range ids {
			if d, ok := ix.docs[id]; ok {
				hits = append(hits, engine.Hit{ID: id, Body: d.Body})
			}
		}
	})
	return hits, err
}

func (m *memory) Search(_ context.Context, name string, queries []engine.Query) (lists [][]engine.Hit, err error) {
	err = m.with(name, func(ix *index) {
		for _, q := range queries {
			list := ix.search(q)
			slices.SortFunc(list, func(a, b engine.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
			lists = append(lists, list[:min(q.K, len(list))])
		}
	})
	return lists, err
}

func (ix *index) search(q engine.Query) (list []engine.Hit) {
	df, total := map[string]float64{}, 0.0
	for _, d := range ix.docs {
		for _, t := range slices.Compact(slices.Sorted(slices.Values(d.Terms))) {
			df[t]++
		}
		total += float64(len(d.Terms))
	}
	n := float64(len(ix.docs))
	for id, d := range ix.docs {
		if !q.Where.Holds(d.Fields) || id <= q.After {
			continue
		}
		score, found := 0.0, q.Terms == nil
		for _, t := range q.Terms {
			tf := 0.0
			for _, w := range d.Terms {
				if w == t.Text {
					tf++
				}
			}
			if tf > 0 {
				found = true
				score += float64(t.Times) * math.Log(1+(n-df[t.Text]+.5)/(df[t.Text]+.5)) * tf / (tf + ix.spec.K1*(1-ix.spec.B+ix.spec.B*float64(len(d.Terms))*n/total))
			}
		}
		if q.Vector != nil {
			found = len(d.Vector) > 0
			for i, x := range d.Vector {
				score += float64(x) * float64(q.Vector[i])
			}
			score = math.Round(score*1e6) / 1e6
		}
		if found {
			list = append(list, engine.Hit{ID: id, Score: score, Body: d.Body})
		}
	}
	return list
}

func (m *memory) All(ctx context.Context, name, after string) iter.Seq2[engine.Hit, error] {
	return func(yield func(engine.Hit, error) bool) {
		lists, err := m.Search(ctx, name, []engine.Query{{After: after, K: 1 << 30}})
		if err != nil {
			yield(engine.Hit{}, err)
			return
		}
		for _, h := range lists[0] {
			if !yield(h, nil) {
				return
			}
		}
	}
}

func (m *memory) Count(_ context.Context, name string) (n int, err error) {
	err = m.with(name, func(ix *index) { n = len(ix.docs) })
	return n, err
}

func (m *memory) Can() store.Capabilities {
	return store.Capabilities{BM25: true, Exact: true, MaxK: 1000}
}

func (m *memory) Close() error { return nil }

// All that package store promises is kept by any engine that has the few calls. What
// MaxK is less than the neighbors of a hub is read in parts.
func TestStore(t *testing.T) {
	engines := map[store.Store]*memory{}
	add := func(m *memory) store.Store {
		s := engine.New("memory", m, nil)
		engines[s] = m
		return s
	}
	storetest.Test(t, storetest.Factory{
		New:   func(*testing.T) store.Store { return add(newMemory()) },
		Crash: func(_ *testing.T, s store.Store) store.Store { return add(engines[s]) },
		Throttle: func(_ *testing.T, s store.Store, calls int, after time.Duration) {
			engines[s].busy, engines[s].after = calls, after
		},
	})
}
