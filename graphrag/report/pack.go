// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Input is the part of a community that fits into the prompt for its report. Rows are selected
// by the rules of microsoft/graphrag v0.3.0, with edges restricted to the community:
//
//  1. Edges are taken by combined degree, the largest first, then by id, each with
//     its ends that are not included yet. Members without an edge inside come last,
//     by degree, then by id. If all fits, that is all.
//  2. Otherwise the parts of the community are ordered by their size in tokens, the largest first, and one
//     by one their rows are replaced by their report until the rest fits. Parts without a report keep their
//     rows; an edge stays while one of its ends does.
//  3. If not even all reports fit, reports are taken in that order as long as they fit, and no rows.
//  4. If there are no reports, or not even the first fits, rows are taken as in
//     1 up to the first that does not fit.
type Input struct {
	Graph     *Graph
	Community int32
	// Nodes and Edges are the rows, in order; Reports replace the rows of parts of the community.
	Nodes, Edges []int32
	Reports      []*Report
	Tokens       int // number of tokens of the rows
}

// The headings of the sections, with the names of their columns.
const (
	reportsHead   = "-----Reports-----\ncommunity,full_content\n"
	nodesHead     = "-----Entities-----\nid,entity,description,degree\n"
	edgesHead     = "-----Relationships-----\nid,source,target,description,combined_degree\n"
	sectionsBreak = "\n"
)

// Text returns the sections as comma-separated values, each under its heading. The number of a row is its
// position in the section, so that the text of a community does not change unless the community does.
func (c *Input) Text() string {
	var sections []string
	section := func(head string, n int, row func(int) string) {
		if n == 0 {
			return
		}
		b := strings.Builder{}
		b.WriteString(head)
		for i := range n {
			b.WriteString(row(i))
		}
		sections = append(sections, b.String())
	}
	section(reportsHead, len(c.Reports), func(i int) string { return reportRow(i, c.Reports[i]) })
	section(nodesHead, len(c.Nodes), func(i int) string { return c.Graph.nodeRow(i, c.Nodes[i]) })
	section(edgesHead, len(c.Edges), func(i int) string { return c.Graph.edgeRow(i, c.Edges[i]) })
	return strings.Join(sections, sectionsBreak)
}

// Sources returns the passages of everything in the input.
func (c *Input) Sources() []int32 {
	var all []int32
	for _, v := range c.Nodes {
		all = appendSources(all, c.Graph.Nodes[v].Descriptions)
	}
	for _, e := range c.Edges {
		all = appendSources(all, c.Graph.Edges[e].Descriptions)
	}
	for _, r := range c.Reports {
		all = append(all, r.Sources...)
	}
	return union(all)
}

func appendSources(to []int32, of []kg.Description) []int32 {
	for _, d := range of {
		to = append(to, d.Passages...)
	}
	return to
}

func (g *Graph) nodeRow(place int, v int32) string {
	n := &g.Nodes[v]
	return strconv.Itoa(place) + "," + field(n.Title) + "," + field(joined(n.Descriptions)) + "," + strconv.Itoa(n.Degree) + "\n"
}

func (g *Graph) edgeRow(place int, e int32) string {
	edge := &g.Edges[e]
	return strconv.Itoa(place) + "," + field(g.Nodes[edge.Source].Title) + "," + field(g.Nodes[edge.Target].Title) + "," +
		field(joined(edge.Descriptions)) + "," + strconv.Itoa(g.CombinedDegree(e)) + "\n"
}

func reportRow(place int, r *Report) string {
	return strconv.Itoa(place) + "," + field(r.Text()) + "\n"
}

func joined(of []kg.Description) string {
	texts := make([]string, len(of))
	for i, d := range of {
		texts[i] = d.Text
	}
	return strings.Join(texts, " ")
}

