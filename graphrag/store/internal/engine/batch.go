// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// batch is queries that go to an engine together, without those that have no answer.
type batch struct {
	part
	name    func(field string) string
	queries []Query
	places  []int // of the queries that are sent
	n       int
}

// add takes a query of a filter that was checked; one that is not worth it finds nothing.
func (b *batch) add(q Query, f store.Filter, worth bool) {
	b.n++
	where, holds := fold(f, b.name)
	if holds != nil && *holds {
		where = store.Filter{}
	}
	if !worth || q.K <= 0 || holds != nil && !*holds {
		return
	}
	q.K = min(q.K, b.engine.Can().MaxK)
	q.Where = where
	b.queries = append(b.queries, q)
	b.places = append(b.places, b.n-1)
}

func (b *batch) search(ctx context.Context) ([][]Hit, error) {
	if err := b.open(ctx, false); err != nil {
		return nil, err
	}
	out := make([][]Hit, b.n)
	if len(b.queries) == 0 {
		return out, nil
	}
	lists, err := b.engine.Search(ctx, b.index, b.queries)
	if err != nil {
		return nil, err
	}
	for i, list := range lists {
		q := b.queries[i]
		if q.Terms != nil || q.Vector != nil {
			slices.SortStableFunc(list, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
		}
		out[b.places[i]] = list[:min(len(list), q.K)]
	}
	return out, nil
}
