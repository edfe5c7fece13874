// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// step is a step of the search: retrieve passages and read triples, then, if the graph is used, expand, align,
// fuse and read again.
func (s *searcher) step(expand bool) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		var g Graph
		if s.Graph != nil {
			g = s.Graph()
		}
		deep := q
		deep.Depth = max(q.Want(), s.o.Passages) // triples are read from that many passages
		found, err := s.base.Retrieve(ctx, deep)
		if err != nil {
			return graphrag.Found{}, err
		}
		seen := &around{Graph: g, question: q.Text, find: s.Find}
		passages := s.first(found)
		near, err := s.read(ctx, g, q.Text, passages)
		if err != nil {
			return graphrag.Found{}, err
		}
		if expand && len(near) > 0 {
			reached, err := s.expand(ctx, seen, q, near)
			if err != nil {
				return graphrag.Found{}, err
			}
			found = retrieve.FuseOptions{}.Merge([]graphrag.Found{reached, found}, max(q.Want(), s.o.Passages))
			if others := s.first(found); !slices.EqualFunc(others, passages, func(a, b graphrag.Chunk) bool { return a.ID == b.ID }) {
				if near, err = s.read(ctx, g, q.Text, others); err != nil {
					return graphrag.Found{}, err
				}
			}
		}
		found.Derived, err = s.memory(ctx, seen, near)
		return found, err
	})
}

// first returns the passages that triples are read from.
func (s *searcher) first(found graphrag.Found) []graphrag.Chunk {
	var out []graphrag.Chunk
	for _, h := range found.Ranked[:min(s.o.Passages, len(found.Ranked))] {
		out = append(out, h.Chunk)
	}
	return out
}

// memory returns the mostTriples triples most similar to the query, as facts. If the graph has all of them, its
// index compares them.
func (s *searcher) memory(ctx context.Context, seen *around, near []proximal) ([]graphrag.Derived, error) {
	texts, alone := make([]string, len(near)), make([][]int32, len(near))
	known := seen.joined != nil && len(near) > 0
	for i, p := range near {
		texts[i], alone[i] = p.text(), []int32{p.number}
		known = known && p.number >= 0
	}
	var scores []float64
	var err error
	if known {
		scores, err = seen.Scores(ctx, alone)
	} else if among, failed := s.Find(ctx, text.Strings(texts)); failed != nil {
		err = failed
	} else {
		scores, err = among.Scores(ctx, seen.question, nil)
	}
	if err != nil {
		return nil, err
	}
	var out []graphrag.Derived
	var top rank.Top[int32]
	top.Reset(mostTriples)
	for i, score := range scores {
		top.Push(int32(i), score)
	}
	for _, x := range top.Append(nil) {
		out = append(out, graphrag.Derived{Kind: "fact", Text: texts[x.ID], Provenance: near[x.ID].from})
	}
	return out, nil
}

// expand links the triples that were read to the graph, searches it, and aligns the triples reached with
// passages.
func (s *searcher) expand(ctx context.Context, g *around, q graphrag.Question, near []proximal) (graphrag.Found, error) {
	start, err := s.link(ctx, g.Graph, near)
	if err != nil {
		return graphrag.Found{}, err
	}
	chains, err := graph.Beam(ctx, g, start, s.o.Beam)
	if err != nil {
		return graphrag.Found{}, err
	}
	reached := graph.FlattenChains(chains)
	found, err := s.align(ctx, g.Graph, reached)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "expand", Query: q.Text}
	for _, t := range reached {
		step.Found = append(step.Found, g.Triple(t).Text())
	}
	found.Steps = []graphrag.Step{step}
	return found, nil
}

// link returns the triple of the graph for each triple that was read: the first triple found for its words
// (GeAR-s, equation 3), if the two are similar enough and have an end of the same name. The two conditions are
// ours: without them a few common words make a link (GeAR-s, section 6).
func (s *searcher) link(ctx context.Context, g Graph, near []proximal) (start []int32, err error) {
	var asked []proximal
	var texts []string
	for _, p := range near {
		if p.number >= 0 {
			start = append(start, p.number)
			continue
		}
		asked, texts = append(asked, p), append(texts, p.text())
	}
	if len(asked) == 0 {
		return start, nil
	}
	links, err := g.Link(ctx, texts, 1)
	if err == nil && len(links) != len(texts) {
		err = fmt.Errorf("gear: the graph returned links for %d of %d triples", len(links), len(texts))
	}
	if err != nil {
		return nil, err
	}
	for i, l := range links {
		if len(l.Best) == 0 {
			continue
		}
		if b := l.Best[0]; s.o.PlainLinks || b.Score >= s.o.LinkShare*l.Whole && sharesEnd(asked[i], g.Triple(b.ID)) {
			start = append(start, b.ID)
		}
	}
	return start, nil
}

