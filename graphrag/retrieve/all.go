// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"
	"runtime"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Batch is a retriever that takes several questions in one call, where a call may be
// a journey. It gives one result for each, in their order.
type Batch interface {
	RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error)
}

// callsAtOnce is how many questions a retriever is asked at a time that takes one.
const callsAtOnce = 8

// All retrieves for several questions: in one call if r is a [Batch], and otherwise
// some at a time.
func All(ctx context.Context, r graphrag.Retriever, qs []graphrag.Question) ([]graphrag.Found, error) {
	if b, ok := r.(Batch); ok {
		found, err := b.RetrieveAll(ctx, qs)
		if err == nil && len(found) != len(qs) {
			err = fmt.Errorf("retrieve: results of %d questions came for %d", len(found), len(qs))
		}
		return found, err
	}
	found := make([]graphrag.Found, len(qs))
	err := each(ctx, len(qs), func(i int) (err error) {
		found[i], err = r.Retrieve(ctx, qs[i])
		return err
	})
	return found, err
}

// each calls f for 0..n-1, some of them at a time.
func each(ctx context.Context, n int, f func(i int) error) error {
	return par.Each(ctx, n, max(callsAtOnce, runtime.GOMAXPROCS(0)), f)
}

// one retrieves for one question.
func one(ctx context.Context, b Batch, q graphrag.Question) (graphrag.Found, error) {
	found, err := b.RetrieveAll(ctx, []graphrag.Question{q})
	if err != nil {
		return graphrag.Found{}, err
	}
	return found[0], nil
}
