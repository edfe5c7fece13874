// SPDX-License-Identifier: Apache-2.0

package ircot

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name of the system in reports.
const Name = "hipporag-ircot"

// DefaultSteps is HippoRAG's setting for MuSiQue, the length of its longest chain of facts; for
// HotpotQA and 2Wiki it is 2. DefaultPassages is the number of passages of a step that are merged
// and shown to the model.
const (
	DefaultSteps    = 4
	DefaultPassages = 10
)

// Options of the system. The zero value is the default recipe.
type Options struct {
	hipporag.Options
	// Steps bounds the number of retrievals; Passages is the least number of chunks that a step
	// retrieves. 0 is the default of each.
	Steps, Passages int `source:"HippoRAG, for MuSiQue"`
}

// Defaults returns the options with zero values replaced by their defaults.
func (o Options) Defaults() Options {
	o.Steps, o.Passages = cmp.Or(o.Steps, DefaultSteps), cmp.Or(o.Passages, DefaultPassages)
	return o
}

// New returns HippoRAG with iterative retrieval.
func New(k kit.Kit, o Options) (*kit.System, error) {
	f := hipporag.Frame(k, o.Options)
	f.Name = Name
	return kit.New(Around(f, o.Steps, o.Passages))
}

// Around puts iterative retrieval around the retriever of any system; 0 for the defaults.
func Around(f kit.Frame, steps, passages int) kit.Frame {
	var c kit.Checks
	c.Min("Steps", float64(steps), 0)
	c.Min("Passages", float64(passages), 0)
	c.Add(f.Problems)
	f.Problems = c.Err()
	steps, passages = cmp.Or(steps, DefaultSteps), cmp.Or(passages, DefaultPassages)
	build := f.Build
	f.Build = func(ctx context.Context, corpus *kit.Corpus) (graphrag.Retriever, error) {
		inner, err := build(ctx, corpus)
		if err != nil {
			return nil, err
		}
		return around(inner, f.Kit, steps, passages)
	}
	return f
}

func around(inner graphrag.Retriever, k kit.Kit, steps, passages int) (graphrag.Retriever, error) {
	scaled := graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := inner.Retrieve(ctx, q)
		return scale(found), err
	})
	var r graphrag.Retriever = graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := scaled(ctx, q)
		found.Steps = append([]graphrag.Step{{Kind: "search", Query: q.Text}}, found.Steps...)
		return found, err
	})
	var err error
	if steps > 1 {
		r, err = agent.Reflecting(r, scaled, kit.Step(k.AnswerModel, byModel(k, passages), noThought), agent.Options{Steps: steps - 1, GoOn: true,
			Merge: func(_ context.Context, all []graphrag.Found, want int) (graphrag.Found, error) {
				return retrieve.Highest(all, want)
			}})
	}
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		q.Depth = max(q.Depth, passages)
		return r.Retrieve(ctx, q)
	}), err
}

// scale divides the scores of a step by the best one, so that the scores of steps compare even if one
// ran PageRank and another did not.
func scale(found graphrag.Found) graphrag.Found {
	if len(found.Ranked) == 0 || found.Ranked[0].Score <= 0 {
		return found
	}
	found.Ranked = slices.Clone(found.Ranked)
	top := found.Ranked[0].Score
	for i := range found.Ranked {
		found.Ranked[i].Score /= top
	}
	return found
}
