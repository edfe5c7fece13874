// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Counted is a store that counts the calls that questions are made of, each of which is
// one round trip at least.
type Counted struct {
	store.Store
	n atomic.Int64
}

// Calls is how many there were.
func (c *Counted) Calls() int64 { return c.n.Load() }

// Create implements [store.Store].
func (c *Counted) Create(ctx context.Context, name string, s store.Schema) (store.Collection, error) {
	inner, err := c.Store.Create(ctx, name, s)
	return countedCollection{inner, &c.n}, err
}

// Open implements [store.Store].
func (c *Counted) Open(ctx context.Context, name string) (store.Collection, error) {
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

func (g countedGeneration) Triples() store.Triples {
	return countedTriples{g.Generation.Triples(), g.n}
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

type countedTriples struct {
	store.Triples
	n *atomic.Int64
}

func (t countedTriples) SearchTriples(ctx context.Context, q ...store.TextQuery) ([][]store.TripleHit, error) {
	t.n.Add(1)
	return t.Triples.SearchTriples(ctx, q...)
}

func (t countedTriples) Neighbors(ctx context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	t.n.Add(1)
	return t.Triples.Neighbors(ctx, entities, o)
}
