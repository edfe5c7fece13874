// SPDX-License-Identifier: Apache-2.0

// Package agentic searches with an agent: a model that searches repeatedly, and answers from the passages that
// it read and cited (Do We Still Need GraphRAG, arXiv 2604.09666). [Around] wraps any system of the registry.
//
// Two more systems have no index. The agent of [NewFiles] finds lines by patterns and reads the
// text around them (Is Grep All You Need, arXiv 2605.15184); [NewContext] puts all pages that fit
// into the prompt, in a fixed order, so that a provider can cache the prompt's beginning.
package agentic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// The names of the systems in reports. The name of an agent around a system is the prefix and the system's
// name.
const (
	Prefix      = "agentic:"
	NameFiles   = "files"
	NameContext = "context"
)

// Infos describe the two systems that have no index.
var Infos = []kit.Info{
	kit.InfoOf(kit.Info{
		Name: NameFiles, Calls: kit.Calls{Question: 2}, NeedsModel: true,
	}, Options{}, NewFiles),
	kit.InfoOf(kit.Info{
		Name: NameContext,
	}, ContextOptions{}, NewContext),
}

// ErrModel is wrapped by the errors about a kit that answers without a model.
var ErrModel = errors.New("the kit answers without a model (AnswerModel): take kit.ByModel")

// Around returns an agent that searches with a system repeatedly. It needs a kit with an answering
// model: rules as an agent lose to one search of a good system (docs/graph-or-agent.md).
func Around(s *kit.System, l Loop) (*kit.System, error) {
	f := s.Frame()
	f.Name, f.Flat = Prefix+f.Name, false
	if f.Kit.AnswerModel == nil {
		return nil, fmt.Errorf("%s: %w", f.Name, ErrModel)
	}
	f.Problems = l.check(f.Problems)
	build, rerank := f.Builder(), f.Kit.Rerank
	f.Kit.Rerank = nil // the order of citations is the agent's, so nothing reranks it
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		inner, err := build(ctx, c)
		if err != nil {
			return nil, err
		}
		if rerank != nil {
			inner = retrieve.Rerank(inner, rerank)
		}
		return l.search(f.Kit, inner, find.New(c.Chunks))
	}
	return kit.New(f)
}

// Loop has the options of an agent's loop.
type Loop struct {
	// Turns bounds the turns, Calls the calls of a turn, and Tokens the evidence of a question
	// that has no budget.
	Turns, Calls, Tokens int `source:"ours"`
	// Condense has the model shorten the results of each turn (Search-o1).
	Condense bool `source:"ours"`
}

// Defaults returns the options with zero values replaced by their defaults.
func (l Loop) Defaults() Loop {
	l.Turns, l.Calls, l.Tokens = cmp.Or(l.Turns, agent.DefaultTurns), cmp.Or(l.Calls, agent.DefaultCalls), cmp.Or(l.Tokens, agent.DefaultRead)
	return l
}

// check returns the faults of the options together with the given error.
func (l Loop) check(others error) error {
	var c kit.Checks
	c.Min("Agent.Turns", float64(l.Turns), 0)
	c.Min("Agent.Calls", float64(l.Calls), 0)
	c.Min("Agent.Tokens", float64(l.Tokens), 0)
	c.Add(others)
	return c.Err()
}

// search returns an agent that searches with a retriever, unless it is nil, and with the tools over pages.
func (l Loop) search(k kit.Kit, r graphrag.Retriever, pages *find.Pages) (graphrag.Retriever, error) {
	next, err := agent.NextByModel(k.AnswerModel)
	if err != nil {
		return nil, err
	}
	o := agent.SearchOptions{ToolOptions: agent.ToolOptions{Retriever: r, Pages: pages, Count: k.Count, Tokens: l.Tokens}, Turns: l.Turns, Calls: l.Calls}
	if l.Condense {
		o.Condense = k.AnswerModel
	}
	return agent.Search(next, o)
}

// Options of the system that [NewFiles] returns.
type Options struct {
	kit.Common
	Agent Loop
}

// NewFiles returns the system without an index, whose agent only has the tools find and read.
func NewFiles(k kit.Kit, o Options) (*kit.System, error) {
	if k.Count != nil && k.AnswerModel == nil {
		return nil, fmt.Errorf("%s: %w", NameFiles, ErrModel)
	}
	return whole(k, o.Common, NameFiles, o.Agent.check(nil), func(_ context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return o.Agent.search(k, nil, find.New(c.Chunks))
	})
}

// ContextOptions are the options of the system that [NewContext] returns.
type ContextOptions struct{ kit.Common }

// NewContext returns the system that puts all pages into the prompt, in the order of their names.
func NewContext(k kit.Kit, o ContextOptions) (*kit.System, error) {
	return whole(k, o.Common, NameContext, nil, func(_ context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		lengths := make([]int, len(c.Chunks))
		for i, page := range c.Chunks {
			lengths[i] = k.Count(page.Prompt())
		}
		return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			return fill(c.Chunks, lengths, q, k.Count), ctx.Err()
		}), nil
	})
}

// fill returns the first pages that fit into the budget, so that prompts begin alike for every question.
func fill(pages []graphrag.Chunk, lengths []int, q graphrag.Question, count func(string) int) graphrag.Found {
	const mostNamed = 20          // largest number of omitted pages that a step names
	const contextTokens = 100_000 // default budget; with the reply it fits into a context of 128,000 tokens
	out := graphrag.Nothing()
	budget := q.Tokens
	if budget == 0 && q.K > 0 {
		budget = contextTokens
	}
	left := graphrag.Step{Kind: "left out"}
	out.Evidence = []graphrag.Hit{}
	for i, page := range pages {
		if lengths[i] > budget {
			left.Found = append(left.Found, page.Doc)
			continue
		}
		budget -= lengths[i]
		out.Evidence = append(out.Evidence, graphrag.Hit{Chunk: page, Score: 1 / float64(len(out.Evidence)+1), Source: NameContext})
	}
	if len(out.Evidence) == 0 && len(pages) > 0 {
		out.Evidence, _ = retrieve.Fit([]graphrag.Hit{{Chunk: pages[0], Score: 1, Source: NameContext}}, nil, budget, count)
	}
	if n := len(left.Found); n > 0 {
		left.Query = fmt.Sprintf("%d of %d pages did not fit", n, len(pages))
		left.Found = left.Found[:min(n, mostNamed)]
		out.Steps = []graphrag.Step{left}
	}
	out.Ranked = out.Evidence[:min(len(out.Evidence), q.Want())]
	return out
}

// whole returns a system whose chunks are whole pages.
func whole(k kit.Kit, o kit.Common, name string, problems error, build func(context.Context, *kit.Corpus) (graphrag.Retriever, error)) (*kit.System, error) {
	var c kit.Checks
	c.Add(problems)
	c.Want(o.Cut.Splitter == nil, "Cut.Splitter", "set", "none: pages are not cut")
	o.Cut = kit.Cut{Size: math.MaxInt32, Overlap: -1, KeepLinks: true}
	return kit.New(kit.Frame{Name: name, Common: o, Kit: k, Problems: c.Err(), Build: build})
}