// field quotes a value by the rules of RFC 4180.
func field(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// packer selects the inputs of reports.
type packer struct {
	g *Graph
	h community.Hierarchy
	o Options

	nodeTokens, edgeTokens []int32 // number of tokens of each row
	head                   struct{ reports, nodes, edges int }
	nodeOrder, edgeOrder   []int32 // sorted by degree, by combined degree

	size   []int  // tokens of the rows of each community
	inside []int  // number of edges within each community
	needed []bool // communities whose report has to be written
	// The rows of each community of the current level and the level below, in order.
	nodes, edges [][]int32

	reports      []*Report
	reportTokens []int
	failed       []error
}

func newPacker(ctx context.Context, g *Graph, h community.Hierarchy, o Options) (*packer, error) {
	n := len(h.Communities)
	p := &packer{
		g: g, h: h, o: o, nodes: make([][]int32, n), edges: make([][]int32, n), size: make([]int, n), inside: make([]int, n), needed: make([]bool, n),
		reports: make([]*Report, n), reportTokens: make([]int, n), failed: make([]error, n),
	}
	p.head.reports, p.head.nodes, p.head.edges = o.CountTokens(reportsHead), o.CountTokens(nodesHead), o.CountTokens(edgesHead)
	var err error
	if p.nodeTokens, err = counted(ctx, len(g.Nodes), func(i int32) int { return o.CountTokens(g.nodeRow(0, i)) }); err != nil {
		return nil, err
	}
	if p.edgeTokens, err = counted(ctx, len(g.Edges), func(i int32) int { return o.CountTokens(g.edgeRow(0, i)) }); err != nil {
		return nil, err
	}
	p.nodeOrder = ordered(len(g.Nodes), func(v int32) int { return g.Nodes[v].Degree })
	p.edgeOrder = ordered(len(g.Edges), g.CombinedDegree)
	p.measure()
	for c := range h.Communities {
		if o.Wanted == nil {
			p.needed[c] = p.reportable(int32(c))
		}
	}
	for _, c := range o.Wanted {
		if c < 0 || int(c) >= n {
			return nil, fmt.Errorf("the list Wanted has community %d: there are %d communities", c, n)
		}
		p.want(c)
	}
	return p, nil
}

// measure computes the number of tokens of the rows of each community.
func (p *packer) measure() {
	for level := range int32(p.h.Levels) {
		of := p.members(level)
		for v, c := range of {
			if c >= 0 {
				p.size[c] += int(p.nodeTokens[v])
			}
		}
		for e := range p.g.Edges {
			edge := &p.g.Edges[e]
			if c := of[edge.Source]; c >= 0 && c == of[edge.Target] {
				p.size[c] += int(p.edgeTokens[e])
				p.inside[c]++
			}
		}
	}
	for c := range p.size {
		if p.inside[c] > 0 {
			p.size[c] += p.head.nodes + p.head.edges
		}
	}
}

// reportable reports whether a community gets a report.
func (p *packer) reportable(c int32) bool {
	return p.inside[c] > 0 && len(p.h.Communities[c].Nodes) >= p.o.MinSize
}

// want marks the report of a community as needed, or the report of the next community above if it gets none;
// and the reports of its parts if its rows do not fit.
func (p *packer) want(c int32) {
	for c >= 0 && !p.reportable(c) {
		c = p.h.Communities[c].Parent
	}
	if c < 0 || p.needed[c] {
		return
	}
	p.needed[c] = true
	if p.size[c] > p.o.Tokens {
		for _, part := range p.h.Communities[c].Children {
			if p.reportable(part) {
				p.want(part)
			}
		}
	}
}

// members returns, for each node, its community on a level, -1 for none.
func (p *packer) members(level int32) []int32 {
	of := make([]int32, len(p.g.Nodes))
	for v := range of {
		of[v] = -1
	}
	for c := range p.h.Communities {
		if p.h.Communities[c].Level == level {
			for _, v := range p.h.Communities[c].Nodes {
				of[v] = int32(c)
			}
		}
	}
	return of
}

// counted returns count(0) to count(n-1), computed on all processors.
func counted(ctx context.Context, n int, count func(int32) int) ([]int32, error) {
	out := make([]int32, n)
	return out, par.Ranges(ctx, n, 1024, 0, func(_, from, to int) error {
		for i := from; i < to; i++ {
			out[i] = int32(count(int32(i)))
		}
		return nil
	})
}

// ordered returns 0 to n-1 by rank, the largest first, equal ranks by number.
func ordered(n int, rank func(int32) int) []int32 {
	out, ranks := make([]int32, n), make([]int, n)
	for i := range out {
		out[i], ranks[i] = int32(i), rank(int32(i))
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(a, b)) })
	return out
}

// enter collects the rows of the communities of a level, discards those two levels below, and returns the
// communities that get a report.
func (p *packer) enter(level int32) []int32 {
	of := p.members(level)
	for _, v := range p.nodeOrder {
		if c := of[v]; c >= 0 {
			p.nodes[c] = append(p.nodes[c], v)
		}
	}
	for _, e := range p.edgeOrder {
		edge := &p.g.Edges[e]
		if c := of[edge.Source]; c >= 0 && c == of[edge.Target] {
			p.edges[c] = append(p.edges[c], e)
		}
	}
	var found []int32
	for c := range p.h.Communities {
		switch l := p.h.Communities[c].Level; {
		case l == level && p.needed[c]:
			found = append(found, int32(c))
		case l == level+2:
			p.nodes[c], p.edges[c] = nil, nil
		}
	}
	return found
}

