// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Two pages, each with a triangle of entities; ADA is on both. So there are two communities, {ADA, BELL, CAPE}
// and {DALE, EDEN, FORD}, and one entity with two descriptions.
var pages = []graphrag.Document{
	{ID: "one.md", Text: "Ada built the Bell at the Cape."},
	{ID: "two.md", Text: "Dale met Eden at the Ford. Ada was not there."},
}

const (
	one = `("entity"<|>ADA<|>person<|>Ada is a founder of bells)##("entity"<|>BELL<|>organization<|>The Bell is loud)##("entity"<|>CAPE<|>geo<|>The Cape is far south)##` +
		`("relationship"<|>ADA<|>BELL<|>Ada built the Bell<|>9)##("relationship"<|>BELL<|>CAPE<|>The Bell hangs at the Cape<|>5)##("relationship"<|>ADA<|>CAPE<|>Ada lives at the Cape<|>2)<|COMPLETE|>`
	two = `("entity"<|>DALE<|>person<|>Dale is a traveller)##("entity"<|>EDEN<|>person<|>Eden is a painter)##("entity"<|>FORD<|>geo<|>The Ford is shallow)##("entity"<|>ADA<|>person<|>Ada stayed at home)##` +
		`("relationship"<|>DALE<|>EDEN<|>Dale met Eden<|>4)##("relationship"<|>EDEN<|>FORD<|>Eden painted the Ford<|>4)##("relationship"<|>DALE<|>FORD<|>Dale crossed the Ford<|>4)<|COMPLETE|>`
)

// scripted is a model that extracts the triangles and answers everything else.
func scripted() *llmtest.Script {
	text := func(reply func(prompt string) string) llmtest.Handler {
		return func(req llm.Request) llm.Reply { return llm.Reply{Text: reply(req.Messages[len(req.Messages)-1].Text)} }
	}
	return llmtest.NewScript("scripted").
		Handle(llmtest.Stage(extract.StageRecords), text(func(p string) string {
			if strings.Contains(p, "Bell") {
				return one
			}
			return two
		})).
		Reply(llmtest.Stage(extract.StageGlean), "<|COMPLETE|>").
		Reply(llmtest.Stage(msgraphrag.StageDescribe), "Ada founded bells and stayed at home.").
		Handle(llmtest.Stage(report.Stage), text(func(p string) string {
			if strings.Contains(p, "BELL") {
				return `{"title": "The Bell", "summary": "Ada and her bell. [Data: Entities (0)]", "rating": 8, "rating_explanation": "Loud.", "findings": [{"summary": "Bell", "explanation": "Ada built it."}]}`
			}
			return `{"title": "The Ford", "summary": "People at a ford.", "rating": 2, "rating_explanation": "Quiet.", "findings": []}`
		}))
}

func modelKit(t *testing.T, m llm.Model) kit.Kit {
	t.Helper()
	var texts []string
	for _, p := range pages {
		texts = append(texts, p.Text)
	}
	e := check.Of(embed.FitLSA(t.Context(), texts, embed.LSAOptions{})).OK(t)
	return check.Of(kit.ByModel(kit.ModelOptions{Model: m, Embedder: e})).OK(t)
}

// stages counts the calls by stage.
func stages(m *llmtest.Script) map[string]int {
	out := make(map[string]int)
	for _, r := range m.Requests() {
		out[r.Stage]++
	}
	return out
}

func indexed(t *testing.T, s *kit.System, err error) *kit.System {
	t.Helper()
	check.OK(t, err)
	stats, err := s.Index(t.Context(), graphrag.Documents(pages...))
	check.Must(t, err == nil && stats.Entities == 6 && stats.Relations == 6, "%+v, %v", stats, err)
	return s
}

// published are the settings of the original code, for which the calls are counted.
var published = msgraphrag.Options{FoldFrom: 2, AllReports: true, AlwaysGlean: true}

