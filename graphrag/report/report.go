// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
)

// Graph is the subject of reports: nodes and edges with descriptions, which are identified by their indexes.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Node is an entity. The passages of its descriptions are numbers that the caller chooses, e.g. of chunks; they
// are returned as the Sources of reports.
type Node struct {
	Title        string
	Descriptions []kg.Description
	// Degree is the number of its neighbours in the whole graph.
	Degree int
}

// Edge is a relation between two nodes, given by their indexes.
type Edge struct {
	Source, Target int32
	Descriptions   []kg.Description
}

// CombinedDegree returns the rank of an edge: the sum of the degrees of its ends.
func (g *Graph) CombinedDegree(edge int32) int {
	e := &g.Edges[edge]
	return g.Nodes[e.Source].Degree + g.Nodes[e.Target].Degree
}

func (g *Graph) check(h community.Hierarchy) error {
	n := int32(len(g.Nodes))
	for i, e := range g.Edges {
		if e.Source < 0 || e.Source >= n || e.Target < 0 || e.Target >= n {
			return fmt.Errorf("report: edge %d is between %d and %d: there are %d nodes", i, e.Source, e.Target, n)
		}
	}
	for c := range h.Communities {
		for _, v := range h.Communities[c].Nodes {
			if v < 0 || v >= n {
				return fmt.Errorf("report: community %d has node %d: there are %d", c, v, n)
			}
		}
		for _, child := range h.Communities[c].Children {
			if child < 0 || int(child) >= len(h.Communities) || h.Communities[child].Level != h.Communities[c].Level+1 {
				return fmt.Errorf("report: community %d has the child %d, which is not one level below", c, child)
			}
		}
	}
	return nil
}

// Report is the report on one community. Its JSON contains the texts, without indexes of a graph.
type Report struct {
	Community int32  `json:"-"`
	Title     string `json:"title"`
	Summary   string `json:"summary"`
	// Rating is the importance of the community, 0 to 10, followed by the reason; 0 means that it is not rated.
	Rating            float64   `json:"rating,omitempty"`
	RatingExplanation string    `json:"rating_explanation,omitempty"`
	Findings          []Finding `json:"findings,omitempty"`
	// Sources are the passages on which the report is based, ascending: for an extractive report the sources of
	// its quotes, for a model's report the sources of its input.
	Sources []int32 `json:"-"`
}

// Finding is one insight of a report.
type Finding struct {
	Summary     string `json:"summary"`
	Explanation string `json:"explanation,omitempty"`
	// Nodes and Edges are those on which the finding is based, Sources their passages. A model cites them;
	// citations that were not in its input are left out.
	Nodes, Edges, Sources []int32 `json:"-"`
}

// Text returns the report as Markdown: title, summary, and a section for each finding, without citation marks,
// which refer to the tables of the prompt.
func (r *Report) Text() string {
	parts := append(make([]string, 0, 4+4*len(r.Findings)), "# ", r.Title, "\n\n", Unmarked(r.Summary))
	for _, f := range r.Findings {
		parts = append(parts, "\n\n## ", Unmarked(f.Summary))
		if f.Explanation != "" {
			parts = append(parts, "\n\n", Unmarked(f.Explanation))
		}
	}
	return strings.Join(parts, "")
}

// mark matches a citation mark with the white space before it.
var mark = regexp.MustCompile(`(?i)\s*\[data:[^\[\]]*\]`)

// Unmarked removes marks such as [Data: Entities (3, 17)] with the white space before them.
func Unmarked(text string) string {
	if strings.IndexByte(text, '[') >= 0 {
		text = mark.ReplaceAllString(text, "")
	}
	return strings.TrimSpace(text)
}

// Reporter writes the report of one community from its [Input].
//
// Report does not change its argument, is safe for concurrent use, and stops
// with the context's error when ctx is cancelled.
type Reporter interface {
	Report(ctx context.Context, c *Input) (Report, error)
}

// Options are the options of [Write].
type Options struct {
	// Reporter is required.
	Reporter Reporter
	// Tokens limits the input of a report: the sum of CountTokens over its rows; 0 means 8,000
	// (microsoft/graphrag, config/defaults.py, max_input_length). A nil CountTokens counts tokens of cl100k.
	Tokens      int
	CountTokens func(string) int
	// MinSize is the least number of members of a community with a report; 0 is no limit.
	MinSize int
	// Wanted are the communities whose reports are needed, nil for all. Another community gets a report only if
	// one of these needs it: as a part whose rows do not fit, or as the community above one without a report.
	Wanted []int32
	// Concurrency is the number of concurrent reports; 0 means 8. It does not change the result.
	Concurrency int
}

