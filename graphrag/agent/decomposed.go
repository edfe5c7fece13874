// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
)

// Search finds what helps with a sub-query of a question: q has the question's
// form, K and budget, and the text that is to be looked for.
type Search func(ctx context.Context, q graphrag.Question, sub SubQuery) (graphrag.Found, error)

// Decomposed is a retriever that takes a question apart with decompose, searches for
// its sub-queries and gives the best of each in turn. All sub-queries that wait for
// no other are searched at the same time; one that does is asked together with the
// best fact, or else the beginning of the best chunk, that was found for those that
// it waits for. schema and most are those of [Plan].
func Decomposed(search Search, decompose Decomposer, schema *extract.Schema, most int) (graphrag.Retriever, error) {
	var problems []error
	if search == nil {
		problems = append(problems, errors.New("agent: the search for sub-queries is missing"))
	}
	if decompose == nil {
		problems = append(problems, errors.New("agent: the decomposer is missing"))
	}
	return decomposed{search, decompose, schema, most}, errors.Join(problems...)
}

type decomposed struct {
	search    Search
	decompose Decomposer
	schema    *extract.Schema
	most      int
}

func (d decomposed) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	proposed, err := d.decompose(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("agent: decomposing: %w", err)
	}
	subs, notes := Plan(q.Text, proposed, d.schema, d.most)
	all, err := d.carryOut(ctx, q, subs)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "decompose", Query: q.Text}
	for i := range subs {
		step.Found = append(step.Found, subs[i].ID+": "+subs[i].Text)
	}
	step.Found = append(step.Found, notes...)
	out := merge(all, q.Want())
	out.Steps = append([]graphrag.Step{step}, out.Steps...)
	return out, nil
}

// carryOut searches for all sub-queries, each as soon as it can be.
func (d decomposed) carryOut(ctx context.Context, q graphrag.Question, subs []SubQuery) ([]graphrag.Found, error) {
	found := make([]graphrag.Found, len(subs))
	done := make(map[string]chan struct{}, len(subs))
	place := make(map[string]int, len(subs))
	for i := range subs {
		done[subs[i].ID], place[subs[i].ID] = make(chan struct{}), i
	}
	g, gctx := errgroup.WithContext(ctx)
	for i := range subs {
		g.Go(func() error {
			s := subs[i]
			asked := q
			asked.Text = s.Text
			for _, id := range s.DependsOn {
				select {
				case <-done[id]:
					asked.Text += "\n" + best(found[place[id]])
				case <-gctx.Done():
					return gctx.Err()
				}
			}
			f, err := d.search(gctx, asked, s)
			if err != nil {
				return fmt.Errorf("agent: sub-query %s: %w", s.ID, err)
			}
			f.Steps = append([]graphrag.Step{{Kind: "search", Query: asked.Text, Found: chunkIDs(f.Read(q))}}, f.Steps...)
			found[i] = f
			close(done[s.ID])
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return found, nil
}

// best is the one thing that a search found that says most.
func best(f graphrag.Found) string {
	if len(f.Derived) > 0 {
		return clip(f.Derived[0].Text)
	}
	if len(f.Ranked) > 0 {
		return clip(f.Ranked[0].Chunk.Text)
	}
	return ""
}

func chunkIDs(hits []graphrag.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk.ID
	}
	return ids
}
