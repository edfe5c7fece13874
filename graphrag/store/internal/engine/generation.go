// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

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

// Name implements [store.Generation].
func (g *generation) Name() string { return g.name }

// Table implements [store.Generation].
func (g *generation) Table(name string) (store.Table, error) {
	i := slices.Index(g.c.tables(), name)
	if i < 0 {
		return nil, fmt.Errorf("%s: table %q: %w: there are %q", g.c.store.name, name, store.ErrNotFound, g.c.tables())
	}
	schema := g.c.schema.Tables[name]
	return &table{g.part(fmt.Sprintf("table %q", name), tableIndex(g.id, i)), schema, fieldNames(schema)}, nil
}

// Triples implements [store.Generation].
func (g *generation) Triples() store.Triples { return edges{g.part("triples", edgesIndex(g.id))} }

func (g *generation) part(of, index string) part {
	s := g.c.store
	return part{engine: s.engine, analyzer: s.analyzer, index: index, open: g.open,
		wrap: func(doing string, err error) error { return s.wrap(of+": "+doing, err) }}
}

// open tells why a handle cannot be used.
func (g *generation) open(ctx context.Context, writing bool) error {
	if g.closed.Load() {
		return errors.New("it is closed")
	}
	if err := g.c.store.alive(ctx); err != nil {
		return err
	}
	if writing && g.pinned {
		return store.ErrReadOnly
	}
	return nil
}

// Flush implements [store.Generation].
func (g *generation) Flush(ctx context.Context) error {
	err := g.open(ctx, true)
	if err == nil {
		err = g.c.store.engine.Refresh(ctx, goneOf(g.id, g.c.schema).indexes()...)
	}
	return g.c.store.wrap("flush", err)
}

// Close implements [store.Generation].
func (g *generation) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	return g.c.store.wrap("close generation", g.c.store.release(g.id))
}
