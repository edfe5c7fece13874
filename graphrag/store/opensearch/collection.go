// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// clusterStore implements [store.Store].
type clusterStore struct {
	c        *cluster
	analyzer text.Analyzer
	sweeps   atomic.Int64 // incremented when generations are removed

	mu     sync.Mutex // guards the fields below
	held   map[string]int
	gone   map[string]string // ids of discarded generations with open handles, and their collections
	closed bool
}

func newStore(c *cluster, a text.Analyzer) *clusterStore {
	a = cmp.Or[text.Analyzer](a, text.Default())
	return &clusterStore{c: c, analyzer: a, held: make(map[string]int), gone: make(map[string]string)}
}

func (s *clusterStore) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("opensearch: %s: %w", doing, err)
}

func (s *clusterStore) Can() store.Capabilities {
	return store.Capabilities{}
}

func (s *clusterStore) Create(ctx context.Context, name string, schema store.Schema) (store.Collection, error) {
	if err := errors.Join(store.CheckName("collection", name), schema.Check()); err != nil {
		return nil, s.wrap("create collection", err)
	}
	schema.Analyzer = cmp.Or(schema.Analyzer, s.analyzer.Name())
	err := s.change(ctx, name, func(e *entry) error {
		if e.ID == "" || e.Dropped {
			*e = entry{Version: version, ID: newID(), Schema: schema, Generations: map[string]string{}, Gone: e.Gone}
		}
		return nil
	})
	var c *collection
	if err == nil {
		c, err = s.open(ctx, name)
	}
	if err == nil {
		err = c.schema.CheckSame(schema)
	}
	if err != nil {
		return nil, s.wrap(fmt.Sprintf("create collection %q", name), err)
	}
	return c, nil
}

func (s *clusterStore) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, s.wrap(fmt.Sprintf("open collection %q", name), err)
	}
	return c, nil
}

func (s *clusterStore) open(ctx context.Context, name string) (*collection, error) {
	e, _, err := s.load(ctx, name)
	if err == nil && (e.ID == "" || e.Dropped) {
		err = fmt.Errorf("%w: there is no such collection: create it first", store.ErrNotFound)
	}
	if err == nil {
		err = e.Schema.CheckAnalyzer(s.analyzer.Name())
	}
	return &collection{store: s, name: name, id: e.ID, schema: e.Schema}, err
}

func (s *clusterStore) Collections(ctx context.Context) (names []string, err error) {
	if err = s.alive(ctx); err != nil {
		return nil, s.wrap("collections", err)
	}
	all, err := s.c.entries(ctx)
	for _, name := range slices.Sorted(slices.Values(all)) {
		var e entry
		if err == nil {
			e, _, err = s.load(ctx, name)
		}
		if err == nil && e.ID != "" && !e.Dropped {
			names = append(names, name)
		}
	}
	return names, s.wrap("collections", err)
}

func (s *clusterStore) Drop(ctx context.Context, name string) error {
	err := s.change(ctx, name, func(e *entry) error {
		if e.ID == "" || e.Dropped {
			return fmt.Errorf("collection %q: %w", name, store.ErrNotFound)
		}
		for _, g := range slices.Sorted(maps.Keys(e.Generations)) {
			e.Gone = append(e.Gone, goneOf(e.Generations[g], e.Schema))
		}
		e.Generations, e.Published, e.Dropped = map[string]string{}, "", true
		return nil
	})
	if err == nil {
		err = s.sweep(ctx, name)
	}
	return s.wrap("drop collection", err)
}

// alive returns an error if the store was closed or ctx is done.
func (s *clusterStore) alive(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	return ctx.Err()
}

