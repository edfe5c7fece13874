// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Store implements [store.Store].
type Store struct {
	name     string // of the engine, in errors
	engine   Engine
	analyzer text.Analyzer
	sweeps   atomic.Int64 // how often generations were removed

	mu     sync.Mutex // guards the rest
	held   map[string]int
	gone   map[string]string // generations that are held, and gone: their collections
	closed bool
}

var _ store.Store = (*Store)(nil)

// New makes a store of an engine; nil is text.Default.
func New(name string, e Engine, a text.Analyzer) *Store {
	if a == nil {
		a = text.Default()
	}
	return &Store{name: name, engine: e, analyzer: a, held: make(map[string]int), gone: make(map[string]string)}
}

func (s *Store) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", s.name, doing, err)
}

// Can implements [store.Store].
func (s *Store) Can() store.Capabilities { return s.engine.Can() }

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, name string, schema store.Schema) (store.Collection, error) {
	if err := errors.Join(store.CheckName("collection", name), schema.Check()); err != nil {
		return nil, s.wrap("create collection", err)
	}
	if schema.Analyzer == "" {
		schema.Analyzer = s.analyzer.Name()
	}
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
	if err == nil && !equal(c.schema, schema) {
		err = fmt.Errorf("%q: %w: it has the schema %+v, not %+v: drop it, or take another name", name, store.ErrMismatch, c.schema, schema)
	}
	if err != nil {
		return nil, s.wrap("create collection", err)
	}
	return c, nil
}

func equal(a, b store.Schema) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Open implements [store.Store].
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, s.wrap("open collection", err)
	}
	return c, nil
}

func (s *Store) open(ctx context.Context, name string) (*collection, error) {
	e, _, err := s.load(ctx, name)
	if err == nil && (e.ID == "" || e.Dropped) {
		err = fmt.Errorf("%q: %w: create it first", name, store.ErrNotFound)
	}
	if have := s.analyzer.Name(); err == nil && e.Schema.Analyzer != have {
		err = fmt.Errorf("%q: %w: its analyzer is %q, that of the store %q: set Options.Analyzer", name, store.ErrMismatch, e.Schema.Analyzer, have)
	}
	return &collection{store: s, name: name, id: e.ID, schema: e.Schema}, err
}

// Collections implements [store.Store].
func (s *Store) Collections(ctx context.Context) (names []string, err error) {
	if err = s.alive(ctx); err != nil {
		return nil, s.wrap("collections", err)
	}
	all, err := s.engine.Registers(ctx)
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

// Drop implements [store.Store].
func (s *Store) Drop(ctx context.Context, name string) error {
	err := s.change(ctx, name, func(e *entry) error {
		if e.ID == "" || e.Dropped {
			return fmt.Errorf("%q: %w", name, store.ErrNotFound)
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

// alive tells why the store cannot be used.
func (s *Store) alive(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	return ctx.Err()
}

// Close implements [store.Store]. What was put is kept, flushed or not.
func (s *Store) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if was {
		return nil
	}
	return s.wrap("close", s.engine.Close())
}
