// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// collection implements [store.Collection].
type collection struct {
	store    *Store
	name, id string
	schema   store.Schema
}

// Schema implements [store.Collection].
func (c *collection) Schema() store.Schema { return c.schema }

// there tells that a collection was dropped.
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

// Write implements [store.Collection]. Indexes are made before the generation is known, so
// one that is known has them.
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
	for i, table := range c.tables() {
		if err := c.store.engine.Create(ctx, tableIndex(mine, i), c.spec(table)); err != nil {
			return "", err
		}
	}
	edges := Spec{Words: true, K1: bm25.DefaultK1, B: bm25.DefaultB, Fields: store.TripleFields.Fields, Of: c.name + "-triples"}
	if err := c.store.engine.Create(ctx, edgesIndex(mine), edges); err != nil {
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
		err = c.store.engine.Drop(ctx, goneOf(mine, c.schema).indexes()...)
	}
	return id, err
}

func (c *collection) tables() []string { return slices.Sorted(maps.Keys(c.schema.Tables)) }

func (c *collection) spec(table string) Spec {
	t := c.schema.Tables[table]
	s := Spec{Words: t.Text, K1: cmp.Or(t.K1, bm25.DefaultK1), B: cmp.Or(t.B, bm25.DefaultB), Dim: t.Dim,
		Fields: map[string]store.Kind{scopeField: store.String}, Of: c.name + "-" + table}
	for i, name := range slices.Sorted(maps.Keys(t.Fields)) {
		s.Fields[fmt.Sprintf("f%d", i)] = t.Fields[name]
	}
	return s
}

// Pin implements [store.Collection].
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
		if c.store.sweeps.Load() == sweeps { // otherwise it may have been removed between the two
			return g, nil
		}
		if err := g.Close(); err != nil {
			return nil, err
		}
	}
}

// Publish implements [store.Collection].
func (c *collection) Publish(ctx context.Context, name, was string) error {
	id := ""
	err := c.change(ctx, func(e *entry) error {
		var known bool
		if id, known = e.Generations[name]; !known {
			return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
		}
		if e.Published != was {
			return fmt.Errorf("%w: %q is published, not %q", store.ErrConflict, e.Published, was)
		}
		e.Published = name
		return nil
	})
	if err == nil {
		names := map[string]string{c.name + "-triples": edgesIndex(id)}
		for i, table := range c.tables() {
			names[c.name+"-"+table] = tableIndex(id, i)
		}
		_ = c.store.engine.Alias(ctx, names) // it is published; the next publication tries again
	}
	return c.store.wrap("publish", err)
}

// Generations implements [store.Collection].
func (c *collection) Generations(ctx context.Context) (names []string, published string, err error) {
	e, err := c.load(ctx)
	return slices.Sorted(maps.Keys(e.Generations)), e.Published, c.store.wrap("generations", err)
}

// Discard implements [store.Collection].
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