// Close implements [store.Store]. Puts are kept even without a flush.
func (s *clusterStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// collection implements [store.Collection].
type collection struct {
	store    *clusterStore
	name, id string
	schema   store.Schema
}

func (c *collection) Schema() store.Schema { return c.schema }

// there returns an error if the collection was dropped.
func (c *collection) there(e entry) error {
	if e.ID != c.id || e.Dropped {
		return fmt.Errorf("collection %q: %w: it was dropped", c.name, store.ErrNotFound)
	}
	return nil
}

func (c *collection) change(ctx context.Context, do func(*entry) error) error {
	return c.store.change(ctx, c.name, func(e *entry) error {
		if err := c.there(*e); err != nil {
			return err
		}
		return do(e)
	})
}

func (c *collection) load(ctx context.Context) (entry, error) {
	e, _, err := c.store.load(ctx, c.name)
	if err == nil {
		err = c.there(e)
	}
	return e, err
}

// Write implements [store.Collection]. Indexes are made before the catalog names the
// generation, so a named generation is complete.
func (c *collection) Write(ctx context.Context, name string) (store.Generation, error) {
	err := store.CheckName("generation", name)
	var e entry
	if err == nil {
		e, err = c.load(ctx)
	}
	id, known := e.Generations[name]
	if err == nil && !known {
		id, err = c.begin(ctx, name)
	}
	if err != nil {
		return nil, c.store.wrap("write generation "+name, err)
	}
	return c.handle(id, name, false), nil
}

func (c *collection) begin(ctx context.Context, name string) (string, error) {
	mine := newID()
	for i, tableName := range c.tables() {
		if err := c.store.c.create(ctx, tableIndex(mine, i), c.spec(tableName)); err != nil {
			return "", err
		}
	}
	edgeSpec := spec{Words: true, K1: bm25.DefaultK1, B: bm25.DefaultB, Fields: []string{string(store.Head), string(store.Tail), "relation"}, Of: c.name + "-triples"}
	if err := c.store.c.create(ctx, edgesIndex(mine), edgeSpec); err != nil {
		return "", err
	}
	id := mine
	err := c.change(ctx, func(e *entry) error {
		if other, known := e.Generations[name]; known {
			id = other
			return nil
		}
		id = mine
		e.Generations[name] = id
		return nil
	})
	if err == nil && id != mine {
		err = c.store.c.drop(ctx, goneOf(mine, c.schema).indexes()...)
	}
	return id, err
}

func (c *collection) tables() []string { return slices.Sorted(maps.Keys(c.schema.Tables)) }

func (c *collection) spec(tableName string) spec {
	t := c.schema.Tables[tableName]
	return spec{Words: t.Text, K1: cmp.Or(t.K1, bm25.DefaultK1), B: cmp.Or(t.B, bm25.DefaultB), Dim: t.Dim,
		Fields: []string{scopeField, termsField}, Of: c.name + "-" + tableName}
}

// Fork implements [store.Collection] by clones of the indexes.
func (c *collection) Fork(ctx context.Context, next, from string) (store.Generation, error) {
	g, err := store.Fork(ctx, c, next, from, func(old, g store.Generation) error {
		return c.store.c.clone(ctx, goneOf(old.(*generation).id, c.schema).indexes(), goneOf(g.(*generation).id, c.schema).indexes())
	})
	return g, c.store.wrap("fork", err)
}

func (c *collection) Pin(ctx context.Context) (store.Generation, error) {
	for {
		sweeps := c.store.sweeps.Load()
		e, err := c.load(ctx)
		if err == nil && e.Published == "" {
			err = fmt.Errorf("collection %q: %w: nothing is published", c.name, store.ErrNotFound)
		}
		if err != nil {
			return nil, c.store.wrap("pin", err)
		}
		g := c.handle(e.Generations[e.Published], e.Published, true)
		if c.store.sweeps.Load() == sweeps { // otherwise the generation may have been removed since load
			return g, nil
		}
		if err := g.Close(); err != nil {
			return nil, err
		}
	}
}

func (c *collection) Publish(ctx context.Context, name, was string) error {
	err := c.change(ctx, func(e *entry) error {
		if _, known := e.Generations[name]; !known {
			return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
		}
		if e.Published != was {
			return fmt.Errorf("%w: the published generation is %q, not %q", store.ErrConflict, e.Published, was)
		}
		e.Published = name
		return nil
	})
	return c.store.wrap("publish", err)
}

func (c *collection) Generations(ctx context.Context) (names []string, published string, err error) {
	e, err := c.load(ctx)
	return slices.Sorted(maps.Keys(e.Generations)), e.Published, c.store.wrap("generations", err)
}

func (c *collection) Discard(ctx context.Context, name string) error {
	err := c.change(ctx, func(e *entry) error {
		id, known := e.Generations[name]
		if !known {
			return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
		}
		if e.Published == name {
			return fmt.Errorf("%w: generation %q is published: publish another first", store.ErrConflict, name)
		}
		delete(e.Generations, name)
		e.Gone = append(e.Gone, goneOf(id, c.schema))
		return nil
	})
	if err == nil {
		err = c.store.sweep(ctx, c.name)
	}
	return c.store.wrap("discard", err)
}

// generation implements [store.Generation].
type generation struct {
	c        *collection
	id, name string
	pinned   bool
	closed   atomic.Bool
}

func (c *collection) handle(id, name string, pinned bool) *generation {
	c.store.hold(id)
	return &generation{c: c, id: id, name: name, pinned: pinned}
}

func (g *generation) Name() string { return g.name }

func (g *generation) Table(name string) (store.Table, error) {
	i := slices.Index(g.c.tables(), name)
	if i < 0 {
		return nil, fmt.Errorf("opensearch: table %q: %w: the collection has the tables %q", name, store.ErrNotFound, g.c.tables())
	}
	schema := g.c.schema.Tables[name]
	return &table{g.part(fmt.Sprintf("table %q", name), tableIndex(g.id, i)), schema}, nil
}

func (g *generation) Triples() store.Triples { return edges{g.part("triples", edgesIndex(g.id))} }

func (g *generation) part(of, index string) part {
	s := g.c.store
	return part{c: s.c, analyzer: s.analyzer, index: index, open: g.open,
		wrap: func(doing string, err error) error { return s.wrap(of+": "+doing, err) }}
}

// open returns an error if the handle cannot be used.
func (g *generation) open(ctx context.Context, writing bool) error {
	if g.closed.Load() {
		return errors.New("the generation was closed")
	}
	if err := g.c.store.alive(ctx); err != nil {
		return err
	}
	if writing && g.pinned {
		return store.ErrReadOnly
	}
	return nil
}

func (g *generation) Flush(ctx context.Context) error {
	err := g.open(ctx, true)
	if err == nil {
		err = g.c.store.c.refresh(ctx, goneOf(g.id, g.c.schema).indexes()...)
	}
	return g.c.store.wrap("flush", err)
}

func (g *generation) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	return g.c.store.wrap("close generation", g.c.store.release(g.id))
}

