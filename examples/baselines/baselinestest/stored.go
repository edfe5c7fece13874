// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// steps are the searches of a question: the first, and those after it and the expansions
// that a system tells.
func steps(f graphrag.Found) int64 {
	n := int64(1)
	for _, s := range f.Steps {
		if s.Kind == "search" || s.Kind == "expand" {
			n++
		}
	}
	return n
}

// mostTrips bounds the round trips of a step; all but gear have one.
var mostTrips = map[string]int64{"bm25": 2, "naiverag": 2, "hipporag2": 6, "gear-corpus": 4}

// Stored holds a system to find in a store what it finds in memory: also after a
// change, and when it is built in the store again. trips
// counts the round trips so far; nil counts calls of the store.
func Stored(t *testing.T, name string, recipe func(kit.Kit, kit.Common) (*kit.System, error), s store.Store, trips func() int64) {
	memory := OfflineKit(t)
	memory.Find = kit.ByVectors
	stored := memory
	calls := &counted{Store: s}
	if trips == nil {
		trips = calls.n.Load
	}
	stored.Place = kit.Place{Store: calls, Prefix: name, Encoder: memory.Encoder}
	want := evidence(t, recipe, memory, nil, nil)
	most := int64(0)
	if diff := cmp.Diff(want, evidence(t, recipe, stored, trips, &most)); diff != "" {
		t.Error(diff)
	}
	t.Logf("%s: at most %d round trips a step", name, most)
	if bound, ok := mostTrips[name]; ok && most > bound {
		t.Errorf("%s: %d round trips a step, want %d at most", name, most, bound)
	}
	if diff := cmp.Diff(want, evidence(t, recipe, stored, nil, nil)); diff != "" {
		t.Errorf("built again: %s", diff)
	}
}

// evidence indexes, asks, asks again without a document, and about some of them.
func evidence(t *testing.T, recipe func(kit.Kit, kit.Common) (*kit.System, error), k kit.Kit, trips func() int64, most *int64) (ids [][]string) {
	t.Helper()
	system, err := recipe(k, kit.Common{Cut: kit.Cut{Size: 60}})
	OK(t, err)
	defer func() {
		if err := system.Close(); err != nil {
			t.Error(err)
		}
	}()
	questions := func(where *graphrag.Condition) {
		for _, q := range Questions {
			q.K, q.Where = 4, where
			before := int64(0)
			if trips != nil {
				before = trips()
			}
			found, err := system.Retrieve(t.Context(), q)
			OK(t, err)
			if trips != nil {
				*most = max(*most, (trips()-before+steps(found)-1)/steps(found))
			}
			var list []string
			for _, h := range found.Read(q) {
				list = append(list, h.Chunk.ID)
			}
			for _, d := range found.Derived {
				list = append(list, d.Text)
			}
			ids = append(ids, list)
		}
	}
	pages := slices.Clone(Pages)
	for i := range pages {
		pages[i].Fields = graphrag.Fields{"n": float64(i)}
	}
	if _, err := system.Index(t.Context(), graphrag.Documents(pages...)); err != nil {
		t.Fatal(err)
	}
	questions(nil)
	if _, err := system.Delete(t.Context(), Pages[0].ID); err != nil {
		t.Fatal(err)
	}
	questions(nil)
	trips = nil // the index of some documents is in memory
	some := graphrag.Between("n", 1, 2)
	questions(&some)
	return ids
}

// counted is a store that counts the calls of a query, each of which is at least one round
// trip.
type counted struct {
	store.Store
	n atomic.Int64
}

func (c *counted) Create(ctx context.Context, name string, s store.Schema) (store.Collection, error) {
	inner, err := c.Store.Create(ctx, name, s)
	return countedCollection{inner, &c.n}, err
}

func (c *counted) Open(ctx context.Context, name string) (store.Collection, error) {
	inner, err := c.Store.Open(ctx, name)
	return countedCollection{inner, &c.n}, err
}

type countedCollection struct {
	store.Collection
	n *atomic.Int64
}

func (c countedCollection) Pin(ctx context.Context) (store.Generation, error) {
	c.n.Add(1)
	g, err := c.Collection.Pin(ctx)
	return countedGeneration{g, c.n}, err
}

type countedGeneration struct {
	store.Generation
	n *atomic.Int64
}

func (g countedGeneration) Table(name string) (store.Table, error) {
	t, err := g.Generation.Table(name)
	return countedTable{t, g.n}, err
}

type countedTable struct {
	store.Table
	n *atomic.Int64
}

func (t countedTable) Get(ctx context.Context, ids ...string) ([]store.Record, error) {
	t.n.Add(1)
	return t.Table.Get(ctx, ids...)
}

func (t countedTable) SearchText(ctx context.Context, q ...store.TextQuery) ([][]store.Hit, error) {
	t.n.Add(1)
	return t.Table.SearchText(ctx, q...)
}

func (t countedTable) SearchVectors(ctx context.Context, q ...store.VectorQuery) ([][]store.Hit, error) {
	t.n.Add(1)
	return t.Table.SearchVectors(ctx, q...)
}
