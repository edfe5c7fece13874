// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// library is a community of three entities, described in the passages 10 to 13.
func library() (*report.Graph, community.Hierarchy) {
	g := &report.Graph{
		Nodes: []report.Node{
			{Title: "Ashby Library", Degree: 2, Descriptions: []kg.Description{
				{Text: "The Ashby Library opened its doors to the public in 1871.", Passages: []int32{10}},
				{Text: "The Ashby Library holds forty thousand books on the sea.", Passages: []int32{11, 12}},
			}},
			{Title: "Mary Ashby", Degree: 1, Descriptions: []kg.Description{{Text: "Mary Ashby was a shipowner of the town.", Passages: []int32{12}}}},
			{Title: "Reading Room", Degree: 1},
		},
		Edges: []report.Edge{
			{Source: 1, Target: 0, Descriptions: []kg.Description{{Text: "Mary Ashby founded the Ashby Library with her own money.", Passages: []int32{13}}}},
			{Source: 2, Target: 0},
		},
	}
	return g, community.Hierarchy{Levels: 1, Nodes: 3, Communities: []community.Community{{Parent: -1, Nodes: []int32{0, 1, 2}}}}
}

func TestExtractiveReports(t *testing.T) {
	short := check.Of(summary.Extractive(summary.ExtractiveOptions{Tokens: 12})).OK(t)
	reporter := check.Of(report.Extractive(short)).OK(t)
	g, h := library()
	set, err := report.Write(t.Context(), g, h, report.Options{Reporter: reporter})
	check.Must(t, err == nil && len(set.Reports) == 1, "%+v, %v", set, err)
	r := set.Reports[0]
	check.Equal(t, r.Title, "Ashby Library; Mary Ashby; Reading Room", "title %q: want the members by degree", r.Title)
	said := map[string][]int32{}
	for _, of := range [][]kg.Description{g.Nodes[0].Descriptions, g.Nodes[1].Descriptions, g.Edges[0].Descriptions} {
		for _, d := range of {
			said[d.Text] = d.Passages
		}
	}
	sources := slices.Clone(said[r.Summary])
	check.True(t, sources != nil, "the summary is not a quote: %q", r.Summary)
	for _, f := range r.Findings {
		diff := cmp.Diff(said[f.Explanation], f.Sources)
		check.True(t, diff == "" && f.Explanation != r.Summary, "finding %+v: %s", f, diff)
		sources = append(sources, f.Sources...)
	}
	check.True(t, len(r.Findings) >= 2, "findings %+v", r.Findings)
	slices.Sort(sources)
	check.Equal(t, r.Sources, slices.Compact(sources), "sources are not those of the quotes")
}

// A report on a community with parts quotes the parts' reports, with their sources.
func TestExtractiveReportsOfParts(t *testing.T) {
	reporter := check.Of(report.Extractive(nil)).OK(t)
	r, err := reporter.Report(t.Context(), &report.Input{Graph: &report.Graph{}, Reports: []*report.Report{
		{Title: "Owls; Mice", Findings: []report.Finding{{Summary: "Owls", Explanation: "Owls hunt by ear in the dark.", Sources: []int32{4}}}},
		{Title: "Tides", Findings: []report.Finding{{Summary: "Moon", Explanation: "The moon raises the tides of the sea.", Sources: []int32{9}}}},
	}})
	check.True(t, err == nil && r.Title == "Owls; Tides" && slices.Equal(r.Sources, []int32{4, 9}) && strings.Contains(r.Text(), "by ear"), "%+v, %v", r, err)
}

const reply = `{"title": "Ashby Library", "summary": "A library and its founder. [Data: Entities (0, 1)]", "rating": 12, "rating_explanation": "It is local.",
"findings": [{"summary": "Its founder", "explanation": "Mary Ashby paid. [Data: Entities (0, 99, +more); Relationships (0)]"}, {"summary": "", "explanation": " "}]}`

