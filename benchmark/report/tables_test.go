// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/model"
)

// scholar reads every document in the given order, and adds notes of its own to the prompt. Its graph is a star
// around the first document, with the last document unconnected.
type scholar struct {
	notes   []graphrag.Derived
	graph   *kg.Graph
	docs    []graphrag.Document
	library *library
}

// library counts the work of all scholars.
type library struct {
	mu      sync.Mutex
	indexed int
	asked   map[int]int // number of questions by K
}

func (s *scholar) Name() string     { return "scholar" }
func (s *scholar) Close() error     { return nil }
func (s *scholar) Graph() *kg.Graph { return s.graph }

func (s *scholar) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	base, err := kg.NewBase(kg.Options{})
	if err != nil {
		return graphrag.IndexStats{}, err
	}
	for d := range docs {
		s.docs = append(s.docs, d)
	}
	for i, d := range s.docs {
		x := kg.Extraction{Chunk: d.ID, Doc: d.ID, Mentions: []kg.Mention{{Name: d.ID}}}
		if i > 0 && i < len(s.docs)-1 {
			x.Facts = []kg.Fact{{Triple: graphrag.Triple{Head: s.docs[0].ID, Relation: "knows", Tail: d.ID}}}
		}
		if err := base.Insert(x); err != nil {
			return graphrag.IndexStats{}, err
		}
	}
	if s.graph, err = base.Graph(ctx); err != nil {
		return graphrag.IndexStats{}, err
	}
	view, err := s.graph.View(kg.ViewOptions{})
	if err != nil {
		return graphrag.IndexStats{}, err
	}
	if s.library != nil {
		s.library.mu.Lock()
		s.library.indexed++
		s.library.mu.Unlock()
	}
	st := view.Stats()
	return graphrag.IndexStats{
		Documents: len(s.docs), Chunks: len(s.docs), Entities: st.Nodes, Relations: int(st.Edges),
		AverageDegree: st.AverageDegree, MaxDegree: st.MaxDegree, IsolatedShare: st.IsolatedShare,
		Usage: graphrag.Usage{Calls: 2 * len(s.docs), PromptTokens: 300, CompletionTokens: 60},
	}, nil
}

func (s *scholar) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if s.library != nil {
		s.library.mu.Lock()
		s.library.asked[q.K]++
		s.library.mu.Unlock()
	}
	a := graphrag.Answer{Text: "Animals eat.", Found: graphrag.Found{Derived: s.notes, Usage: graphrag.Usage{Calls: 1, PromptTokens: 10 * q.K, CompletionTokens: 5}}}
	for i, d := range s.docs {
		a.Ranked = append(a.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{ID: d.ID + "#0", Doc: d.ID, Text: d.Text}, Score: float64(-i)})
	}
	a.Evidence = a.Ranked[:min(q.K, len(a.Ranked))]
	return a, nil
}

// study runs a flat parrot and a scholar with notes on the test data.
func study(dir string, lib *library) *benchmark.Runner {
	r := benchtest.Runner(dir, new(atomic.Int64), nil)
	r.Systems = []benchmark.Entry{r.Systems[0], {Name: "scholar", New: func(string) (benchmark.System, error) {
		return &scholar{library: lib, notes: []graphrag.Derived{{Kind: "report", Text: "A report of five words.", Provenance: graphrag.Provenance{Docs: []string{"owl.txt", "jay.txt"}}}}}, nil
	}}}
	r.Options.TopK = map[string]int{wildgraph.SingleFact: 2, wildgraph.MultiFact: 2}
	r.Options.Config["topk_qa"] = 2
	return r
}

