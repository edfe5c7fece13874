// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var name = regexp.MustCompile(`\bN\w+`)

// chains is a model that relates each name of a passage to the next one. A report tells its rows.
func chains() *llmtest.Script {
	return llmtest.NewScript("chains").Handle(llmtest.Stage(extract.StageRecords), func(req llm.Request) llm.Reply {
		var b strings.Builder
		names := name.FindAllString(req.Messages[len(req.Messages)-1].Text, -1)
		for i, n := range names {
			fmt.Fprintf(&b, `("entity"<|>%s<|>thing<|>%s is known.)##`, n, n)
			if i > 0 {
				fmt.Fprintf(&b, `("relationship"<|>%s<|>%s<|>%s follows %s.<|>1)##`, names[i-1], n, n, names[i-1])
			}
		}
		return llm.Reply{Text: b.String() + "<|COMPLETE|>"}
	}).Handle(llmtest.Stage(report.Stage), func(req llm.Request) llm.Reply {
		names := name.FindAllString(req.Messages[len(req.Messages)-1].Text, -1)
		slices.Sort(names)
		names = slices.Compact(names)
		return llm.Reply{Text: fmt.Sprintf(`{"title": "%s and others", "summary": "%d names.", "rating": 1, "rating_explanation": "x", "findings": [{"summary": "first", "explanation": "%s [Data: Entities (0); Relationships (0)]"}]}`, names[0], len(names), names[0])}
	})
}

// triangle is a document with a community of its own, tied to that of the next document.
func triangle(i int) graphrag.Document {
	return graphrag.Document{ID: fmt.Sprintf("%02d.md", i), Text: fmt.Sprintf("N%02da N%02db N%02dc N%02da. N%02dc", i, i, i, i, i+1)}
}

// grown is an index of documents with changes, the number of reports that each change asked for, and
// of those that are stale after it.
type grown struct {
	*kit.System
	model        *llmtest.Script
	asked, stale []int
}

func (g *grown) change(t *testing.T, insert bool, docs ...graphrag.Document) {
	t.Helper()
	before := stages(g.model)[report.Stage]
	update := g.Index
	if insert {
		update = g.Insert
	}
	stats := check.Of(update(t.Context(), graphrag.Documents(docs...))).OK(t)
	g.asked = append(g.asked, stages(g.model)[report.Stage]-before)
	for _, s := range stats.Stages {
		if s.Name == "report" {
			g.stale = append(g.stale, s.Stale)
		}
	}
}

func growing(t *testing.T, stale float64) *grown {
	t.Helper()
	m := chains()
	s := check.Of(msgraphrag.NewLocal(modelKit(t, m), msgraphrag.LocalOptions{Options: msgraphrag.Options{Stale: stale}})).OK(t)
	return &grown{System: s, model: m}
}

func (g *grown) reports(t *testing.T) (out []string) {
	t.Helper()
	for i := range 12 {
		found := check.Of(g.Retrieve(t.Context(), graphrag.Question{Text: fmt.Sprintf("N%02da", i), K: 3})).OK(t)
		for _, d := range found.Derived {
			if d.Kind == "report" {
				out = append(out, fmt.Sprint(d.Text, d.Docs))
			}
		}
	}
	return out
}

