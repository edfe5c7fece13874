// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// numbered gives a report the number of its community as title.
type numbered struct{}

func (numbered) Name() string { return "numbered" }

func (numbered) Report(_ context.Context, in *report.Input) (report.Report, error) {
	return report.Report{Title: fmt.Sprint(in.Community)}, nil
}

// reported is an index over pairs of nodes with given communities, and reports with their ratings.
func reported(t *testing.T, nodes int, pairs [][2]int32, communities []community.Community, ratings ...float64) *index {
	t.Helper()
	x := &index{corpus: &kit.Corpus{Graph: new(kg.Graph)}}
	x.kit.Count = func(string) int { return 1000 }
	x.graph.Nodes = make([]report.Node, nodes)
	for _, p := range pairs {
		x.graph.Edges = append(x.graph.Edges, report.Edge{Source: p[0], Target: p[1]})
	}
	x.connect()
	x.hierarchy = community.Hierarchy{Communities: communities, Nodes: nodes}
	for _, c := range communities {
		x.hierarchy.Levels = max(x.hierarchy.Levels, int(c.Level)+1)
	}
	var err error
	x.reports, err = report.Write(t.Context(), &x.graph, x.hierarchy, report.Options{Reporter: numbered{}})
	check.Must(t, err == nil && len(x.reports.Reports) == len(communities), "%d reports, %v", len(x.reports.Reports), err)
	for i, r := range ratings {
		x.reports.Reports[i].Rating = r
	}
	x.cover = x.hierarchy.Cut(0)
	return x
}

func titles(of []graphrag.Derived) (out []string) {
	for _, d := range of {
		out = append(out, strings.Fields(d.Text)[1]) // "# 3"
	}
	return out
}

// Reports are sorted by the number of selected entities in their communities, then by rating.
func TestReportOrder(t *testing.T) {
	x := reported(t, 6, [][2]int32{{0, 3}, {1, 2}, {4, 5}}, []community.Community{
		{Parent: -1, Nodes: []int32{0, 3}}, {Parent: -1, Nodes: []int32{1, 2}}, {Parent: -1, Nodes: []int32{4, 5}},
	}, 3, 1, 9)
	check.Equal(t, titles((&local{index: x}).reportTable([]int32{0, 4, 1, 2}, 9000)), []string{"1", "2", "0"}, "order")
}

// Of 12,000 tokens local search uses 1,800 for reports, 6,000 for chunks and the rest for entities and
// relations: with rows of 1,000 tokens 1, 6 and 4 of them. It reads ten entities, and for each ten relations to
// entities that are not selected.
func TestLocalDefaults(t *testing.T) {
	o := baselinestest.Filled(LocalOptions{}).Defaults()
	const n = 14
	var pairs [][2]int32
	all := make([]int32, n)
	for v := range all {
		all[v] = int32(v)
		if v > 0 {
			pairs = append(pairs, [2]int32{0, int32(v)})
		}
	}
	x := reported(t, n, append(pairs, [2]int32{3, 4}), []community.Community{{Parent: -1, Nodes: []int32{0, 1}}, {Parent: -1, Nodes: []int32{3, 4}}}, 2, 1)
	x.cover = slices.Repeat([]int32{0, 1}, n/2)
	l := &local{index: x, o: o, entityTokens: slices.Repeat([]int{1000}, n), edgeTokens: make([]int, n), nearest: baselinestest.Alike(slices.Repeat([]float64{1}, n))}
	for _, question := range []string{"", "something"} {
		got, err := l.entities(t.Context(), question)
		check.True(t, err == nil && len(got) == 10, "%q: entities %v, %v", question, got, err)
	}
	check.Equal(t, len(l.relations(all[:1])), 10, "relations")
	l.edgeTokens = slices.Repeat([]int{1000}, n)
	kinds := map[string]int{"chunk": len(l.read(make([]graphrag.Hit, 20), graphrag.Question{K: 20}))}
	for _, d := range l.context(all) {
		kinds[d.Kind]++
	}
	check.Equal(t, kinds, map[string]int{"report": 1, "entity": 4, "chunk": 6})
}

// Reports fill batches in their order; within a batch they are sorted by weight, then by rating.
func TestBatches(t *testing.T) {
	s := &global{
		index: &index{reports: &report.Set{Reports: []report.Report{{Rating: 1}, {}, {Rating: 9}, {Rating: 5}}}},
		o:     GlobalOptions{Tokens: 30}, tokens: []int{10, 10, 10, 10}, weight: []float64{.5, 1, .5, .9},
	}
	check.Equal(t, s.batches([]int32{0, 1, 2, 3}), [][]int32{{1, 2, 0}, {3}})
}