func sharesEnd(p proximal, t triples.Triple) bool {
	for _, a := range []string{p.Head, p.Tail} {
		for _, b := range []string{t.Head.Label, t.Tail.Label} {
			if name := text.FoldName(a); name != "" && name == text.FoldName(b) {
				return true
			}
		}
	}
	return false
}

// align returns passages for triples, in their order: in the original the passages that state them, otherwise
// the passages found for their words (GeAR-s, equation 3).
func (s *searcher) align(ctx context.Context, g Graph, reached []int32) (graphrag.Found, error) {
	lists, err := s.aligned(ctx, g, reached)
	if err != nil {
		return graphrag.Found{}, err
	}
	out := graphrag.Nothing()
	seen := make(map[string]bool)
	for _, l := range lists {
		out.Usage = out.Usage.Add(l.Usage)
		for _, h := range l.Ranked {
			if !seen[h.Chunk.ID] {
				seen[h.Chunk.ID] = true
				out.Ranked = append(out.Ranked, graphrag.Hit{Chunk: h.Chunk, Score: 1 / float64(len(seen)), Source: Name})
			}
		}
	}
	out.Ranked = retrieve.Ranking{PerDoc: s.o.MaxPerDoc}.Capped(out.Ranked)
	return out, nil
}

func (s *searcher) aligned(ctx context.Context, g Graph, reached []int32) ([]graphrag.Found, error) {
	if s.o.Original {
		return g.(Sourced).Sources(ctx, reached)
	}
	texts := make([]string, len(reached))
	for i, t := range reached {
		texts[i] = g.Triple(t).Text()
	}
	return search(ctx, s.Align, texts, 1)
}

// search retrieves k passages for each text.
func search(ctx context.Context, r graphrag.Retriever, texts []string, k int) ([]graphrag.Found, error) {
	if len(texts) == 0 {
		return nil, ctx.Err()
	}
	qs := make([]graphrag.Question, len(texts))
	for i, t := range texts {
		qs[i] = graphrag.Question{Text: t, K: k}
	}
	return retrieve.All(ctx, r, qs)
}

// around is a graph for the beam search of a question.
type around struct {
	Graph
	question string
	find     func(ctx context.Context, texts text.List) (retrieve.Texts, error)
	joined   func(ctx context.Context, query string, groups [][]int32) ([]float64, error) // compares triples; nil unless find compares by words
}

func (a *around) Neighbors(ctx context.Context, list []int32, limit int) ([][]int32, error) {
	return a.Graph.Neighbors(ctx, list, a.question, limit)
}

func (a *around) Scores(ctx context.Context, chains [][]int32) ([]float64, error) {
	if a.joined != nil {
		return a.joined(ctx, a.question, chains)
	}
	t, err := a.find(ctx, text.Strings(a.texts(chains)))
	if err != nil {
		return nil, err
	}
	if w, ok := t.(*retrieve.Words); ok {
		if ix := indexOf(a.Graph); ix != nil {
			a.joined = w.Joined(ix.Words())
		}
	}
	return t.Scores(ctx, a.question, nil)
}

// texts returns, for each chain of triples, their texts joined.
func (a *around) texts(chains [][]int32) []string {
	out := make([]string, len(chains))
	for i, c := range chains {
		for j, t := range c {
			if j > 0 {
				out[i] += " "
			}
			out[i] += a.Triple(t).Text()
		}
	}
	return out
}

// reflectByModel asks a model whether the triples in memory answer the question, and, if not, for the next
// query (GeAR-s, equation 5; GeAR, equations 6 and 7). A reply that cannot be used ends the search.
func reflectByModel(m llm.Model) agent.Next {
	return func(ctx context.Context, memory *agent.Memory) (agent.Move, error) {
		var searches strings.Builder
		for i, t := range memory.Turns {
			fmt.Fprintf(&searches, "%d. %s\n", i+1, t.Query)
		}
		req, err := templates.Request(ctx, StageReflect, "reflect", nil,
			prompts.Data{Label: "question", Text: memory.Question.Text},
			prompts.Data{Label: "triples", Text: factLines(memory.Found)},
			prompts.Data{Label: "searches", Text: strings.TrimSpace(searches.String())})
		if err != nil {
			return agent.Move{}, err
		}
		reply, _, err := replies.Decode[verdict](ctx, m, req)
		if llm.OfOneReply(err) {
			return agent.Move{}, nil
		}
		return agent.Move{Answered: reply.Answerable != nil && *reply.Answerable, Thought: reply.Missing, Query: reply.Next}, err
	}
}

type verdict struct {
	Answerable *bool  `json:"answerable"`
	Missing    string `json:"missing"`
	Next       string `json:"next_question"`
}

// Check reports a reply without the verdict.
func (v verdict) Check() error {
	if v.Answerable == nil {
		return errors.New(`the key "answerable" is missing`)
	}
	return nil
}