// entry is the document of a collection in the catalog.
type entry struct {
	Version     int               `json:"version"`
	ID          string            `json:"id"` // differs for each creation of the name
	Schema      store.Schema      `json:"schema"`
	Generations map[string]string `json:"generations"` // id of a generation by its name
	Published   string            `json:"published,omitempty"`
	Gone        []gone            `json:"gone,omitempty"` // generations that were discarded and not yet removed
	Dropped     bool              `json:"dropped,omitempty"`
}

// gone is a discarded generation: its id and its number of tables.
type gone struct {
	ID     string `json:"id"`
	Tables int    `json:"tables"`
}

func goneOf(id string, s store.Schema) gone { return gone{id, len(s.Tables)} }

// indexes returns the names of the indexes of a generation.
func (g gone) indexes() []string {
	names := []string{edgesIndex(g.ID)}
	for i := range g.Tables {
		names = append(names, tableIndex(g.ID, i))
	}
	return names
}

func tableIndex(name string, i int) string { return fmt.Sprintf("%st%d", name, i) }
func edgesIndex(name string) string        { return name + "e" }

// newID returns g and 16 random hexadecimal digits.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never returns an error
	return "g" + hex.EncodeToString(b[:])
}

// load reads the catalog entry of a collection, and its version for save. Without an entry the ID is empty.
func (s *clusterStore) load(ctx context.Context, name string) (e entry, was string, err error) {
	if err = s.alive(ctx); err != nil {
		return e, "", err
	}
	data, was, err := s.c.load(ctx, name)
	if err == nil && data != nil {
		if json.Unmarshal(data, &e) != nil || e.Version != version {
			err = fmt.Errorf("collection %q: %w: its catalog entry has version %d, this release needs %d: open it with the release that wrote it", name, store.ErrMismatch, e.Version, version)
		}
	}
	return e, was, err
}

// maxAttempts limits the attempts at a compare-and-set that conflicts with other writers.
const maxAttempts = 30

// change changes the catalog entry of a collection by compare-and-set.
func (s *clusterStore) change(ctx context.Context, name string, do func(*entry) error) error {
	var err error
	for n := range maxAttempts {
		e, was, errLoad := s.load(ctx, name)
		if errLoad != nil {
			return errLoad
		}
		before, _ := json.Marshal(e)
		if err := do(&e); err != nil {
			return err
		}
		after, errJSON := json.Marshal(e)
		if errJSON != nil || string(after) == string(before) {
			return errJSON
		}
		if e.Dropped && len(e.Gone) == 0 {
			after = nil
		}
		if err = s.c.save(ctx, name, after, was); !errors.Is(err, store.ErrConflict) {
			return err
		}
		select {
		case <-time.After(time.Duration(n+1) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// hold keeps this store from removing a generation.
func (s *clusterStore) hold(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id]++
}

// release ends a hold, and removes the generation if it was discarded meanwhile and has no other hold.
func (s *clusterStore) release(id string) error {
	s.mu.Lock()
	if s.held[id]--; s.held[id] > 0 {
		s.mu.Unlock()
		return nil
	}
	delete(s.held, id)
	since, isGone := s.gone[id]
	delete(s.gone, id)
	closed := s.closed
	s.mu.Unlock()
	if !isGone || closed {
		return nil
	}
	return s.sweep(context.Background(), since)
}

// sweep removes the discarded generations that this store does not hold. The last discarded one stays until
// another is discarded, for readers in other processes.
func (s *clusterStore) sweep(ctx context.Context, name string) error {
	e, _, err := s.load(ctx, name)
	if err != nil || len(e.Gone) == 0 {
		return err
	}
	some := e.Gone
	if !e.Dropped {
		some = some[:len(some)-1]
	}
	var removed []gone
	var indexes []string
	s.mu.Lock()
	for _, g := range e.Gone {
		if s.held[g.ID] > 0 {
			s.gone[g.ID] = name
		} else if slices.Contains(some, g) {
			removed = append(removed, g)
			indexes = append(indexes, g.indexes()...)
		}
	}
	if len(removed) > 0 {
		s.sweeps.Add(1)
	}
	s.mu.Unlock()
	if len(removed) == 0 {
		return nil
	}
	if err := s.c.drop(ctx, indexes...); err != nil {
		return err
	}
	return s.change(ctx, name, func(e *entry) error {
		e.Gone = slices.DeleteFunc(e.Gone, func(g gone) bool { return slices.Contains(removed, g) })
		return nil
	})
}