// The index takes two calls per chunk, one for the entity with two descriptions,
// and one per community: 4 + 1 + 2.
var indexCalls = map[string]int{extract.StageRecords: 2, extract.StageGlean: 2, msgraphrag.StageDescribe: 1, report.Stage: 2}

func plus(more map[string]int) map[string]int {
	out := make(map[string]int)
	for _, of := range []map[string]int{indexCalls, more} {
		for k, n := range of {
			out[k] += n
		}
	}
	return out
}

// By default a model is asked for nothing that is not read: no gleaning after a complete reply, no description
// from two, no report below the level that is searched.
func TestDefaultCalls(t *testing.T) {
	m := scripted()
	s, err := msgraphrag.NewLocal(modelKit(t, m), msgraphrag.LocalOptions{})
	indexed(t, s, err)
	check.Equal(t, stages(m), map[string]int{extract.StageRecords: 2, report.Stage: 2})
}

func TestLocalCalls(t *testing.T) {
	m := scripted().Reply(llmtest.Any, "Ada [1].")
	s, err := msgraphrag.NewLocal(modelKit(t, m), msgraphrag.LocalOptions{Options: published})
	indexed(t, s, err)
	check.Equal(t, stages(m), indexCalls, "index")
	a, err := s.Answer(t.Context(), graphrag.Question{Text: "Who is the founder of bells?", K: 2})
	check.Must(t, err == nil && a.Usage.Calls == 1 && m.Calls() == 8, "%+v, %v, %d calls", a, err, m.Calls())
	var kinds []string
	for _, d := range a.Derived {
		kinds = append(kinds, d.Kind)
		check.True(t, len(d.Docs) != 0, "%q has no document", d.Text)
	}
	check.Equal(t, slices.Compact(slices.Clone(kinds)), []string{"report", "entity", "relationship"}, "the context is %v", kinds)
	ada := slices.IndexFunc(a.Derived, func(d graphrag.Derived) bool { return d.Text == "ADA: Ada founded bells and stayed at home." })
	check.True(t, ada >= 0 && slices.Equal(a.Derived[ada].Docs, []string{"one.md", "two.md"}), "the summarised entity is not in %+v", a.Derived)
	check.True(t, len(a.Evidence) != 0 && a.Evidence[0].Chunk.Doc == "one.md", "evidence %+v", a.Evidence)
}

const points = `{"points": [{"description": "Nothing [Data: Reports (1)]", "score": 0}, {"description": "Bells ring. [Data: Reports (0, 77)]", "score": 40}, {"description": "Ada built a bell. [Data: Reports (0)]", "score": 90}]}`

