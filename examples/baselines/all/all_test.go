// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/path"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every system is made, under its own name, of both kits, and of neither without
// the parts it needs.
func TestSystems(t *testing.T) {
	offline, model := baselinestest.OfflineKit(t), baselinestest.ModelKit(t, llmtest.NewScript("m"))
	seen := make(map[string]bool)
	for _, s := range systems(t) {
		made, err := s.New(model, kit.Common{})
		if err != nil || made.Name() != s.Name || seen[s.Name] {
			t.Errorf("%s: %v", s.Name, err)
		}
		for _, name := range append([]string{s.Name}, s.Also...) {
			seen[name] = true
			if found, ok := all.Find(name); !ok || found.Name != s.Name || !slices.Contains(all.Names(), name) {
				t.Errorf("%s is not found", name)
			}
		}
		if _, err := s.New(offline, kit.Common{}); (err != nil) != s.Blind {
			t.Errorf("%s offline: %v", s.Name, err)
		}
		if _, err := s.New(kit.Kit{}, kit.Common{}); err == nil || !strings.HasPrefix(err.Error(), s.Name) {
			t.Errorf("%s of an empty kit: %v", s.Name, err)
		}
		if _, err := s.New(model, kit.Common{MaxPerDoc: -1}); !s.Blind && (err == nil || !strings.Contains(err.Error(), "MaxPerDoc")) {
			t.Errorf("%s with -1 chunks of a page: %v", s.Name, err)
		}
	}
	if s, _ := all.Find("lightrag-naive"); s.Name != "naiverag" {
		t.Errorf("lightrag-naive is %q, want the system that it is", s.Name)
	}
	if _, ok := all.Find("no-such"); ok {
		t.Error("found what is not there")
	}
}

