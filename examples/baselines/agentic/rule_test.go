// SPDX-License-Identifier: Apache-2.0

package agentic_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// byRule searches for the question, and then, turn by turn, for the name in what was found that
// the question does not have and no search had yet, with the question.
func byRule(t *testing.T) agent.Next {
	t.Helper()
	x := check.Of(rules.New(rules.Options{})).OK(t)
	return func(ctx context.Context, tr *agent.Memory) (agent.Move, error) {
		query := tr.Question.Text
		asked := text.FoldName(query)
		if len(tr.Turns) > 0 {
			for _, r := range tr.Turns {
				for _, c := range r.Calls {
					asked += " " + text.FoldName(c.Query)
				}
			}
			name, err := bestName(ctx, x, tr.Found.Evidence, asked)
			if err != nil || name == "" || tr.Last() {
				return agent.Move{}, err
			}
			query = name + " " + query
		}
		return agent.Move{Calls: []agent.Call{{Tool: agent.ToolSearch, Query: query}}}, nil
	}
}

// bestName is the name that most of the hits, and the first ones, have and a text has not.
func bestName(ctx context.Context, x *rules.Extractor, hits []graphrag.Hit, but string) (string, error) {
	var chunks []graphrag.Chunk
	for _, h := range hits {
		chunks = append(chunks, h.Chunk)
	}
	found, err := x.Extract(ctx, chunks)
	weight, spelled := make(map[string]float64), make(map[string]string)
	for i, e := range found {
		for _, m := range e.Mentions {
			name := text.FoldName(m.Name)
			if m.Type != rules.Date && name != "" && !strings.Contains(" "+but+" ", " "+name+" ") {
				weight[name] += 1 / float64(i+1)
				spelled[name] = cmp.Or(spelled[name], m.Name)
			}
		}
	}
	var names []string
	for name := range weight {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b)) })
	if len(names) == 0 {
		return "", err
	}
	return spelled[names[0]], err
}

// The rule without a model that docs/graph-or-agent.md has the figures of: at one budget it
// finds more than one search of words, and less than one search of wild, so it is no row.
func TestRule(t *testing.T) {
	data := baselinestest.LoadMuSiQue(t)
	k := baselinestest.OfflineKit(t)
	for name, made := range map[string]func() (*kit.System, error){
		"bm25": func() (*kit.System, error) { return flat.NewBM25(k, flat.BM25Options{}) },
		"wild": func() (*kit.System, error) { return wild.New(k, wild.Options{}) },
	} {
		s, err := made()
		check.OK(t, err)
		baselinestest.Index(t, s, data.Docs...)
		f := s.Frame()
		build := f.Build
		f.Flat, f.Build = false, func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			inner, err := build(ctx, c)
			if err != nil {
				return nil, err
			}
			return agent.Search(byRule(t), agent.SearchOptions{ToolOptions: agent.ToolOptions{Retriever: inner, Count: k.Count}})
		}
		again, err := kit.New(f)
		if err == nil {
			_, err = again.Index(t.Context(), graphrag.Documents(data.Docs...))
		}
		check.OK(t, err)
		recall := func(r graphrag.Retriever) float64 {
			sum := 0.0
			for _, it := range data.Items {
				asked := graphrag.Question{Text: it.Question.Text, K: 20, Depth: 20, Tokens: 4000}
				found := check.Of(r.Retrieve(t.Context(), asked)).OK(t)
				var docs []string
				for _, h := range found.Read(asked) {
					docs = append(docs, h.Chunk.Doc)
				}
				sum += it.Recall(docs)
			}
			return 100 * sum / float64(len(data.Items))
		}
		once, rule := recall(s), recall(again)
		t.Logf("%s: one search %.1f, by rule %.1f", name, once, rule)
		check.True(t, (rule > once) == (name == "bm25"), "%s: one search %.1f, by rule %.1f", name, once, rule)
	}
}
