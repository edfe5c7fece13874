// SPDX-License-Identifier: Apache-2.0

package hipporag2_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// With the recorded triples and no model, recall is at least that of the specification, section 11: 56.4 % at
// 5, 78.3 % at 20.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	for _, tt := range []struct {
		name string
		o    hipporag2.Options
		min  float64
	}{
		{"paper", hipporag2.Options{}, 56.4},
		{"mean", hipporag2.Options{Phrases: hipporag2.Mean}, 50},
		{"passage weight .01", hipporag2.Options{PassageWeight: .01}, 56.4},
	} {
		tt.o.Extract, tt.o.Cut.KeepLinks = m.Triples, true
		s := check.Of(hipporag2.New(k, tt.o)).OK(t)
		r := m.Measure(t, s)
		t.Logf("%-18s R@1 %.1f R@2 %.1f R@5 %.1f R@10 %.1f R@20 %.1f all@5 %.0f", tt.name, r.At[1], r.At[2], r.At[5], r.At[10], r.At[20], r.All[5])
		check.True(t, r.At[5] >= tt.min, "%s: R@5 %.1f, want %v", tt.name, r.At[5], tt.min)
	}
}

// The filter keeps the facts that the reply names, in its order; a changed fact selects the nearest one. If it
// keeps none, passages are ranked by vectors, and if it fails, all facts are kept.
func TestFilter(t *testing.T) {
	docs := []graphrag.Document{
		{ID: "a", Text: "Colin Archer built the Fram."}, {ID: "b", Text: "The Fram carried Amundsen."}, {ID: "c", Text: "Tides rise."},
	}
	reply := ""
	model := llmtest.NewScript("m").
		Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": ["Fram"]}`).
		Handle(llmtest.Stage(extract.StageTriples), func(req llm.Request) llm.Reply {
			switch text := req.Messages[1].Text; {
			case strings.Contains(text, "built"):
				return llm.Reply{Text: `{"triples": [["Colin Archer","built","Fram"]]}`}
			case strings.Contains(text, "carried"):
				return llm.Reply{Text: `{"triples": [["Fram","carried","Amundsen"]]}`}
			}
			return llm.Reply{Text: `{"triples": []}`}
		}).
		Handle(llmtest.Stage(hipporag2.StageFilter), func(llm.Request) llm.Reply { return llm.Reply{Text: reply} }).
		Reply(llmtest.Any, "Archer [1].")
	k := check.Of(kit.ByModel(kit.ModelOptions{Model: model})).OK(t)
	s := check.Of(hipporag2.New(k, hipporag2.Options{})).OK(t)
	stats, err := s.Index(t.Context(), func(yield func(graphrag.Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	})
	check.Must(t, err == nil && stats.Calls == 2*len(docs) && stats.Entities == 3 && stats.Relations == 2, "%+v, %v", stats, err)
	for _, tt := range []struct {
		name, reply, source string
		calls               int
	}{
		{"chosen", `{"fact": [["Fram","CARRIED","amundsen"],["Fram","carried","Amundsen"]]}`, hipporag2.Name, 2},
		{"changed", `{"fact": [["The Fram","was carrying","Amundsen"]]}`, hipporag2.Name, 2},
		{"nothing", `{"fact": []}`, "dense", 2},
		{"nonsense twice", `no`, hipporag2.Name, 3},
	} {
		reply = tt.reply
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Whom did the Fram carry?", K: 2, Depth: 3})
		check.Must(t, err == nil && len(a.Ranked) != 0, "%s: %v", tt.name, err)
		if a.Ranked[0].Source != tt.source || a.Usage.Calls != tt.calls {
			t.Errorf("%s: ranked by %s with %d calls, want %s with %d", tt.name, a.Ranked[0].Source, a.Usage.Calls, tt.source, tt.calls)
		}
		check.True(t, tt.name != "chosen" || a.Ranked[0].Chunk.Doc == "b", "first is %s", a.Ranked[0].Chunk.Doc)
	}
}

// A filter of the caller is used; an index out of range is refused.
func TestOwnFilter(t *testing.T) {
	place := 0
	k := baselinestest.OfflineKit(t)
	k.Filter = func(_ context.Context, _ string, facts []graphrag.Triple) ([]int, error) {
		check.True(t, len(facts) >= 2 && facts[0].Head != "", "found %v", facts)
		return []int{place}, nil
	}
	s := check.Of(hipporag2.New(k, hipporag2.Options{})).OK(t)
	baselinestest.Index(t, s, baselinestest.Pages...)
	for place = range 2 {
		found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Who built the Fram?", K: 2})
		if err != nil || len(found.Steps) != 2 || len(found.Steps[1].Found) != 1 || found.Steps[1].Found[0] != found.Steps[0].Found[place] {
			t.Errorf("fact %d is kept: %+v, %v", place, found.Steps, err)
		}
	}
	place = 1000
	check.True(t, check.Err(s.Retrieve(t.Context(), graphrag.Question{Text: "Who built the Fram?", K: 2})) != nil, "fact 1000 is kept")
}
