// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// fuseDepth is how deep lists are merged at least: a chunk that one retriever has
// in place 30 may be the first of the merged list.
const fuseDepth = 100

// Fuse returns a retriever that asks all of some at the same time and merges
// their rankings by reciprocal rank fusion (Cormack and others, SIGIR 2009).
// Derived texts, each once, steps and usage are those of all, in the order given.
func Fuse(retrievers ...graphrag.Retriever) (graphrag.Retriever, error) {
	if len(retrievers) == 0 || slices.Contains(retrievers, nil) {
		return nil, fmt.Errorf("retrieve: Fuse: %w", errMissing)
	}
	return fused(slices.Clone(retrievers)), nil
}

var errMissing = errors.New("a retriever is missing")

type fused []graphrag.Retriever

func (f fused) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	return one(ctx, f, q)
}

// RetrieveAll implements [Batch]: each of the retrievers is asked as [All] asks it.
func (f fused) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	deeper := slices.Clone(qs)
	for i, q := range qs {
		deeper[i].Depth = max(q.Want(), fuseDepth)
	}
	all := make([][]graphrag.Found, len(f))
	g, gctx := errgroup.WithContext(ctx)
	for i, r := range f {
		g.Go(func() (err error) {
			all[i], err = All(gctx, r, deeper)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]graphrag.Found, len(qs))
	for i, q := range qs {
		lists := make([]graphrag.Found, len(f))
		for j := range f {
			lists[j] = all[j][i]
		}
		out[i] = Fused(lists, q.Want())
	}
	return out, nil
}

// Fused is what was found by several, with their rankings merged by reciprocal rank
// fusion: what [Fuse] does of what it was given.
func Fused(all []graphrag.Found, want int) graphrag.Found {
	found, _ := merge(all, want, func(lists ...[]rank.Scored[string]) ([]rank.Scored[string], error) {
		ids := make([][]string, len(lists))
		for i, list := range lists {
			for _, x := range list {
				ids[i] = append(ids[i], x.ID)
			}
		}
		return rank.RRF(ids...), nil
	})
	return found
}

// merge makes one ranking of several, by the rule given.
func merge(all []graphrag.Found, want int, rule func(...[]rank.Scored[string]) ([]rank.Scored[string], error)) (graphrag.Found, error) {
	var out graphrag.Found
	hits := make(map[string]graphrag.Hit)
	lists := make([][]rank.Scored[string], len(all))
	for i, found := range all {
		for _, h := range found.Ranked {
			lists[i] = append(lists[i], rank.Scored[string]{ID: h.Chunk.ID, Score: h.Score})
			if _, ok := hits[h.Chunk.ID]; !ok {
				hits[h.Chunk.ID] = h
			}
		}
		for _, d := range found.Derived {
			if !slices.ContainsFunc(out.Derived, func(o graphrag.Derived) bool { return o.Kind == d.Kind && o.Text == d.Text }) {
				out.Derived = append(out.Derived, d)
			}
		}
		out.Steps = append(out.Steps, found.Steps...)
		out.Usage = out.Usage.Add(found.Usage)
	}
	order, err := rule(lists...)
	out.Ranked = []graphrag.Hit{}
	for _, x := range order {
		if len(out.Ranked) == want {
			break
		}
		h := hits[x.ID]
		h.Score = x.Score
		out.Ranked = append(out.Ranked, h)
	}
	return out, err
}