// factLines returns the triples in memory, one per line.
func factLines(found graphrag.Found) string {
	var b strings.Builder
	for _, d := range found.Derived {
		if d.Kind == "fact" {
			b.WriteString(d.Text + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// reflectByRules adds the new words of the first triple in memory to the question: "When was the director of
// Laughter in Hell born?" and "Edward L. Cahn directed Laughter in Hell" make a query with Edward L. Cahn.
func reflectByRules(_ context.Context, m *agent.Memory) (agent.Move, error) {
	for _, d := range m.Found.Derived {
		if query := rewrite(m.Question.Text, d.Text); d.Kind == "fact" && query != "" && !m.Asked(query) {
			return agent.Move{Query: query, Thought: d.Text}, nil
		}
	}
	return agent.Move{}, nil
}

// rewrite returns the question followed by the words that are only in the fact; "" if there are none.
func rewrite(question, fact string) string {
	asked := terms(question)
	var brought []string
	for _, w := range strings.Fields(fact) {
		if t := terms(w); len(t) > 0 && share(t, asked) < 1 {
			brought = append(brought, w)
		}
	}
	if len(brought) == 0 {
		return ""
	}
	return question + " " + strings.Join(brought, " ")
}

// fused merges the steps by rank. The original adds the passages found for each triple that a model
// read (GeAR, equations 8 and 9). Triples found by rules were not selected, so they are not used.
func (s *searcher) fused(ctx context.Context, all []graphrag.Found, want int) (graphrag.Found, error) {
	lists := slices.Clone(all)
	if s.voting {
		var texts []string
		for _, d := range (retrieve.FuseOptions{}).Merge(all, want).Derived {
			texts = append(texts, d.Text)
		}
		votes, err := search(ctx, s.base, texts, s.o.Passages)
		if err != nil {
			return graphrag.Found{}, err
		}
		for _, v := range votes {
			lists = append(lists, graphrag.Found{Ranked: v.Ranked, Usage: v.Usage})
		}
	}
	return retrieve.FuseOptions{}.Merge(lists, want), nil
}

// keepAll keeps every passage.
func keepAll(_ context.Context, _ string, passages []graphrag.Chunk) ([]int, error) {
	places := make([]int, len(passages))
	for i := range places {
		places[i] = i
	}
	return places, nil
}

// filterByModel lets a model drop passages that do not help (GeAR-s, equation 6). An empty list drops all
// passages. A reply that cannot be used, or that names no existing passage, drops none.
func filterByModel(m llm.Model) filter {
	return func(ctx context.Context, question string, passages []graphrag.Chunk) ([]int, error) {
		all, _ := keepAll(ctx, question, passages)
		if len(passages) < 2 {
			return all, ctx.Err()
		}
		data := []prompts.Data{{Label: "question", Text: question}}
		for i, c := range passages {
			data = append(data, prompts.Data{Label: "passage " + strconv.Itoa(i+1), Text: strings.TrimSpace(c.Title + "\n" + c.Text)})
		}
		req, err := templates.Request(ctx, StageFilter, "filter", nil, data...)
		if err != nil {
			return nil, err
		}
		reply, _, err := replies.Decode[struct{ Keep []int }](ctx, m, req)
		if err != nil && !llm.OfOneReply(err) {
			return nil, err
		}
		wanted := make(map[int]bool)
		for _, n := range reply.Keep {
			wanted[n-1] = true
		}
		var kept []int
		for _, i := range all {
			if wanted[i] {
				kept = append(kept, i)
			}
		}
		if len(kept) == 0 && (err != nil || reply.Keep == nil || len(reply.Keep) > 0) {
			return all, nil
		}
		return kept, nil
	}
}

// finish filters the evidence before it is cut to K, so that lower passages replace dropped ones. The ranking
// is not filtered.
func (s *searcher) finish(r graphrag.Retriever) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := r.Retrieve(ctx, q)
		if err != nil {
			return graphrag.Found{}, err
		}
		found.Ranked = retrieve.Ranking{PerDoc: s.o.MaxPerDoc}.Capped(found.Ranked)
		found.Ranked = found.Ranked[:min(len(found.Ranked), q.Want())]
		hits := found.Ranked[:min(len(found.Ranked), max(q.K, s.o.Passages))]
		chunks := make([]graphrag.Chunk, len(hits))
		for i, h := range hits {
			chunks[i] = h.Chunk
		}
		places, err := s.keep(ctx, q.Text, chunks)
		if err != nil {
			return graphrag.Found{}, err
		}
		if len(places) < len(hits) {
			places = places[:min(len(places), q.Reads())]
			found.Evidence = make([]graphrag.Hit, len(places))
			for i, p := range places {
				found.Evidence[i] = hits[p]
			}
		}
		return found, nil
	})
}