// A change asks for the reports whose rows it changed. With Stale a report is used until too many rows
// differ from those that it was written from, and a saved system opens with the same reports.
func TestStale(t *testing.T) {
	var docs []graphrag.Document
	for i := range 12 {
		docs = append(docs, triangle(i))
	}
	more := func(i int, names string) graphrag.Document {
		return graphrag.Document{ID: fmt.Sprintf("more%d.md", i), Text: fmt.Sprintf("N%02da %s", i, names)}
	}
	exact, some := growing(t, 0), growing(t, .5)
	for _, g := range []*grown{exact, some} {
		g.change(t, false, docs...)
		g.change(t, true, more(3, "Nx1"))
		g.change(t, true, more(7, "Nx2"))
		g.change(t, true, more(4, "Nx3 Nx4 Nx5 Nx6 Nx7 Nx8 Nx9 Ny1 Ny2"))
	}
	built := growing(t, 0)
	built.change(t, false, append(slices.Clone(docs), more(3, "Nx1"), more(7, "Nx2"), more(4, "Nx3 Nx4 Nx5 Nx6 Nx7 Nx8 Nx9 Ny1 Ny2"))...)
	check.Equal(t, exact.reports(t), built.reports(t), "exact differs from an index made at once")
	for i, asked := range exact.asked[1:] {
		check.True(t, asked != 0 && asked < exact.asked[0] && some.asked[i+1] <= asked && exact.stale[i+1] == 0,
			"reports asked for: exact %v, stale %v; stale reports %v", exact.asked, some.asked, exact.stale)
	}
	check.True(t, some.asked[1] == 0 && some.asked[2] == 0 && some.asked[3] > 0, "with Stale: reports asked for %v", some.asked)
	check.True(t, some.stale[0] == 0 && some.stale[1] > 0 && some.stale[2] > some.stale[1], "with Stale: stale %v", some.stale)
	exact.change(t, true, graphrag.Document{ID: "apart.md", Text: "N0 N0a N0b N0."}) // before all others in the order of names
	asked := exact.asked[len(exact.asked)-1]
	check.Equal(t, asked, 1, "a community of its own asks for %d reports", asked)
	dir := t.TempDir()
	check.OK(t, some.Save(t.Context(), dir))
	opened := growing(t, .5)
	check.OK(t, check.Err(opened.Open(t.Context(), dir)))
	diff := cmp.Diff(some.reports(t), opened.reports(t), cmpopts.EquateEmpty())
	check.True(t, diff == "" && opened.model.Calls() == 0, "opened, %d calls:\n%s", opened.model.Calls(), diff)
	opened.change(t, true, more(9, "Nz1"))
	if opened.asked[0] != 0 || opened.stale[0] <= some.stale[3] {
		t.Errorf("after opening: %d reports asked for, %d stale, %d before", opened.asked[0], opened.stale[0], some.stale[3])
	}
}

func offline() kit.Kit {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	return k
}

// ask indexes a few pages on polar exploration and asks one question.
func ask(s *kit.System, err error, q graphrag.Question) graphrag.Answer {
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, q)
	if err != nil {
		panic(err)
	}
	return a
}

func ExampleNewLocal() {
	s, err := msgraphrag.NewLocal(offline(), msgraphrag.LocalOptions{})
	a := ask(s, err, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(a.Text)
	fmt.Println(a.Derived[0].Kind, a.Derived[0].Docs)
	// Output:
	// The Fram was built by Colin Archer.
	// report [amundsen.md fram.md larvik.md]
}

func ExampleNewGlobal() {
	s, err := msgraphrag.NewGlobal(offline(), msgraphrag.GlobalOptions{})
	a := ask(s, err, graphrag.Question{Text: "Which ships sailed to Antarctica?", Form: graphrag.Overview})
	fmt.Println(a.Text)
	for _, report := range a.Derived {
		fmt.Println(report.Kind, report.Docs)
	}
	// Output:
	// Fridtjof Nansen sailed on the Fram in 1893. Colin Archer built the ship in Larvik for Fridtjof Nansen.
	//
	// Amundsen sailed on the Fram to Antarctica. Robert Scott sailed on the Terra Nova to Antarctica.
	// report [amundsen.md fram.md larvik.md]
	// report [amundsen.md scott.md]
	// report [amundsen.md scott.md]
}

func ExampleNewDrift() {
	s, err := msgraphrag.NewDrift(offline(), msgraphrag.DriftOptions{})
	a := ask(s, err, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(a.Ranked[0].Chunk.Doc)
	// Output:
	// fram.md
}