func TestGlobalCalls(t *testing.T) {
	for _, tt := range []struct {
		name     string
		o        msgraphrag.GlobalOptions
		points   string
		rating   string
		calls    map[string]int
		nothing  bool // whether nothing is found, and the model answers from its own knowledge
		derived  int
		rankedOf string
	}{
		{"map and reduce", msgraphrag.GlobalOptions{}, points, "", map[string]int{msgraphrag.StageMap: 1, "read": 1}, false, 2, "one.md"},
		{"a batch for each report", msgraphrag.GlobalOptions{Tokens: 20}, points, "", map[string]int{msgraphrag.StageMap: 2, "read": 1}, false, 4, "one.md"},
		{"room for one point", msgraphrag.GlobalOptions{ReduceTokens: 26}, points, "", map[string]int{msgraphrag.StageMap: 1, "read": 1}, false, 1, "one.md"},
		{"nothing to say", msgraphrag.GlobalOptions{}, `{"points": [{"description": "no", "score": 0}]}`, "", map[string]int{msgraphrag.StageMap: 1, "read": 1}, true, 0, ""},
		{"nonsense", msgraphrag.GlobalOptions{}, "I do not know.", "", map[string]int{msgraphrag.StageMap: 2, "read": 1}, true, 0, ""},
		{"dynamic", msgraphrag.GlobalOptions{Dynamic: true}, points, `{"reason": "", "rating": 3}`, map[string]int{msgraphrag.StageRate: 2, msgraphrag.StageMap: 1, "read": 1}, false, 2, "one.md"},
		{"dynamic, none", msgraphrag.GlobalOptions{Dynamic: true}, points, `{"reason": "", "rating": 0}`, map[string]int{msgraphrag.StageRate: 2, "read": 1}, true, 0, ""},
		{"dynamic, nonsense keeps all", msgraphrag.GlobalOptions{Dynamic: true}, points, "three", map[string]int{msgraphrag.StageRate: 4, msgraphrag.StageMap: 1, "read": 1}, false, 2, "one.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scripted().Reply(llmtest.Stage(msgraphrag.StageMap), tt.points).Reply(llmtest.Stage(msgraphrag.StageRate), tt.rating).Reply(llmtest.Any, "A bell.")
			tt.o.Options = published
			s, err := msgraphrag.NewGlobal(modelKit(t, m), tt.o)
			indexed(t, s, err)
			a, err := s.Answer(t.Context(), graphrag.Question{Text: "What was built?", K: 2})
			check.Must(t, err == nil && !a.Refused && len(a.Derived) == tt.derived && len(a.Evidence) == 0, "%+v, %v", a, err)
			check.Equal(t, stages(m), plus(tt.calls))
			if tt.nothing {
				return
			}
			// The call that did not get report 0 cannot cite it.
			best := a.Derived[slices.IndexFunc(a.Derived, func(d graphrag.Derived) bool { return d.Docs != nil })]
			if !strings.HasPrefix(best.Text, "Ada built a bell. (importance 90; from the reports “The") || !slices.Equal(best.Docs, []string{"one.md", "two.md"}) {
				t.Errorf("the best point is %+v", best)
			}
			check.True(t, len(a.Ranked) != 0 && a.Ranked[0].Chunk.Doc == tt.rankedOf, "ranked %+v", a.Ranked)
		})
	}
}

// A failed report is logged, and the system does without it.
func TestFailedReport(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Stage(report.Stage), func(req llm.Request) llm.Reply {
		if strings.Contains(req.Messages[1].Text, "BELL") {
			return llm.Reply{Text: "no report"}
		}
		return llm.Reply{Text: `{"title": "The Ford", "summary": "People at a ford.", "rating": 2, "rating_explanation": "", "findings": []}`}
	})
	inner := scripted()
	model := llmtest.NewScript("both").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		of := inner
		if req.Stage == report.Stage {
			of = m
		}
		return check.Of(of.Generate(context.Background(), req)).OK(t)
	})
	var log bytes.Buffer
	o := msgraphrag.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := msgraphrag.NewLocal(modelKit(t, model), msgraphrag.LocalOptions{Options: o})
	indexed(t, s, err)
	check.True(t, strings.Contains(log.String(), "no report") && strings.Contains(log.String(), "members=3"), "log: %s", log.String())
	_, err = s.Answer(t.Context(), graphrag.Question{Text: "Who built the Bell?", K: 1})
	check.OK(t, err)
}

func TestOptions(t *testing.T) {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	check.OK(t, err)
	_, err = msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: msgraphrag.Options{Level: -2, MaxSize: 1}, CommunityShare: .7, ChunkShare: .7})
	if err == nil || !strings.Contains(err.Error(), "Level") || !strings.Contains(err.Error(), "MaxSize") || !strings.Contains(err.Error(), "ChunkShare") {
		t.Errorf("local: %v", err)
	}
	_, err = msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Threshold: 6, Tokens: -1})
	check.Fails(t, err, "Threshold", "global")
}

