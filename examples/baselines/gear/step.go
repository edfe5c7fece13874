// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/beam"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// remembered is how many of the triples that are read go to the memory: those most
// like the query. A model is asked for no more than that.
const remembered = mostTriples

// step is one step of the search: retrieve, read, and with the graph expand, align,
// fuse and read again.
func (s *searcher) step(expand bool) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := s.retrieve(ctx, q)
		if err != nil {
			return graphrag.Found{}, err
		}
		passages := s.first(found)
		near, err := s.read(ctx, q.Text, passages)
		if err != nil {
			return graphrag.Found{}, err
		}
		if expand && len(near) > 0 {
			reached, err := s.expand(ctx, q, near)
			if err != nil {
				return graphrag.Found{}, err
			}
			found = retrieve.Fused([]graphrag.Found{reached, found}, max(q.Want(), s.o.Passages))
			if others := s.first(found); !slices.Equal(others, passages) {
				if near, err = s.read(ctx, q.Text, others); err != nil {
					return graphrag.Found{}, err
				}
			}
		}
		found.Derived, err = s.memory(ctx, q.Text, near)
		return found, err
	})
}

// retrieve retrieves as many passages as are read, at least.
func (s *searcher) retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	q.Depth = max(q.Want(), s.o.Passages)
	return s.base.Retrieve(ctx, q)
}

// first are the passages that triples are read from.
func (s *searcher) first(found graphrag.Found) []int32 {
	var out []int32
	for _, h := range found.Ranked[:min(s.o.Passages, len(found.Ranked))] {
		out = append(out, s.place[h.Chunk.ID])
	}
	return out
}

// memory are the triples most like the query as facts to remember.
func (s *searcher) memory(ctx context.Context, query string, near []proximal) ([]graphrag.Derived, error) {
	like, err := s.likeness(ctx, query)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(near))
	for i, p := range near {
		texts[i] = p.text()
	}
	scores, err := like(ctx, texts)
	if err != nil {
		return nil, err
	}
	var out []graphrag.Derived
	for _, i := range best(scores, remembered) {
		out = append(out, graphrag.Derived{Kind: "fact", Text: texts[i], Docs: s.docs(near[i].passages)})
	}
	return out, nil
}

func (s *searcher) docs(passages []int32) (out []string) {
	for _, p := range passages {
		if doc := s.corpus.Chunks[p].Doc; !slices.Contains(out, doc) {
			out = append(out, doc)
		}
	}
	return out
}

// best are the places of the largest scores, the first of equal ones first.
func best(scores []float64, n int) []int32 {
	var top rank.Top[int32]
	top.Reset(n)
	for i, score := range scores {
		top.Push(int32(i), score)
	}
	var out []int32
	for _, x := range top.Append(nil) {
		out = append(out, x.ID)
	}
	return out
}

// expand goes from the triples that were read to those of the graph, through it, and
// back to passages.
func (s *searcher) expand(ctx context.Context, q graphrag.Question, near []proximal) (graphrag.Found, error) {
	var start []int32
	for _, p := range near {
		if t := s.link(p); t >= 0 {
			start = append(start, t)
		}
	}
	like, err := s.likeness(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	chains, err := beam.Search(ctx, &around{s, like}, start, s.o.Beam)
	if err != nil {
		return graphrag.Found{}, err
	}
	reached := beam.Flatten(chains)
	order, err := s.align(ctx, reached)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "expand", Query: q.Text}
	for _, t := range reached {
		step.Found = append(step.Found, s.graph.Triple(t).Text())
	}
	return graphrag.Found{Ranked: s.corpus.InOrder(order, len(order), Name), Steps: []graphrag.Step{step}}, nil
}

// link is the triple of the graph that one stands for: the first that is found for
// its words, if it is alike enough and they share the name of an end; -1 if none is.
// Without these two conditions the words of a triple lead to whatever has some of
// them (GeAR-s, section 6).
func (s *searcher) link(p proximal) int32 {
	if p.id >= 0 {
		return p.id
	}
	hits := s.graph.Search(p.text(), 1, nil)
	if len(hits) == 0 || hits[0].Score < s.o.LinkShare*s.graph.Whole(p.text()) {
		return -1
	}
	t := s.graph.Triple(hits[0].ID)
	for _, a := range []string{p.Head, p.Tail} {
		for _, b := range []string{t.Head.Label, t.Tail.Label} {
			if name := text.FoldName(a); name != "" && name == text.FoldName(b) {
				return hits[0].ID
			}
		}
	}
	return -1
}

// align maps triples to passages, in their order: to those that state them, if the
// system is the original, and otherwise to those that are found for their words
// (GeAR-s, equation 3).
func (s *searcher) align(ctx context.Context, reached []int32) ([]int32, error) {
	var order []int32
	seen := make(map[int32]bool)
	for _, t := range reached {
		passages, err := s.aligned(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, p := range passages {
			if !seen[p] {
				seen[p] = true
				order = append(order, p)
			}
		}
	}
	return order, nil
}

func (s *searcher) aligned(ctx context.Context, t int32) (out []int32, err error) {
	if s.o.Original {
		for _, p := range s.corpus.Graph.RelationPassages(t) {
			out = append(out, p.ID)
		}
		return out, nil
	}
	found, err := s.words.Retrieve(ctx, graphrag.Question{Text: s.graph.Triple(t).Text(), K: s.o.Aligned})
	for _, h := range found.Ranked {
		out = append(out, s.place[h.Chunk.ID])
	}
	return out, err
}

// likeness tells how like a query texts are, as the kit compares them.
func (s *searcher) likeness(ctx context.Context, query string) (func(context.Context, []string) ([]float64, error), error) {
	return func(ctx context.Context, texts []string) ([]float64, error) {
		t, err := s.corpus.Find(ctx, texts)
		if err != nil {
			return nil, err
		}
		return t.Scores(ctx, query, nil)
	}, nil
}

// around is the graph as the beam search sees it.
type around struct {
	*searcher
	like func(context.Context, []string) ([]float64, error)
}

// looked is how many neighbors of a triple are looked at for one that is kept.
const looked = 10

func (a *around) Neighbors(ctx context.Context, list []int32, limit int) ([][]int32, error) {
	out := make([][]int32, len(list))
	for i, t := range list {
		out[i] = a.graph.Neighbors(t, looked*limit, nil)
	}
	return out, ctx.Err()
}

func (a *around) Scores(ctx context.Context, chains [][]int32) ([]float64, error) {
	texts := make([]string, len(chains))
	for i, c := range chains {
		for j, t := range c {
			if j > 0 {
				texts[i] += " "
			}
			texts[i] += a.graph.Triple(t).Text()
		}
	}
	return a.like(ctx, texts)
}
