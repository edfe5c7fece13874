// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every system is made, under its own name, of both kits, and of neither without
// the parts it needs.
func TestSystems(t *testing.T) {
	offline, model := baselinestest.OfflineKit(t), baselinestest.ModelKit(t, llmtest.NewScript("m"))
	seen := make(map[string]bool)
	for _, s := range systems(t) {
		made, err := s.New(model, kit.Common{})
		check.True(t, err == nil && made.Name() == s.Name && !seen[s.Name], "%s: %v", s.Name, err)
		for _, name := range append([]string{s.Name}, s.Also...) {
			seen[name] = true
			if found, ok := all.Find(name); !ok || found.Name != s.Name || !slices.Contains(all.Names(), name) {
				t.Errorf("%s is not found", name)
			}
		}
		_, err = s.New(offline, kit.Common{})
		check.True(t, (err != nil) == s.NoDocuments, "%s offline: %v", s.Name, err)
		_, err = s.New(kit.Kit{}, kit.Common{})
		check.True(t, err != nil && strings.HasPrefix(err.Error(), s.Name), "%s of an empty kit: %v", s.Name, err)
		if _, err := s.New(model, kit.Common{MaxPerDoc: -1}); !s.NoDocuments && (err == nil || !strings.Contains(err.Error(), "MaxPerDoc")) {
			t.Errorf("%s with -1 chunks of a page: %v", s.Name, err)
		}
	}
	s, _ := all.Find("lightrag-naive")
	check.Equal(t, s.Name, "naiverag", "lightrag-naive is %q, want the system that it is", s.Name)
	_, ok := all.Find("no-such")
	check.True(t, !ok, "found what is not there")
}

// Every agent is made of a kit with a model, under its own name, and of no other; a question
// takes the calls that its entry says, and one for the answer.
func TestAgents(t *testing.T) {
	offline := baselinestest.OfflineKit(t)
	graph := systems(t)
	for _, s := range all.Agents() {
		if at := slices.IndexFunc(graph, func(x all.System) bool { return x.NeedsGraph && "agentic:"+x.Name == s.Name }); at >= 0 {
			s = withGraph(t, s)
		}
		found, ok := all.Find(s.Name)
		check.True(t, ok && found.Name == s.Name && slices.Contains(all.Names(), s.Name), "%s is not found", s.Name)
		if _, err := s.New(offline, kit.Common{}); (err != nil) != s.NeedsModel || err != nil && !strings.HasPrefix(err.Error(), s.Name) {
			t.Errorf("%s offline: %v", s.Name, err)
		}
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		made, err := s.New(baselinestest.ModelKit(t, m), kit.Common{})
		if err != nil || made.Name() != s.Name {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if _, err := made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...)); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		before := m.Calls()
		a, err := made.Answer(t.Context(), baselinestest.Questions[0])
		if err != nil || a.Text == "" || s.NeedsModel && !slices.ContainsFunc(a.Steps, func(st graphrag.Step) bool { return st.Kind == "answer" }) {
			t.Errorf("%s: %+v, %v", s.Name, a, err)
		}
		n := m.Calls() - before
		check.True(t, !s.NeedsModel || n >= 3, "%s: %d calls, want two turns and an answer at least", s.Name, n)
	}
	check.Contains(t, all.Shown(all.Names()), "files, context; and agentic:NAME")
}

func withGraph(t *testing.T, s all.System) all.System {
	ix := check.Of(triples.New(t.Context(), triples.TSV("graph", strings.NewReader("Fram\tbuilder\tColin Archer")).All(), triples.Options{})).OK(t)
	return s.WithGraph(ix)
}

// However many chunks of a page are found, a ranking has no more than MaxPerDoc.
func TestMaxPerDoc(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	for _, s := range systems(t) {
		if s.NoDocuments {
			continue
		}
		for limit, want := range map[int]bool{0: true, 1: false} { // whether a page comes twice
			made, err := s.New(k, kit.Common{MaxPerDoc: limit, Cut: kit.Cut{Size: 20, Overlap: -1}})
			if err == nil {
				_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
			}
			check.OK(t, err)
			found, err := made.Retrieve(t.Context(), graphrag.Question{Text: "What is told of the Fram?", K: 10})
			check.Must(t, err == nil && len(found.Ranked) >= 2,
				"%s: %d chunks, %v", s.Name, len(found.Ranked), err)
			pages := make(map[string]bool)
			for _, h := range found.Ranked {
				pages[h.Chunk.Doc] = true
			}
			want = want && s.Name != wild.Name // ranks each page once
			check.True(t, (len(pages) < len(found.Ranked)) == want,
				"%s, at most %d chunks of a page: %d chunks of %d pages", s.Name, limit, len(found.Ranked), len(pages))
		}
	}
}

// A splitter of one's own cuts for every system but wild, which has its own rule and says so.
func TestOwnSplitter(t *testing.T) {
	halves := chunk.SplitterFunc(func(_ context.Context, text string) ([]chunk.Span, error) {
		middle := strings.IndexByte(text, '\n') + 1
		return []chunk.Span{{End: middle}, {Start: middle, End: len(text)}}, nil
	})
	page := graphrag.Document{ID: "fram", Title: "Fram", Text: "Colin Archer built the Fram in Larvik.\nRoald Amundsen sailed the Fram to Antarctica."}
	k := baselinestest.OfflineKit(t)
	for _, s := range systems(t) {
		made, err := s.New(k, kit.Common{Cut: kit.Cut{Splitter: halves, Name: "halves"}})
		if s.NoDocuments {
			continue
		}
		if s.Name == wild.Name {
			check.True(t, err != nil, "wild takes a splitter")
			continue
		}
		check.OK(t, err)
		stats, err := made.Index(t.Context(), graphrag.Documents(page))
		check.True(t, err == nil && stats.Chunks == 2, "%s: %d chunks, %v", s.Name, stats.Chunks, err)
	}
}