// A kept part replaces its parent, a sibling that is not kept changes nothing, and if no part is kept the next
// level is rated, down to Level.
func TestDynamic(t *testing.T) {
	x := reported(t, 4, [][2]int32{{0, 1}, {2, 3}}, []community.Community{
		{Parent: -1, Nodes: []int32{0, 1, 2, 3}, Children: []int32{1, 2}}, {Level: 1, Parent: 0, Nodes: []int32{0, 1}}, {Level: 1, Parent: 0, Nodes: []int32{2, 3}},
	})
	for _, tt := range []struct {
		ratings    []int
		keepParent bool
		level      int
		want, seen []int32
	}{
		{[]int{3, 1, 0}, false, 2, []int32{1}, []int32{0, 1, 2}},
		{[]int{3, 1, 0}, true, 2, []int32{0, 1}, []int32{0, 1, 2}},
		{[]int{3, 0, 0}, false, 2, []int32{0}, []int32{0, 1, 2}},
		{[]int{0, 5, 0}, false, 2, []int32{1}, []int32{0, 1, 2}},
		{[]int{0, 5, 0}, false, 0, nil, []int32{0}},
	} {
		x.o.Level = tt.level
		seen := make(map[int32]bool)
		s := &global{index: x, o: GlobalOptions{Threshold: 1, KeepParent: tt.keepParent}}
		s.rate = func(_ context.Context, _ string, communities []int32, _ map[int32]int32) ([]int, error) {
			var out []int
			for _, c := range communities {
				seen[c] = true
				out = append(out, tt.ratings[c])
			}
			return out, nil
		}
		got, err := s.dynamic(t.Context(), "?")
		slices.Sort(got)
		check.True(t, err == nil && slices.Equal(got, tt.want) &&
			slices.Equal(slices.Sorted(maps.Keys(seen)), tt.seen), "%+v: kept %v of %v, %v", tt, got, seen, err)
	}
}

// Descriptions of 4,000 tokens in all go into one prompt.
func TestFoldTokens(t *testing.T) {
	for last, calls := range map[int]int{1000: 1, 1001: 2} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, "all")
		w := writer{model: m, count: func(s string) int { return len(s) }}
		of := []kg.Description{{Text: strings.Repeat("a", 2000)}, {Text: strings.Repeat("b", 1000)}, {Text: strings.Repeat("c", last)}}
		_, err := w.fold(t.Context(), "x", of)
		check.True(t, err == nil && m.Calls() == calls, "%d tokens: %d calls, %v", 3000+last, m.Calls(), err)
	}
}

// A model writes only the reports of the level that is searched.
func TestWantedReports(t *testing.T) {
	x := &index{hierarchy: community.Hierarchy{Nodes: 4, Levels: 2, Communities: []community.Community{
		{Level: 0, Parent: -1, Nodes: []int32{0, 1, 2, 3}, Children: []int32{1, 2}},
		{Level: 1, Parent: 0, Nodes: []int32{0, 1}}, {Level: 1, Parent: 0, Nodes: []int32{2, 3}},
	}}}
	for level, want := range [][]int32{{0}, {1, 2}} {
		x.o.Level = level
		check.Equal(t, x.wanted(), want, "level %d wants", level)
	}
}

// star is a local search over a small graph for calculations by hand: the edges a–b, a–c, a–d, b–c, b–e, e–f,
// each stated in the passage of its number.
func star(t *testing.T) *local {
	t.Helper()
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	x := &index{corpus: new(kit.Corpus)}
	for i, pair := range []string{"ab", "ac", "ad", "bc", "be", "ef"} {
		id := fmt.Sprintf("p%d", i)
		fact := kg.Fact{Triple: graphrag.Triple{Head: pair[:1], Tail: pair[1:]}, Description: "say " + pair}
		check.OK(t, b.Insert(kg.Extraction{Chunk: id, Doc: id, Facts: []kg.Fact{fact}, Mentions: []kg.Mention{{Name: pair[:1]}}}))
		x.corpus.Chunks = append(x.corpus.Chunks, graphrag.Chunk{ID: id, Doc: id})
	}
	// Passage 6 only names a.
	check.OK(t, b.Insert(kg.Extraction{Chunk: "p6", Doc: "p6", Mentions: []kg.Mention{{Name: "a"}}}))
	x.corpus.Chunks = append(x.corpus.Chunks, graphrag.Chunk{ID: "p6", Doc: "p6"})
	x.corpus.Graph = check.Of(b.Graph(t.Context())).OK(t)
	x.kit.Count = llm.EstimateTokens
	x.o.MaxSize = 10
	related, weight := x.pairs()
	for i, of := range related.All() {
		x.graph.Edges[i].Descriptions = x.descriptions(of)
	}
	check.OK(t, x.communities(t.Context(), weight))
	l := &local{index: x, o: LocalOptions{Relations: 1}}
	l.edgeTokens = []int{10, 10, 10, 10, 10, 10}
	return l
}

// names returns edges by the names of their ends.
func (l *local) ends(edges []int32) (out []string) {
	for _, e := range edges {
		out = append(out, l.graph.Nodes[l.graph.Edges[e].Source].Title+l.graph.Nodes[l.graph.Edges[e].Target].Title)
	}
	return out
}