// Every agent is made of a kit with a model, under its own name, and of no other; a question
// takes the calls that its entry says, and one for the answer.
func TestAgents(t *testing.T) {
	offline := baselinestest.OfflineKit(t)
	graph := systems(t)
	for _, s := range all.Agents() {
		if at := slices.IndexFunc(graph, func(x all.System) bool { return x.Graph && "agentic:"+x.Name == s.Name }); at >= 0 {
			s = withGraph(t, s)
		}
		if found, ok := all.Find(s.Name); !ok || found.Name != s.Name || !slices.Contains(all.Names(), s.Name) {
			t.Errorf("%s is not found", s.Name)
		}
		if _, err := s.New(offline, kit.Common{}); (err != nil) != s.Agent || err != nil && !strings.HasPrefix(err.Error(), s.Name) {
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
		if err != nil || a.Text == "" || s.Agent && !slices.ContainsFunc(a.Steps, func(st graphrag.Step) bool { return st.Kind == "answer" }) {
			t.Errorf("%s: %+v, %v", s.Name, a, err)
		}
		if n := m.Calls() - before; s.Agent && n < 3 {
			t.Errorf("%s: %d calls, want two turns and an answer at least", s.Name, n)
		}
	}
	if !strings.Contains(all.Shown(all.Names()), "files, context; and agentic:NAME") {
		t.Error(all.Shown(all.Names()))
	}
}

func withGraph(t *testing.T, s all.System) all.System {
	ix, err := triples.New(t.Context(), triples.TSV("graph", strings.NewReader("Fram\tbuilder\tColin Archer")).All(), triples.Options{})
	baselinestest.OK(t, err)
	return s.WithGraph(ix)
}

// However many chunks of a page are found, a ranking has no more than MaxPerDoc.
func TestMaxPerDoc(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	for _, s := range systems(t) {
		if s.Blind {
			continue
		}
		for limit, want := range map[int]bool{0: true, 1: false} { // whether a page comes twice
			made, err := s.New(k, kit.Common{MaxPerDoc: limit, Cut: kit.Cut{Size: 20, Overlap: -1}})
			if err == nil {
				_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
			}
			baselinestest.OK(t, err)
			found, err := made.Retrieve(t.Context(), graphrag.Question{Text: "What is told of the Fram?", K: 10})
			if err != nil || len(found.Ranked) < 2 {
				t.Fatalf("%s: %d chunks, %v", s.Name, len(found.Ranked), err)
			}
			pages := make(map[string]bool)
			for _, h := range found.Ranked {
				pages[h.Chunk.Doc] = true
			}
			want = want && s.Name != wild.Name // ranks each page once
			if twice := len(pages) < len(found.Ranked); twice != want {
				t.Errorf("%s, at most %d chunks of a page: %d chunks of %d pages", s.Name, limit, len(found.Ranked), len(pages))
			}
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
		if s.Blind {
			continue
		}
		if s.Name == wild.Name {
			if err == nil {
				t.Error("wild takes a splitter")
			}
			continue
		}
		baselinestest.OK(t, err)
		if stats, err := made.Index(t.Context(), graphrag.Documents(page)); err != nil || stats.Chunks != 2 {
			t.Errorf("%s: %d chunks, %v", s.Name, stats.Chunks, err)
		}
	}
}

// Options that cannot work are refused by New, before anything is paid.
func TestBadOptions(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	nan, inf := math.NaN(), math.Inf(1)
	for name, tt := range map[string]struct {
		new  func() (*kit.System, error)
		want []string
	}{
		"hipporag": {func() (*kit.System, error) {
			return hipporag.New(k, hipporag.Options{Damping: 2, Synonyms: link.SynonymOptions{Threshold: 7}, Fallback: "9"})
		}, []string{"Damping", "Threshold is 7", "Fallback is 9"}},
		"hipporag2": {func() (*kit.System, error) {
			return hipporag2.New(k, hipporag2.Options{Damping: nan, PassageWeight: nan, Phrases: "9", Link: -1, Synonyms: link.SynonymOptions{Limit: -1}})
		}, []string{"Damping", "PassageWeight is NaN", "Phrases is 9", "Link is -1", "Limit is -1"}},
		"linearrag": {func() (*kit.System, error) {
			return linearrag.New(k, linearrag.Options{Damping: 2, Threshold: nan, Ratio: inf, Activation: "9", Sentences: -1})
		}, []string{"Damping", "Threshold is NaN", "Ratio is +Inf", "Activation is 9", "Sentences is -1"}},
		"lightrag": {func() (*kit.System, error) {
			return lightrag.New(k, lightrag.Options{Cosine: nan, Mode: "x", TotalTokens: -1})
		}, []string{"Cosine is NaN", "Mode is x", "TotalTokens is -1"}},
		"lightrag, cosine 5": {func() (*kit.System, error) { return lightrag.New(k, lightrag.Options{Cosine: 5}) }, []string{"Cosine is 5"}},
		"fastgraphrag": {func() (*kit.System, error) {
			return fastgraphrag.New(k, fastgraphrag.Options{Damping: nan, Threshold: nan, Entities: -1, Facts: -1})
		}, []string{"Damping", "Threshold is NaN", "Entities is -1", "Facts is -1"}},
		"msgraphrag-local": {func() (*kit.System, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{CommunityShare: nan, Tokens: -1, Options: msgraphrag.Options{Common: kit.Common{MaxPerDoc: -1}, MaxSize: 1}})
		}, []string{"CommunityShare is NaN", "Tokens is -1", "MaxPerDoc is -1", "MaxSize is 1"}},
		"msgraphrag-global": {func() (*kit.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Threshold: 9, ReduceTokens: -1, Options: msgraphrag.Options{Level: -2}})
		}, []string{"Threshold is 9", "ReduceTokens is -1", "Level is -2"}},
		"gear": {func() (*kit.System, error) {
			return gear.New(k, gear.Options{Steps: -1, LinkShare: nan, Expand: "x", Beam: path.BeamOptions{Width: -1}})
		}, []string{"Steps is -1", "LinkShare is NaN", "Expand is x", "Width is -1"}},
		"youtu": {func() (*kit.System, error) {
			return youtu.New(k, youtu.Options{Facts: -1, SubQueries: -1, Steps: -1, Tokens: -1, Mode: "x", NoSchema: true, Schema: &extract.Schema{},
				Communities: perception.Options{Epsilon: nan}, Paths: path.Options{Depth: -1}})
		}, []string{"Facts is -1", "SubQueries is -1", "Steps is -1", "Tokens is -1", "Mode is x", "NoSchema", "Epsilon is NaN", "Depth is -1"}},
	} {
		_, err := tt.new()
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in %v", name, want, err)
			}
		}
	}
}
