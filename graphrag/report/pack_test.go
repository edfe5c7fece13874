// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// parts is a community P (0) of the nodes 0 to 6 with the parts A = {0, 1, 2},
// B = {3, 4}, {5} and {6}. Combined degrees are 8, 7, 3, 6, 6; the last edge
// leaves the community.
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

// rows counts the rows of tables: each row begins with its id, a head with -.
func rows(text string) (n int) {
	for line := range strings.Lines(text) {
		if line[0] >= '0' && line[0] <= '9' {
			n++
		}
	}
	return n
}

// recorder keeps what it was shown and fails where it is told to.
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

// TestPacking is worked out by hand. In tokens of one row each, P has 7 nodes
// and 5 edges, A 3 and 2, B 2 and 1.
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
			// By combined degree: 0–1, 1–2, 2–3 before 0–5 by id, 3–4; the member
			// without an edge last; never 4–7.
			0: {Nodes: []int32{0, 1, 2, 3, 5, 4, 6}, Edges: []int32{0, 1, 3, 4, 2}, Tokens: 12},
			1: {Nodes: []int32{0, 1, 2}, Edges: []int32{0, 1}, Tokens: 5},
			2: {Nodes: []int32{3, 4}, Edges: []int32{2}, Tokens: 3},
		}, nil},
		{"largest part by its report", 10, nil, map[int32]shown{
			// 1 report, nodes 3 to 6, and the three edges with an end among them.
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
			// 0–1 with its ends are 3, 1–2 with node 2 would make 5.
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

// The tables are comma-separated values as RFC 4180 quotes them.
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