func TestRelations(t *testing.T) {
	const a, b, e = 0, 1, 4
	l := star(t) // the degrees are a 3, b 3, c 2, d 1, e 2, f 1
	for _, tt := range []struct {
		entities []int32
		per      int
		want     []string
	}{
		// No edge is inside of the selection; ab has the combined degree 6, ac 5, ad 4.
		{[]int32{a}, 9, []string{"ab", "ac", "ad"}},
		{[]int32{a}, 1, []string{"ab"}},
		// ab is inside. c is connected to both a and b, so ac and bc precede be (5) and ad (4); ac and bc both
		// have 5, and the lower id is first.
		{[]int32{a, b}, 9, []string{"ab", "ac", "bc", "be", "ad"}},
		{[]int32{a, b}, 1, []string{"ab", "ac", "bc"}},
		// ab (6) and be (5) are inside.
		{[]int32{a, b, e}, 1, []string{"ab", "be", "ac", "bc", "ad"}},
	} {
		l.o.Relations = tt.per
		check.Equal(t, l.ends(l.relations(tt.entities)), tt.want, "%v with %d each", tt.entities, tt.per)
	}
	l.o.Relations = 1
	// With rows of 10 tokens: 1 row for {a}, 3 for {a, b}, 5 for {a, b, e}.
	for budget, want := range map[int]int{9: 0, 10: 1, 29: 1, 30: 3, 49: 3, 50: 5} {
		if got := l.relationTable([]int32{a, b, e}, budget); len(got) != want {
			t.Errorf("%d tokens: %v, want %d", budget, l.ends(got), want)
		}
	}
}

// Chunks are sorted by entity; for one entity by the number of its relations in them, then by the number of its
// entities, then by the similarity to the question.
func TestSources(t *testing.T) {
	l := star(t)
	// c: one relation each in chunks 1 and 3; both name one other selected entity; 3 is similar to the
	// question. b: 0 and 4 remain, 0 also names a. a: 2 remains with a relation, 6 has none.
	got := l.sources([]int32{2, 1, 0}, []float64{1, 0, .6, 1, 1, 1, 1})
	want := []int32{3, 1, 0, 4, 2, 6}
	check.Equal(t, got, want)
}

// Five descriptions of 2,000 tokens take four calls: two fit into one prompt, and the result is joined with the
// next one.
func TestFold(t *testing.T) {
	model := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		return llm.Reply{Text: fmt.Sprintf("partial %d", strings.Count(req.Messages[1].Text, "\n[")-3)}
	})
	k := check.Of(kit.ByModel(kit.ModelOptions{Model: model, Count: llm.EstimateTokens})).OK(t)
	d := check.Of(newDescriber(k, baselinestest.Filled(Options{Logger: slog.New(slog.DiscardHandler)}))).OK(t)
	var of []kg.Description
	for i := range 5 {
		of = append(of, kg.Description{Text: strings.Repeat(string(rune('e'-i)), 8000), Passages: []int32{int32(9 - i)}})
	}
	got, err := d(t.Context(), "thing", of)
	want := []kg.Description{{Text: "partial 2", Passages: []int32{5, 6, 7, 8, 9}}}
	diff := cmp.Diff(want, got)
	check.True(t, diff == "" && err == nil, "%s, %v", diff, err)
	var seen []string
	for _, r := range model.Requests() {
		s := ""
		for _, what := range []string{"aaaa", "bbbb", "cccc", "dddd", "eeee", "partial"} {
			if strings.Contains(r.Messages[1].Text, what) {
				s += what[:1]
			}
		}
		seen = append(seen, s)
	}
	check.Equal(t, seen, []string{"ab", "cp", "dp", "ep"}, "prompts of")
	check.Equal(t, model.Calls(), 4, "calls")
}

// If the model cannot describe an entity, quotes replace the description.
func TestDescribeFallsBack(t *testing.T) {
	of := []kg.Description{{Text: "The old bridge crosses the river at Ashby.", Passages: []int32{1}}, {Text: "Masons from the north built the bridge in 1702.", Passages: []int32{4}}}
	for _, kind := range []llm.Kind{llm.ErrTruncated, ""} {
		k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
		if kind != "" {
			k.IndexModel = llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: kind})
		}
		d := check.Of(newDescriber(k, baselinestest.Filled(Options{Logger: slog.New(slog.DiscardHandler)}))).OK(t)
		got, err := d(context.Background(), "bridge", of)
		diff := cmp.Diff(of, got)
		check.True(t, diff == "" && err == nil, "%q: %s, %v", kind, diff, err)
	}
}

// Whatever a model writes, only reports of the batch are cited, each once.
func FuzzCited(f *testing.F) {
	f.Add("Bells ring [Data: Reports (3, 77, +more); Entities (1)], see reports (1,3).")
	f.Add("Reports (99999999999999999999, -1, ) reports ((3)) Reports (")
	f.Fuzz(func(t *testing.T, text string) {
		got := cited(text, []int32{1, 3})
		if len(got) > 2 || len(got) == 2 && got[0] == got[1] || slices.ContainsFunc(got, func(id int32) bool { return id != 1 && id != 3 }) {
			t.Errorf("%q cites %v", text, got)
		}
	})
}