func (o Options) resolve() (Options, error) {
	checks := opt.Checks{Of: "report"}
	checks.Want(o.Reporter != nil, "Reporter", "missing", "a reporter")
	opt.Min(&checks, "Tokens", o.Tokens, 0)
	opt.Min(&checks, "MinSize", o.MinSize, 0)
	opt.Min(&checks, "Concurrency", o.Concurrency, 0)
	o.Tokens = cmp.Or(o.Tokens, 8000)
	if o.CountTokens == nil {
		o.CountTokens = tokens.Cl100k().Count
	}
	o.Concurrency = cmp.Or(o.Concurrency, 8)
	return o, checks.Err()
}

// Set holds the reports of a hierarchy.
type Set struct {
	// Reports are in the order of their communities.
	Reports []Report
	// Failed lists the communities whose report failed, with the errors. Reports above them use their rows.
	Failed []Failure

	of []int32
}

// Failure is a report that failed.
type Failure struct {
	Community int32
	Err       error
}

// Of returns the report of a community, nil if there is none.
func (s *Set) Of(community int32) *Report {
	if community < 0 || int(community) >= len(s.of) || s.of[community] < 0 {
		return nil
	}
	return &s.Reports[s.of[community]]
}

// Write writes a report for each community with an edge inside, the deepest level first, so that a
// community too large for the prompt can be described by the reports of its parts (From Local to Global,
// arXiv 2404.16130, section 3.1.4; by the rules of microsoft/graphrag v0.3.0, see [Input]).
//
// A report that the model cannot write, because its reply is unusable, cut or refused, is listed as failed.
// Any other error ends the work. The result does not depend on the number of workers.
func Write(ctx context.Context, g *Graph, h community.Hierarchy, o Options) (*Set, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if err := g.check(h); err != nil {
		return nil, err
	}
	p, err := newPacker(ctx, g, h, o)
	if err != nil {
		return nil, fmt.Errorf("report: select the rows of communities: %w", err)
	}
	for level := h.Levels - 1; level >= 0; level-- {
		if err := p.level(ctx, int32(level)); err != nil {
			return nil, fmt.Errorf("report: level %d: %w", level, err)
		}
	}
	return p.set(), ctx.Err()
}

// level writes the reports of one level.
func (p *packer) level(ctx context.Context, level int32) error {
	communities := p.enter(level)
	err := share.Each(ctx, len(communities), p.o.Concurrency, func(ctx context.Context, i int) error { return p.report(ctx, communities[i]) })
	for _, c := range communities { // a failed report is replaced by rows one level above
		if parent := p.h.Communities[c].Parent; p.reports[c] == nil && parent >= 0 {
			p.want(parent)
		}
	}
	return cmp.Or(ctx.Err(), err)
}

// report writes one report, or stores its error.
func (p *packer) report(ctx context.Context, c int32) error {
	shown := &Input{Graph: p.g, Community: c}
	if p.size[c] <= p.o.Tokens || !p.substitute(shown) {
		p.walk(shown, p.nodes[c], p.edges[c])
	}
	if len(shown.Nodes) == 0 && len(shown.Reports) == 0 {
		p.failed[c] = fmt.Errorf("no row of the community fits into %d tokens: raise Options.Tokens", p.o.Tokens)
		return nil
	}
	r, err := p.o.Reporter.Report(ctx, shown)
	if err != nil {
		if !llm.OfOneReply(err) {
			return fmt.Errorf("report of community %d: %w", c, err)
		}
		p.failed[c] = err
		return nil
	}
	r.Community = c
	p.reports[c] = &r
	p.reportTokens[c] = p.o.CountTokens(reportRow(0, &r))
	return nil
}

// set returns the reports and the failures.
func (p *packer) set() *Set {
	s := &Set{of: make([]int32, len(p.reports))}
	for c, r := range p.reports {
		s.of[c] = -1
		if r != nil {
			s.of[c] = int32(len(s.Reports))
			s.Reports = append(s.Reports, *r)
		}
		if err := p.failed[c]; err != nil {
			s.Failed = append(s.Failed, Failure{int32(c), err})
		}
	}
	return s
}

// union merges lists into one that is ascending and without repetitions.
func union(lists ...[]int32) []int32 {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