// The calls: a hypothetical answer, one for each of the two reports, for the two questions that they raise and
// the one that the first of these raises, and the answer.
func TestDriftCalls(t *testing.T) {
	m := scripted().
		Reply(llmtest.Stage(msgraphrag.StageHyde), "Bells are built by founders.").
		Handle(llmtest.Stage(msgraphrag.StagePrimer), func(req llm.Request) llm.Reply {
			if strings.Contains(req.Messages[1].Text, "The Bell") {
				return llm.Reply{Text: `{"intermediate_answer": "Ada built it.", "score": 80, "follow_up_queries": ["Who is Ada?", "Who is the founder of bells?"]}`}
			}
			return llm.Reply{Text: `{"intermediate_answer": "", "score": 0, "follow_up_queries": ["Who is Dale?", "Who is Ada?"]}`}
		}).
		Handle(llmtest.Stage(msgraphrag.StageStep), func(req llm.Request) llm.Reply {
			check.Contains(t, req.Messages[1].Text, "questions asked]", "a step is not shown what was asked")
			if !strings.HasSuffix(req.Messages[1].Text, "]\n\nQuestion: Who is the founder of bells?") {
				t.Errorf("the larger question is not in\n%s", req.Messages[1].Text)
			}
			if strings.Contains(req.Messages[1].Text, " question on the way]\nWho is Ada?\n") {
				return llm.Reply{Text: `{"response": "A founder.", "score": "90", "follow_up_queries": ["Where is the Cape?", "Who is Dale? (2)", "1. who is Ada"]}`}
			}
			return llm.Reply{Text: `{"response": "Somebody.", "score": 10, "follow_up_queries": []}`}
		}).
		Reply(llmtest.Any, "Ada.")
	s, err := msgraphrag.NewDrift(modelKit(t, m), msgraphrag.DriftOptions{Options: published})
	indexed(t, s, err)
	a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who is the founder of bells?", K: 2})).OK(t)
	check.Equal(t, stages(m), plus(map[string]int{msgraphrag.StageHyde: 1, msgraphrag.StagePrimer: 2, msgraphrag.StageStep: 3, "read": 1}))
	var said []string
	for _, d := range a.Derived {
		said = append(said, d.Text)
		check.True(t, len(d.Docs) != 0, "%q has no document", d.Text)
	}
	check.True(t, len(said) == 4 && said[0] == "Who is the founder of bells?\nAda built it." && said[1] == "Who is Ada?\nA founder.", "read %q", said)
	check.True(t, a.Usage.Calls == 7 && len(a.Ranked) != 0, "%+v", a)
}

var name = regexp.MustCompile(`\bN\w+`)

// chains is a model that relates each name of a passage to the next one, and repeats its rows in reports.
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

// triangle is a document with its own community, joined to that of the next document.
func triangle(i int) graphrag.Document {
	return graphrag.Document{ID: fmt.Sprintf("%02d.md", i), Text: fmt.Sprintf("N%02da N%02db N%02dc N%02da. N%02dc", i, i, i, i, i+1)}
}

// grown is an index of documents after some changes, with the number of reports that each change asked for, and
// of stale reports after it.
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

// A change asks for the reports whose rows it changed. With Stale a report is used until too many of its rows
// have changed, and a saved system opens with the same reports.
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
	exact.change(t, true, graphrag.Document{ID: "apart.md", Text: "N0 N0a N0b N0."}) // its name precedes all others
	asked := exact.asked[len(exact.asked)-1]
	check.Equal(t, asked, 1, "a community of its own asks for %d reports", asked)
	dir := t.TempDir()
	check.OK(t, some.Save(t.Context(), dir))
	opened := growing(t, .5)
	check.OK(t, check.Err(opened.Open(t.Context(), dir)))
	diff := cmp.Diff(some.reports(t), opened.reports(t), cmpopts.EquateEmpty())
	check.True(t, diff == "" && opened.model.Calls() == 0, "opened, %d calls:\n%s", opened.model.Calls(), diff)
	opened.change(t, true, more(9, "Nz1"))
	check.True(t, opened.asked[0] == 0 && opened.stale[0] > some.stale[3],
		"after opening: %d reports asked for, %d stale, %d before", opened.asked[0], opened.stale[0], some.stale[3])
}

func offline() kit.Kit {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	return k
}

// ask indexes some pages on polar exploration and asks a question.
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