// A sweep over K is added to a finished run: the index is built once more per domain, the run's own answers are
// kept, and the run's own K is not asked again.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	lib := &library{asked: make(map[int]int)}
	check.OK(t, check.Err(run(t, study(dir, lib))))
	plain := benchtest.Files(t, dir)
	diff := cmp.Diff(map[int]int{2: 5, 10: 2}, lib.asked)
	check.Must(t, diff == "" && lib.indexed == 2, "the run itself: %d indexes\n%s", lib.indexed, diff)
	r := study(dir, lib)
	r.Options.SweepTopK = []int{1, 2, 10}
	r.Systems[0].Fixed = true
	rep := check.Of(run(t, r)).OK(t)
	diff = cmp.Diff(map[int]int{1: 2, 2: 5 + 2, 10: 2}, lib.asked)
	check.True(t, diff == "" && lib.indexed == 4, "%d indexes, asked by k (-want +got):\n%s", lib.indexed, diff)
	check.Equal(t, len(rep.Systems[0].Sweep), 0, "a fixed system was swept")
	points := rep.Systems[1].Sweep
	check.Must(t, len(points) == 3 && points[0].K == 1 && points[2].K == 10 && points[0].N == 2, "%+v", points)
	// One summary question per domain. The question's document is the third.
	for i, want := range []float64{0, 0, 1} {
		check.Equal(t, *points[i].PromptRecall, want, "k = %d: evidence recall", points[i].K)
	}
	got := points[1].AnswerUsage.PromptTokens
	check.Equal(t, got, 2*10*2, "k = 2 took %d prompt tokens, want 40", got)
	check.Equal(t, points[2].Type, rep.Systems[1].Overall.Types[wildgraph.Summary], "the run's own top-k (-run +sweep)")
	got = rep.Systems[1].AnswerUsage.Calls
	check.Equal(t, got, 7, "the run has %d calls, the sweep's among them", got)
	swept := benchtest.Files(t, dir)
	n := strings.Count(swept["/sweep.jsonl"], `"sweep":`)
	check.True(t, n == 4, "%d answers in %s, want 4:\n%s", n, "sweep.jsonl", swept["/sweep.jsonl"])
	for _, name := range []string{"/judgments.jsonl", "/predictions/scholar.jsonl", "/report.csv"} {
		check.Equal(t, swept[name], plain[name], "the sweep changed %s", name)
	}
	// A run with the sweep from the start, and without repeating it, gives the same bytes.
	other := t.TempDir()
	r = study(other, nil)
	r.Options.SweepTopK = []int{1, 2, 10}
	r.Systems[0].Fixed = true
	check.OK(t, check.Err(run(t, r)))
	check.Equal(t, swept, benchtest.Files(t, other), "in one go")
	for _, bad := range [][]int{{0}, {2, 2}, {3, 2}} {
		r := study("", nil)
		r.Options.SweepTopK = bad
		check.Fails(t, check.Err(run(t, r)), "SweepTopK", "%v", bad)
	}
}

// The graph of birds is a star of three nodes and an isolated fourth; a domain without questions only has the
// description of its graph.
func TestGraphs(t *testing.T) {
	r := study("", nil)
	extra := r.Dataset.Domains[0]
	extra.Name, extra.Items = "aviary", nil
	r.Dataset.Domains = append(r.Dataset.Domains, extra)
	rep := check.Of(run(t, r)).OK(t)
	for _, d := range []int{0, 2} {
		index := rep.Systems[1].Domains[d].Index
		check.True(t, index.Edges == 2 && index.Entities == 4 && index.MaxDegree == 2 &&
			index.IsolatedShare == .25 && index.Bytes != 0, "%+v", index)
	}
	check.Equal(t, rep.Systems[0].Domains[0].Index.Entities, 0, "a flat system has a graph")
	text := tables(t, rep)
	for _, want := range []string{"aviary: scholar", "birds: scholar", "50.00"} {
		check.Contains(t, text, want)
	}
	check.True(t, !strings.Contains(text, "Domain: aviary"), "a domain without questions has results")
	for _, name := range []string{"b", "c", "d"} { // three systems with the same graph
		r.Systems = append(r.Systems, benchmark.Entry{Name: name, New: r.Systems[1].New})
	}
	if more, err := run(t, r); err != nil {
		t.Error(err)
	} else if text := tables(t, more); strings.Count(text, "birds: scholar + 3") != 1 || strings.Count(text, "scholar + 3: scholar, b, c, d.") != 1 {
		t.Errorf("equal graphs of four systems:\n%s", text)
	}
}

