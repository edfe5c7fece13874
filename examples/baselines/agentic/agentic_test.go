// SPDX-License-Identifier: Apache-2.0

package agentic_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/agentic"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func around(k kit.Kit) (*kit.System, error) {
	inner, err := flat.NewBM25(k, flat.BM25Options{})
	if err != nil {
		return nil, err
	}
	return agentic.Around(inner, agentic.Loop{})
}

func files(k kit.Kit) (*kit.System, error) { return agentic.NewFiles(k, agentic.Options{}) }

func whole(k kit.Kit) (*kit.System, error) { return agentic.NewContext(k, agentic.ContextOptions{}) }

// Without a model there is nobody to decide.
func TestNeedsAModel(t *testing.T) {
	for name, make := range map[string]func(kit.Kit) (*kit.System, error){"agentic:bm25": around, "files": files} {
		_, err := make(baselinestest.OfflineKit(t))
		check.True(t, err != nil && strings.HasPrefix(err.Error(), name+": ") && strings.Contains(err.Error(), "without a model"), "%s: %v", name, err)
	}
}

// The prompt has the same pages for every question, sorted by name, and names the pages that do not fit.
func TestContextSaysWhatDidNotFit(t *testing.T) {
	s := check.Of(whole(baselinestest.OfflineKit(t))).OK(t)
	baselinestest.Index(t, s, baselinestest.Pages...)
	var first []string
	for _, q := range baselinestest.Questions[:3] {
		q.Tokens = 90
		f := check.Of(s.Retrieve(t.Context(), q)).OK(t)
		var docs []string
		for _, h := range f.Evidence {
			docs = append(docs, h.Chunk.Doc)
		}
		if first == nil {
			first = docs
		}
		check.True(t, slices.Equal(first, docs) && slices.IsSorted(docs) && len(docs) >= 2, "%q reads %v, the first question %v", q.Text, docs, first)
		check.True(t, len(f.Steps) == 1 && len(f.Steps[0].Found)+len(docs) == 5 && strings.Contains(f.Steps[0].Query, "of 5 pages did not fit"), "%+v", f.Steps)
	}
}

// The prompts for two questions over the same pages have the same beginning, up to the question.
func TestContextKeepsThePrefix(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, "So it is [1].")
	s := check.Of(whole(baselinestest.ModelKit(t, m))).OK(t)
	baselinestest.Index(t, s, baselinestest.Pages...)
	var begins []string
	for _, q := range baselinestest.Questions[:2] { // both questions have the same form
		check.OK(t, check.Err(s.Answer(t.Context(), q)))
		req := m.Requests()[m.Calls()-1]
		begin, _, ok := strings.Cut(req.Messages[1].Text, "Question: ")
		begins = append(begins, req.Messages[0].Text+begin)
		check.True(t, ok && strings.Contains(begin, "tides of the sea"), "%q", begin)
	}
	check.Equal(t, begins[0], begins[1], "the prompts begin otherwise")
}

// An agent over a folder reads nothing outside of it, even if a link or a path leads there.
func TestFilesKeepToTheFolder(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(outside, "secret.md"): "The passphrase is swordfish.", filepath.Join(folder, "owl.md"): "The owl has no passphrase."} {
		check.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	if err := errors.Join(os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(folder, "link.md")), os.Symlink(outside, filepath.Join(folder, "linked"))); err != nil {
		t.Skip(err)
	}
	up := "../" + filepath.Base(outside) + "/secret.md"
	replies := []string{
		`{"calls": [{"tool": "find", "pattern": "passphrase"}, {"tool": "read", "source": "link.md"}, {"tool": "read", "source": "linked/secret.md"}, {"tool": "read", "source": "` + up + `"}]}`,
		`{"answer": "It has none.", "ids": [1, 2]}`,
	}
	m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		return llm.Reply{Text: replies[min(len(req.Messages)/2-1, 1)], Finish: llm.FinishStop}
	})
	s := check.Of(files(baselinestest.ModelKit(t, m))).OK(t)
	check.OK(t, check.Err(s.Index(t.Context(), load.Documents(t.Context(), os.DirFS(folder)))))
	f, err := s.Retrieve(t.Context(), graphrag.Question{Text: "What is the passphrase?", K: 3})
	check.True(t, err == nil && len(f.Evidence) == 1 && f.Evidence[0].Chunk.Doc == "owl.md", "%+v, %v", f.Evidence, err)
	refused := 0
	for _, step := range f.Steps {
		if step.Kind == agent.ToolRead && strings.Contains(fmt.Sprint(step.Found), "there is no page") {
			refused++
		}
	}
	check.Equal(t, refused, 3, "%d of 3 paths out are refused: %+v", refused, f.Steps)
}

// byRule searches for the question, and then in each turn for the question with a new name from what was found,
// which the question does not have and no search had.
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

// bestName returns the name that occurs in most of the hits, the first hits before others, and not in a text.
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

// The rule without a model whose figures docs/graph-or-agent.md has: with the same budget it finds more than
// one search by words, and less than one search by wild, so it has no row.
func TestRule(t *testing.T) {
	data := baselinestest.LoadMuSiQue(t)
	k := baselinestest.OfflineKit(t)
	for name, made := range map[string]func() (*kit.System, error){
		"bm25": func() (*kit.System, error) { return flat.NewBM25(k, flat.BM25Options{}) },
		"wild": func() (*kit.System, error) { return wild.New(k, wild.Options{}) },
	} {
		s := check.Of(made()).OK(t)
		baselinestest.Index(t, s, data.Docs...)
		f := s.Frame()
		build := f.Builder()
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