// walk adds edges with their ends, then nodes, up to the first row that does not fit.
func (p *packer) walk(shown *Input, nodes, edges []int32) {
	w := walker{packer: p, shown: shown, allowed: make(map[int32]bool, len(nodes))}
	for _, v := range nodes {
		w.allowed[v] = true
	}
	for _, e := range edges {
		if !w.add(e, p.g.Edges[e].Source, p.g.Edges[e].Target) {
			return
		}
	}
	for _, v := range nodes {
		if !w.add(-1, v, v) {
			return
		}
	}
}

// walker adds rows. Each node is added at most once.
type walker struct {
	*packer
	shown   *Input
	allowed map[int32]bool
}

// add adds an edge, unless it is negative, and the nodes a and b, and reports whether they fit.
func (w *walker) add(edge, a, b int32) bool {
	cost, first := 0, len(w.shown.Nodes)
	ends := w.shown.Nodes
	for _, v := range []int32{a, b} {
		if w.allowed[v] {
			w.allowed[v] = false
			ends = append(ends, v)
			cost += int(w.nodeTokens[v])
		}
	}
	if len(ends) > 0 && first == 0 {
		cost += w.head.nodes
	}
	if edge >= 0 {
		cost += int(w.edgeTokens[edge])
		if len(w.shown.Edges) == 0 {
			cost += w.head.edges
		}
	}
	if w.shown.Tokens+cost > w.o.Tokens {
		return false
	}
	w.shown.Tokens += cost
	w.shown.Nodes = ends
	if edge >= 0 {
		w.shown.Edges = append(w.shown.Edges, edge)
	}
	return true
}

// substitute replaces the rows of parts by their reports until the rest fits, or else selects as many reports
// as fit. It reports whether there is any report.
func (p *packer) substitute(shown *Input) bool {
	c := shown.Community
	var parts []int32
	for _, part := range p.h.Communities[c].Children {
		if p.reports[part] != nil {
			parts = append(parts, part)
		}
	}
	slices.SortFunc(parts, func(a, b int32) int { return cmp.Or(cmp.Compare(p.size[b], p.size[a]), cmp.Compare(a, b)) })
	step := make(map[int32]int, len(p.nodes[c])) // number of the part that replaces each node, 0 for none
	for i, part := range parts {
		for _, v := range p.nodes[part] {
			step[v] = i + 1
		}
	}
	rest, reports := p.rest(c, step, len(parts)), p.head.reports
	for i, part := range parts {
		reports += p.reportTokens[part]
		if reports+rest[i+1] > p.o.Tokens {
			continue
		}
		for _, part := range parts[:i+1] {
			shown.Reports = append(shown.Reports, p.reports[part])
		}
		shown.Tokens = reports
		stays := func(v int32) bool { return step[v] == 0 || step[v] > i+1 }
		p.walk(shown, filter(p.nodes[c], stays), filter(p.edges[c], func(e int32) bool {
			return stays(p.g.Edges[e].Source) || stays(p.g.Edges[e].Target)
		}))
		return true
	}
	for _, part := range parts {
		cost := p.reportTokens[part]
		if len(shown.Reports) == 0 {
			cost += p.head.reports
		}
		if shown.Tokens+cost > p.o.Tokens {
			break
		}
		shown.Tokens += cost
		shown.Reports = append(shown.Reports, p.reports[part])
	}
	return len(shown.Reports) > 0
}

// rest returns the tokens of the remaining rows after each of the replacements. An edge is removed with the
// last of its ends.
func (p *packer) rest(c int32, step map[int32]int, steps int) []int {
	type tally struct{ rows, tokens int }
	nodes, edges := make([]tally, steps+1), make([]tally, steps+1)
	add := func(t *tally, tokens int32) { t.rows++; t.tokens += int(tokens) }
	for _, v := range p.nodes[c] {
		add(&nodes[step[v]], p.nodeTokens[v])
	}
	for _, e := range p.edges[c] {
		a, b := step[p.g.Edges[e].Source], step[p.g.Edges[e].Target]
		at := max(a, b)
		if a == 0 || b == 0 {
			at = 0
		}
		add(&edges[at], p.edgeTokens[e])
	}
	out := make([]int, steps+1)
	sum := func(of []tally, head int) {
		left := of[0]
		for i := steps; ; i-- {
			if left.rows > 0 {
				out[i] += head + left.tokens
			}
			if i == 0 {
				return
			}
			left.rows += of[i].rows
			left.tokens += of[i].tokens
		}
	}
	sum(nodes, p.head.nodes)
	sum(edges, p.head.edges)
	return out
}

func filter(ids []int32, keep func(int32) bool) []int32 {
	var out []int32
	for _, id := range ids {
		if keep(id) {
			out = append(out, id)
		}
	}
	return out
}