// The rows of a publication are below ours, rows of systems that were not run below all others, and none of
// them is marked as the best of its column.
func TestPublishedRows(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	row := func(system, domain string, f1OfMeans, meanF1 *float64) benchmark.PublishedRow {
		return benchmark.PublishedRow{
			System: system, Source: "A paper, Table 2", Domain: domain, Questions: map[string]int{"": 7, "fish": 3, "birds": 4}[domain], Model: "big-model", Judge: "a jury",
			AvgAccuracy: f(0.9999), SingleFact: f(0.5), Recall: f(0.25), Precision: f(0.125), F1OfMeans: f1OfMeans, F1MeanOfQuestions: meanF1,
		}
	}
	dir := t.TempDir()
	r := study(dir, nil)
	r.Options.SweepTopK = []int{2, 4, 10}
	r.Judge = renamedJudge{info: model.Paper.Procedure().Info}
	r.Dataset.Published = &benchmark.Published{
		Rows: []benchmark.PublishedRow{
			row("parrot", "", f(0.2), nil), row("dodo", "", f(0.1), nil), row("human", "fish", nil, f(0.4)), row("x", "elsewhere", nil, f(0.3)), row("human", "birds", nil, f(0.3)),
		},
	}
	rep := check.Of(run(t, r)).OK(t)
	tbl := rep.Tables()
	var names []string
	for _, row := range tbl[0].Rows {
		names = append(names, row.Name)
		for _, c := range row.Cells {
			check.True(t, !row.Published || !c.Best, "%s has the best figure of a column", row.Name)
		}
	}
	want := []string{"parrot", "↳ published: accuracy and F1 of means, big-model, 7 questions", "scholar", "dodo, published: accuracy and F1 of means, big-model, 7 questions"}
	check.Equal(t, names, want, "rows")
	for _, other := range []struct {
		kit   string
		judge judge.Procedure
		want  bool
	}{{"offline", model.Paper.Procedure(), false}, {"model", model.Joint.Procedure(), false}, {"model", lexical.Procedure, false}, {"offline+model", model.Paper.Procedure(), true}, {"model+offline", model.Paper.Procedure(), false}} {
		r := study("", nil)
		r.Systems[0].Name, r.Systems[0].Also = "budgie", []string{"parrot"}
		r.Judge, r.Options.Kit, r.Dataset.Published = renamedJudge{info: other.judge.Info}, other.kit, rep.Published
		odd := check.Of(run(t, r)).OK(t)
		rows := strings.Contains(tables(t, odd), "↳ published")
		check.Contains(t, tables(t, odd), "budgie = parrot ", "%+v: the row has not both names", other)
		check.True(t, rows == other.want, "%+v: published rows %v", other, rows)
	}
	got := benchtest.Files(t, dir)
	for _, row := range []string{
		"| ↳ published: accuracy and F1 of means, big-model, 7 questions | 99.99 | 50.00 | n/a | 25.00 | 12.50 | 20.00 |", "| human, published: accuracy and mean F1, big-model, 3 questions | 99.99 | 50.00 | n/a | 25.00 | 12.50 | 40.00 |",
	} {
		check.Equal(t, strings.Count(got["/report.md"], row), 1, "no row %s in\n%s", row, got["/report.md"])
	}
	check.True(t, !strings.Contains(got["/report.csv"], "0.9999") && strings.Count(got["/report.json"], "0.9999") == 4, "published figures are among our own")
	drawn := tags(t, got["/report.html"])
	check.True(t, strings.Count(got["/report.html"], `<figure class="chart"`) == 3 && drawn["details"] >= 5 && drawn["the"] == 0, "the page has %v", drawn)
}

// renamedJudge is benchtest's judge with another name and description.
type renamedJudge struct {
	benchtest.Exact
	name string
	info judge.Info
}

func (n renamedJudge) Name() string     { return n.name }
func (n renamedJudge) Info() judge.Info { return n.info }

func tables(t *testing.T, r *report.Report) string {
	t.Helper()
	var text bytes.Buffer
	check.OK(t, report.WriteText(&text, r.Tables()...))
	return text.String()
}

// tags counts the tags of a page and checks that the page loads nothing.
func tags(t *testing.T, text string) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return found
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag := z.Token()
		found[tag.Data]++
		for _, a := range tag.Attr {
			if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"src", "href", "xlink:href"}, a.Key) && a.Val[0] != '#' && a.Val != "data:," || strings.Contains(a.Val, "NaN") {
				t.Errorf("<%s %s=%q>", tag.Data, a.Key, a.Val)
			}
		}
	}
}

// shy refuses questions about owls and jays.
type shy struct{ benchtest.Parrot }

func (s *shy) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := s.Parrot.Answer(ctx, q)
	a.Refused = strings.Contains(q.Text, "owl") || strings.Contains(q.Text, "jay")
	if strings.Contains(q.Text, "jay") {
		a.Evidence = nil // the system did not read the page
	}
	return a, err
}

// The four counts of refusals are in the table of every form and in the CSV, if a system refuses or is told to
// refuse; else there is no table.
func TestRefusalTable(t *testing.T) {
	var calls atomic.Int64
	const title = "Answers and refusals"
	for _, tt := range []struct {
		name, mode string
		shy        bool
		want       string // the first system's row of the table in Markdown
	}{
		{"nobody refuses", "", false, ""},
		{"nobody refuses in reject mode", "reject", false, "| parrot | 5 | 2 | 0 | 0 | 0 |"},
		{"a system refuses", "", true, "| shy | 3 | 2 | 1 | 1 | 0 |"},
	} {
		dir := t.TempDir()
		r := benchtest.Runner(dir, &calls, nil)
		if tt.shy {
			r.Systems[0] = benchmark.Entry{Name: "shy", New: func(string) (benchmark.System, error) {
				return &shy{benchtest.Parrot{Calls: &calls}}, nil
			}}
		}
		if tt.mode != "" {
			r.Options.Settings["mode"] = tt.mode
		}
		rep := check.Of(run(t, r)).OK(t)
		got := benchtest.Files(t, dir)
		var md bytes.Buffer
		check.OK(t, rep.WriteMarkdown(&md))
		for form, text := range map[string]string{"terminal": tables(t, rep), "Markdown": md.String(), "HTML": got["/report.html"]} {
			check.True(t, strings.Contains(text, title) == (tt.want != ""),
				"%s: the table in %s: %v", tt.name, form, tt.want == "")
		}
		check.Contains(t, md.String(), tt.want, "%s: no row", tt.name)
		check.True(t, !tt.shy || strings.Contains(got["/report.csv"], ",0.000000,3,2,1,1,"),
			"%s: the counts are not in the CSV:\n%s", tt.name, got["/report.csv"])
	}
}
