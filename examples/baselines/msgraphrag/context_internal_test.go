// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// numbered titles a report with the number of its community.
type numbered struct{}

func (numbered) Name() string { return "numbered" }

func (numbered) Report(_ context.Context, in *report.Input) (report.Report, error) {
	return report.Report{Title: fmt.Sprint(in.Community)}, nil
}

// reported is an index over pairs of nodes with communities that are given, and
// reports with their ratings.
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

// Reports come by the number of selected entities in their communities, then by
// rating.
func TestReportOrder(t *testing.T) {
	x := reported(t, 6, [][2]int32{{0, 3}, {1, 2}, {4, 5}}, []community.Community{
		{Parent: -1, Nodes: []int32{0, 3}}, {Parent: -1, Nodes: []int32{1, 2}}, {Parent: -1, Nodes: []int32{4, 5}},
	}, 3, 1, 9)
	check.Equal(t, titles((&local{index: x}).reportTable([]int32{0, 4, 1, 2}, 9000)), []string{"1", "2", "0"}, "order")
}

// Of 12,000 tokens local search has 1,800 for reports, 6,000 for chunks and the
// rest for entities and relations: of rows of 1,000 tokens 1, 6 and 4. Ten entities
// are read, and ten relations that lead out of their circle for each.
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

// Reports fill batches in the order they come in; in a batch those of larger
// weight come first, then those of higher rating.
func TestBatches(t *testing.T) {
	s := &global{
		index: &index{reports: &report.Set{Reports: []report.Report{{Rating: 1}, {}, {Rating: 9}, {Rating: 5}}}},
		o:     GlobalOptions{Tokens: 30}, tokens: []int{10, 10, 10, 10}, weight: []float64{.5, 1, .5, .9},
	}
	check.Equal(t, s.batches([]int32{0, 1, 2, 3}), [][]int32{{1, 2, 0}, {3}})
}

// The seed of the code is 86.
func TestShuffleSeed(t *testing.T) {
	o := baselinestest.Filled(GlobalOptions{})
	want := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	got := (&global{o: o}).shuffle(want)
	shuffle(86, 0, want)
	check.Equal(t, got, want)
}

// A part that is kept takes the place of its parent, a sibling that is not
// changes nothing, and where nothing is kept the next level is looked at, down to
// Level.
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

// Descriptions of 4,000 tokens go into one prompt.
func TestFoldTokens(t *testing.T) {
	for last, calls := range map[int]int{1000: 1, 1001: 2} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, "all")
		w := writer{model: m, count: func(s string) int { return len(s) }}
		of := []kg.Description{{Text: strings.Repeat("a", 2000)}, {Text: strings.Repeat("b", 1000)}, {Text: strings.Repeat("c", last)}}
		_, err := w.fold(t.Context(), "x", of)
		check.True(t, err == nil && m.Calls() == calls, "%d tokens: %d calls, %v", 3000+last, m.Calls(), err)
	}
}

// A model writes the reports of the level that is searched, and no others.
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
