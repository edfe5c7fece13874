// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// part is one index of a generation.
type part struct {
	engine   Engine
	analyzer text.Analyzer
	index    string
	open     func(ctx context.Context, writing bool) error // why it cannot be used
	wrap     func(doing string, err error) error
}

// collect makes documents of items: of those with one id of the last. The error names
// those that cannot be stored.
func collect[T any](items []T, id func(T) string, doc func(T) (Doc, error)) ([]Doc, error) {
	var bad store.ItemsError
	var docs []Doc
	place := make(map[string]int, len(items))
	for i, item := range items {
		d, err := doc(item)
		if err != nil {
			bad.Items = append(bad.Items, store.ItemError{Index: i, ID: id(item), Err: err})
			continue
		}
		if at, known := place[d.ID]; known {
			docs[at] = d
			continue
		}
		place[d.ID] = len(docs)
		docs = append(docs, d)
	}
	if len(bad.Items) > 0 {
		return docs, &bad
	}
	return docs, nil
}

// all reads documents and what is made of them.
func all[T any](ctx context.Context, p part, after string, of func(Hit) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		fail := func(err error) { yield(none, p.wrap("read all", err)) }
		if err := p.open(ctx, false); err != nil {
			fail(err)
			return
		}
		for h, err := range p.engine.All(ctx, p.index, after) {
			var v T
			if err == nil {
				v, err = of(h)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				fail(err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
