// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm"
)

// reflectByModel asks a model whether the triples in memory answer the question, and
// for the next query if not (GeAR-s, equation 5; GeAR, equations 6 and 7). A reply
// that cannot be used ends the search.
func reflectByModel(m llm.Model) agent.Next {
	return func(ctx context.Context, memory *agent.Memory) (agent.Move, error) {
		req, err := prompts.Request(ctx, StageReflect, "reflect", nil,
			llm.Data{Label: "question", Text: memory.Question.Text},
			llm.Data{Label: "triples", Text: factLines(memory.Found)},
			llm.Data{Label: "searches", Text: searches(memory)})
		if err != nil {
			return agent.Move{}, err
		}
		reply, _, err := llm.Decode[verdict](ctx, m, req)
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

// Check implements the check of llm.Decode.
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

func searches(m *agent.Memory) string {
	var b strings.Builder
	for i, t := range m.Turns {
		b.WriteString(strconv.Itoa(i+1) + ". " + t.Query + "\n")
	}
	return strings.TrimSpace(b.String())
}

// reflectByRules adds the new words of the first triple in memory to the question: "When was the
// director of Laughter in Hell born?" and "Edward L. Cahn directed Laughter in Hell" make a query with
// Edward L. Cahn.
func reflectByRules(_ context.Context, m *agent.Memory) (agent.Move, error) {
	for _, d := range m.Found.Derived {
		if query := rewrite(m.Question.Text, d.Text); d.Kind == "fact" && query != "" && !m.Asked(query) {
			return agent.Move{Query: query, Thought: d.Text}, nil
		}
	}
	return agent.Move{}, nil
}

// rewrite returns a question with the new words of a fact; "" without new words.
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
		for _, d := range retrieve.Fused(all, want).Derived {
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
	return retrieve.Fused(lists, want), nil
}

// keepAll filters nothing.
func keepAll(_ context.Context, _ string, passages []graphrag.Chunk) ([]int, error) {
	places := make([]int, len(passages))
	for i := range places {
		places[i] = i
	}
	return places, nil
}

// filterByModel has a model drop the passages that do not help (GeAR-s, equation 6). An empty list drops
// all; a reply that cannot be used, or that names no passage, drops none.
func filterByModel(m llm.Model) filter {
	return func(ctx context.Context, question string, passages []graphrag.Chunk) ([]int, error) {
		all, _ := keepAll(ctx, question, passages)
		if len(passages) < 2 {
			return all, ctx.Err()
		}
		data := []llm.Data{{Label: "question", Text: question}}
		for i, c := range passages {
			data = append(data, llm.Data{Label: "passage " + strconv.Itoa(i+1), Text: strings.TrimSpace(c.Title + "\n" + c.Text)})
		}
		req, err := prompts.Request(ctx, StageFilter, "filter", nil, data...)
		if err != nil {
			return nil, err
		}
		reply, _, err := llm.Decode[struct{ Keep []int }](ctx, m, req)
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

// finish filters the evidence before the cut to K, so that lower passages replace the dropped ones. The
// ranking is not filtered.
func (s *searcher) finish(r graphrag.Retriever) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := r.Retrieve(ctx, q)
		if err != nil {
			return graphrag.Found{}, err
		}
		found.Ranked = retrieve.Capped(found.Ranked, s.o.MaxPerDoc)
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