func TestModelReports(t *testing.T) {
	model := llmtest.NewScript("writer").Reply(llmtest.Stage(report.Stage), "not json", reply)
	reporter := check.Of(report.ByModel(report.ModelOptions{Model: model})).OK(t)
	g, h := library()
	set, err := report.Write(t.Context(), g, h, report.Options{Reporter: reporter})
	check.Must(t, err == nil && len(set.Reports) == 1 && model.Calls() == 2, "%+v, %v", set, err)
	want := report.Report{
		Title: "Ashby Library", Summary: "A library and its founder. [Data: Entities (0, 1)]", Rating: 10, RatingExplanation: "It is local.",
		Findings: []report.Finding{{
			Summary: "Its founder", Explanation: "Mary Ashby paid. [Data: Entities (0, 99, +more); Relationships (0)]",
			Nodes: []int32{1}, Edges: []int32{0}, Sources: []int32{12, 13},
		}},
		Sources: []int32{10, 11, 12, 13},
	}
	check.Equal(t, set.Reports[0], want)
	prompt := model.Requests()[0].Messages[1].Text
	check.True(t, strings.Contains(prompt, "-----Relationships-----") &&
		strings.Contains(prompt, "0,Mary Ashby,Ashby Library,Mary Ashby founded"), "prompt:\n%s", prompt)
}

// Above the parts, the parts' reports can be cited, each by its number.
func TestModelReportOfParts(t *testing.T) {
	model := llmtest.NewScript("writer").Reply(llmtest.Any, `{"title": "t", "summary": "s", "rating": 1, "rating_explanation": "", "findings": [
		{"summary": "a", "explanation": "b [Data: Entities (0, 1)]"}, {"summary": "c", "explanation": "d [Data: Reports (0, 8)]"}]}`)
	reporter := check.Of(report.ByModel(report.ModelOptions{Model: model})).OK(t)
	g, _ := library()
	r, err := reporter.Report(t.Context(), &report.Input{Graph: g, Reports: []*report.Report{
		{Community: 7, Title: "part", Findings: []report.Finding{{Nodes: []int32{1}}}, Sources: []int32{3, 12}},
	}})
	want := []report.Finding{
		{Summary: "a", Explanation: "b [Data: Entities (0, 1)]"},
		{Summary: "c", Explanation: "d [Data: Reports (0, 8)]", Sources: []int32{3, 12}},
	}
	diff := cmp.Diff(want, r.Findings)
	check.True(t, diff == "" && err == nil, "%s, %v", diff, err)
}

func TestReportErrors(t *testing.T) {
	g, h := library()
	for _, tt := range []struct {
		kind llm.Kind
		ends bool
	}{{llm.ErrTruncated, false}, {llm.ErrRefused, false}, {llm.ErrAuth, true}, {llm.ErrBudgetExceeded, true}} {
		model := llmtest.NewScript("writer").Fail(llmtest.Any, &llm.Error{Kind: tt.kind, Usage: llm.Usage{Calls: 1}})
		reporter := check.Of(report.ByModel(report.ModelOptions{Model: model})).OK(t)
		set, err := report.Write(t.Context(), g, h, report.Options{Reporter: reporter})
		check.True(t, tt.ends == errors.Is(err, tt.kind), "%v: %v", tt.kind, err)
		check.True(t, tt.ends || len(set.Failed) == 1 && errors.Is(set.Failed[0].Err, tt.kind),
			"%v: %+v", tt.kind, set)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &recorder{shown: map[int32]*report.Input{}}
	check.Is(t, check.Err(report.Write(ctx, g, h, report.Options{Reporter: r})), context.Canceled, "cancelled")
	if _, err := report.Write(t.Context(), g, h, report.Options{Tokens: -1, Concurrency: -1}); err == nil ||
		!strings.Contains(err.Error(), "Reporter") || !strings.Contains(err.Error(), "Concurrency") {
		t.Errorf("options: %v", err)
	}
	g.Edges[0].Target = 3
	check.True(t, check.Err(report.Write(t.Context(), g, h, report.Options{Reporter: r})) != nil, "an edge to a node that is not there")
	empty, err := report.Write(t.Context(), &report.Graph{}, community.Hierarchy{}, report.Options{Reporter: r})
	check.True(t, err == nil && len(empty.Reports) == 0 && empty.Of(0) == nil, "nothing: %+v, %v", empty, err)
}

func TestReportsDoNotDependOnConcurrency(t *testing.T) {
	reporter := check.Of(report.Extractive(nil)).OK(t)
	g, h := parts()
	var sets []*report.Set
	for _, workers := range []int{1, 5} {
		set := check.Of(report.Write(t.Context(), g, h, report.Options{Reporter: reporter, Tokens: 6, CountTokens: rows, Concurrency: workers})).OK(t)
		sets = append(sets, set)
	}
	check.Equal(t, len(sets[0].Reports), 3, "reports")
	check.Equal(t, sets[1].Reports, sets[0].Reports)
}

// Any reply of a model is read as a report or refused.
func FuzzModelReport(f *testing.F) {
	f.Add(reply)
	f.Add(`{"title": "a", "summary": "b", "rating": -1, "findings": null}`)
	f.Add(`{"title": "a", "summary": "b", "findings": [{"summary": "Entities (99999999999999999999)", "explanation": "reports (,,)"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		model := llmtest.NewScript("writer").Reply(llmtest.Any, text)
		reporter := check.Of(report.ByModel(report.ModelOptions{Model: model})).OK(t)
		g, _ := library()
		r, err := reporter.Report(t.Context(), &report.Input{Graph: g, Nodes: []int32{0, 1}, Edges: []int32{0}})
		if err != nil {
			return
		}
		check.True(t, r.Title != "" && r.Summary != "" && (r.Rating >= 0 && r.Rating <= 10), "%+v", r)
		for _, finding := range r.Findings {
			for _, v := range finding.Nodes {
				check.True(t, v <= 1, "cites node %d", v)
			}
		}
	})
}

func ExampleWrite() {
	reporter, err := report.Extractive(nil)
	if err != nil {
		panic(err)
	}
	g, h := library()
	set, err := report.Write(context.Background(), g, h, report.Options{Reporter: reporter})
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Reports[0].Title)
	fmt.Println(set.Reports[0].Sources)
	// Output:
	// Ashby Library; Mary Ashby; Reading Room
	// [10 11 12 13]
}

// Every report in the recorded replies of a real model is read without a second request.
func TestRecordedReplies(t *testing.T) {
	reports, findings := 0, 0
	for _, c := range llmtest.Calls(t) {
		if !strings.Contains(c.System, `"rating_explanation"`) {
			continue
		}
		m := llmtest.NewScript("m").Reply(llmtest.Any, c.Reply)
		by := check.Of(report.ByModel(report.ModelOptions{Model: m})).OK(t)
		r, err := by.Report(t.Context(), &report.Input{Graph: &report.Graph{}})
		check.True(t, err == nil && m.Calls() == 1 && r.Title != "" && r.Summary != "" && len(r.Findings) != 0,
			"%d calls, %+v, %v", m.Calls(), r, err)
		reports++
		findings += len(r.Findings)
	}
	check.True(t, reports == 66 && findings == 241, "%d reports with %d findings", reports, findings)
}

// Which reports are written if not all are wanted: also those of the parts of a community that does not fit,
// and of the community above one that has no inner edge, is too small or fails. Each gets the same material as
// when all are written.
func TestWanted(t *testing.T) {
	for _, tt := range []struct {
		name    string
		wanted  []int32
		tokens  int
		minSize int
		fails   map[int32]error
		written []int32
	}{
		{"all", nil, 0, 0, nil, []int32{0, 1, 2}},
		{"none", []int32{}, 0, 0, nil, nil},
		{"a part", []int32{1}, 0, 0, nil, []int32{1}},
		{"the whole", []int32{0}, 0, 0, nil, []int32{0}},
		{"the whole of its parts", []int32{0}, 80, 0, nil, []int32{0, 1, 2}},
		{"without an edge", []int32{2, 3}, 0, 0, nil, []int32{0, 2}},
		{"too small", []int32{1, 2}, 0, 3, nil, []int32{0, 1}},
		{"all of a size", nil, 0, 3, nil, []int32{0, 1}},
		{"failed", []int32{1, 2}, 0, 0, map[int32]error{2: llm.ErrEmpty}, []int32{0, 1, 2}},
	} {
		g, h := parts()
		some, all := &recorder{fails: tt.fails, shown: map[int32]*report.Input{}}, &recorder{fails: tt.fails, shown: map[int32]*report.Input{}}
		o := report.Options{Reporter: some, Wanted: tt.wanted, Tokens: tt.tokens, MinSize: tt.minSize}
		set := check.Of(report.Write(t.Context(), g, h, o)).OK(t)
		written := slices.Sorted(maps.Keys(some.shown))
		diff := cmp.Diff(tt.written, written)
		check.True(t, diff == "" && len(set.Reports) == len(written)-len(tt.fails), "%s: %d reports; (-want +written) %s", tt.name, len(set.Reports), diff)
		o.Reporter, o.Wanted = all, nil
		check.OK(t, check.Err(report.Write(t.Context(), g, h, o)))
		for c, shown := range some.shown {
			if diff := cmp.Diff(all.shown[c].Text(), shown.Text()); diff != "" && tt.fails == nil {
				t.Errorf("%s: community %d is shown (-all +wanted):\n%s", tt.name, c, diff)
			}
		}
	}
	g, h := parts()
	_, err := report.Write(t.Context(), g, h, report.Options{Reporter: &recorder{}, Wanted: []int32{9}})
	check.Fails(t, err, "community 9", "a community that is not there")
}

// The text of a report has no references that mean something only with its tables.
func TestTextWithoutMarks(t *testing.T) {
	r := report.Report{Title: "T", Summary: "One. [Data: Entities (0)]", Findings: []report.Finding{
		{Summary: "Two [data: Reports (1, +more)].", Explanation: "Three [Data: Entities (3, 17); Relationships (5)]. Four [1945]."}}}
	got, want := r.Text(), "# T\n\nOne.\n\n## Two.\n\nThree. Four [1945]."
	check.Equal(t, got, want)
}

// parts is a community P (0) of the nodes 0 to 6 with the parts A = {0, 1, 2}, B = {3, 4}, {5} and {6}. The
// combined degrees of its edges are 8, 7, 3, 6, 6; the last edge leads out of the community.
func parts() (*report.Graph, community.Hierarchy) {
	said := func(s string) []kg.Description { return []kg.Description{{Text: s}} }
	g := &report.Graph{}
	for v, degree := range []int{5, 3, 4, 2, 1, 1, 0, 9} {
		g.Nodes = append(g.Nodes, report.Node{Title: fmt.Sprintf("n%d", v), Descriptions: said(fmt.Sprintf("node %d", v)), Degree: degree})
	}
	for _, e := range [][2]int32{{0, 1}, {1, 2}, {3, 4}, {2, 3}, {0, 5}, {4, 7}} {
		g.Edges = append(g.Edges, report.Edge{Source: e[0], Target: e[1], Descriptions: said(fmt.Sprintf("%d to %d", e[0], e[1]))})
	}
	return g, community.Hierarchy{Levels: 2, Nodes: 8, Communities: []community.Community{
		{Parent: -1, Children: []int32{1, 2, 3, 4}, Nodes: []int32{0, 1, 2, 3, 4, 5, 6}},
		{Level: 1, Nodes: []int32{0, 1, 2}}, {Level: 1, Nodes: []int32{3, 4}}, {Level: 1, Nodes: []int32{5}}, {Level: 1, Nodes: []int32{6}},
	}}
}

// rows counts the rows of tables: each begins with its id, and the header with -.
func rows(text string) (n int) {
	for line := range strings.Lines(text) {
		if line[0] >= '0' && line[0] <= '9' {
			n++
		}
	}
	return n
}

// recorder stores its input, and fails for given communities.
type recorder struct {
	mu    sync.Mutex
	shown map[int32]*report.Input
	fails map[int32]error
}

func (r *recorder) Report(_ context.Context, c *report.Input) (report.Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown[c.Community] = c
	return report.Report{Title: fmt.Sprintf("report %d", c.Community), Summary: "short"}, r.fails[c.Community]
}

// TestPacking is worked out by hand, with one token for each row: P has 7 nodes and 5 edges, A 3 and 2, B 2 and
// 1.
func TestPacking(t *testing.T) {
	type shown struct {
		Nodes, Edges, Reports []int32
		Tokens                int
	}
	invalid := fmt.Errorf("no JSON: %w", llm.ErrInvalidOutput)
	for _, tt := range []struct {
		name   string
		tokens int
		fails  map[int32]error
		want   map[int32]shown
		failed []int32
	}{
		{"all fits", 12, nil, map[int32]shown{
			// Sorted by combined degree: 0–1, 1–2, 2–3, which precedes 0–5 by id, 3–4; then the member without
			// an edge; never 4–7.
			0: {Nodes: []int32{0, 1, 2, 3, 5, 4, 6}, Edges: []int32{0, 1, 3, 4, 2}, Tokens: 12},
			1: {Nodes: []int32{0, 1, 2}, Edges: []int32{0, 1}, Tokens: 5},
			2: {Nodes: []int32{3, 4}, Edges: []int32{2}, Tokens: 3},
		}, nil},
		{"largest part by its report", 10, nil, map[int32]shown{
			// One report, the nodes 3 to 6, and the three edges that end at one of them.
			0: {Nodes: []int32{3, 5, 4, 6}, Edges: []int32{3, 4, 2}, Reports: []int32{1}, Tokens: 8},
			1: {Nodes: []int32{0, 1, 2}, Edges: []int32{0, 1}, Tokens: 5},
			2: {Nodes: []int32{3, 4}, Edges: []int32{2}, Tokens: 3},
		}, nil},
		{"both parts by reports", 6, nil, map[int32]shown{
			0: {Nodes: []int32{5, 6}, Edges: []int32{4}, Reports: []int32{1, 2}, Tokens: 5},
			1: {Nodes: []int32{0, 1, 2}, Edges: []int32{0, 1}, Tokens: 5},
			2: {Nodes: []int32{3, 4}, Edges: []int32{2}, Tokens: 3},
		}, nil},
		{"reports alone", 4, nil, map[int32]shown{
			0: {Reports: []int32{1, 2}, Tokens: 2},
			// 0–1 with both nodes takes 3 rows, 1–2 with node 2 would make 5.
			1: {Nodes: []int32{0, 1}, Edges: []int32{0}, Tokens: 3},
			2: {Nodes: []int32{3, 4}, Edges: []int32{2}, Tokens: 3},
		}, nil},
		{"nothing fits", 2, nil, map[int32]shown{}, []int32{0, 1, 2}},
		{"a part without a report keeps its rows", 10, map[int32]error{1: invalid}, map[int32]shown{
			0: {Nodes: []int32{0, 1, 2, 5, 6}, Edges: []int32{0, 1, 3, 4}, Reports: []int32{2}, Tokens: 10},
			1: {Nodes: []int32{0, 1, 2}, Edges: []int32{0, 1}, Tokens: 5},
			2: {Nodes: []int32{3, 4}, Edges: []int32{2}, Tokens: 3},
		}, []int32{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, h := parts()
			r := &recorder{shown: map[int32]*report.Input{}, fails: tt.fails}
			set := check.Of(report.Write(t.Context(), g, h, report.Options{Reporter: r, Tokens: tt.tokens, CountTokens: rows})).OK(t)
			got := map[int32]shown{}
			for id, c := range r.shown {
				s := shown{Nodes: c.Nodes, Edges: c.Edges, Tokens: c.Tokens}
				for _, r := range c.Reports {
					s.Reports = append(s.Reports, r.Community)
				}
				got[id] = s
				n := rows(c.Text())
				check.True(t, n == c.Tokens, "community %d: %d rows for %d tokens", id, n, c.Tokens)
			}
			check.Equal(t, got, tt.want)
			var failed []int32
			for _, f := range set.Failed {
				failed = append(failed, f.Community)
				check.True(t, f.Err != nil && set.Of(f.Community) == nil,
					"community %d failed: %v", f.Community, f.Err)
			}
			check.Equal(t, failed, tt.failed)
			for c := range tt.want {
				r := set.Of(c)
				check.True(t, tt.fails[c] != nil || r != nil && r.Community == c, "report of %d: %+v", c, r)
			}
		})
	}
}

// The tables are comma-separated values with quotes by RFC 4180.
func TestReportContextText(t *testing.T) {
	g := &report.Graph{
		Nodes: []report.Node{
			{Title: `The "Owl"`, Degree: 1, Descriptions: []kg.Description{{Text: "A pub."}, {Text: "It is old, they say."}}},
			{Title: "Leeds", Degree: 2},
		},
		Edges: []report.Edge{{Source: 0, Target: 1, Descriptions: []kg.Description{{Text: "It stands\nthere."}}}},
	}
	c := report.Input{Graph: g, Nodes: []int32{0, 1}, Edges: []int32{0}, Reports: []*report.Report{{Community: 7, Title: "T", Summary: "S."}}}
	want := `-----Reports-----
community,full_content
0,"# T

S."

-----Entities-----
id,entity,description,degree
0,"The ""Owl""","A pub. It is old, they say.",1
1,Leeds,,2

-----Relationships-----
id,source,target,description,combined_degree
0,"The ""Owl""",Leeds,"It stands
there.",3
`
	check.Equal(t, c.Text(), want)
}
