// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// ExtractiveOptions of [Extractive].
type ExtractiveOptions struct {
	// Findings is the most findings of a report; 0 means 10. Reports of models
	// have 5 to 10 (microsoft/graphrag, prompts/index/community_report.py).
	Findings int
	// TitleMembers is how many members the title names; 0 means 3.
	TitleMembers int
	// Summary condenses the descriptions; nil means summary.Extractive with its
	// default length. Its summaries must have quotes, because text without a
	// source has no place in an extractive report.
	Summary summary.Summarizer
}

// Extractive returns a reporter that needs no model. The title names the
// members of highest degree. Summary and findings are quoted from the
// descriptions of what is shown, each with the passages it is from: the summary
// is what Summary makes of them, a finding is the first description not quoted
// yet of one row, edges before members, in the order of the rows. Reports of
// parts give their findings where rows do not suffice. There is no rating.
func Extractive(o ExtractiveOptions) (Reporter, error) {
	checks := opt.Checks{Of: "report"}
	opt.Min(&checks, "Findings", o.Findings, 0)
	opt.Min(&checks, "TitleMembers", o.TitleMembers, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	o.Findings = cmp.Or(o.Findings, 10)
	o.TitleMembers = cmp.Or(o.TitleMembers, 3)
	if o.Summary == nil {
		var err error
		if o.Summary, err = summary.Extractive(summary.ExtractiveOptions{}); err != nil {
			return nil, err
		}
	}
	return &extractiveReporter{o}, nil
}

type extractiveReporter struct{ o ExtractiveOptions }

// Name implements [Reporter].
func (x *extractiveReporter) Name() string {
	return fmt.Sprintf("%s/%d findings", x.o.Summary.Name(), x.o.Findings)
}

// Report implements [Reporter].
func (x *extractiveReporter) Report(ctx context.Context, c *Input) (Report, error) {
	r := Report{Title: x.title(c)}
	m := gatherMaterial(c)
	if len(m.texts) == 0 {
		return r, ctx.Err()
	}
	s, err := x.o.Summary.Summarize(ctx, m.texts)
	if err != nil {
		return Report{}, err
	}
	if s.Text != "" && len(s.Quotes) == 0 {
		return Report{}, errors.New("report: an extractive report needs a summarizer that quotes")
	}
	r.Summary = s.Text
	quoted := make([]bool, len(m.texts))
	for _, q := range s.Quotes {
		quoted[q.Source] = true
		r.Sources = append(r.Sources, m.sources[q.Source]...)
	}
	r.Findings = x.findings(c, m, quoted)
	for _, f := range r.Findings {
		r.Sources = append(r.Sources, f.Sources...)
	}
	r.Sources = union(r.Sources)
	return r, nil
}

// title names the members of highest degree, of parts by their titles.
func (x *extractiveReporter) title(c *Input) string {
	order := ordered(len(c.Nodes), func(i int32) int { return c.Graph.Nodes[c.Nodes[i]].Degree })
	var names []string
	for _, i := range order[:min(len(order), x.o.TitleMembers)] {
		names = append(names, c.Graph.Nodes[c.Nodes[i]].Title)
	}
	for _, r := range c.Reports {
		if len(names) < x.o.TitleMembers {
			first, _, _ := strings.Cut(r.Title, titleBreak)
			names = append(names, first)
		}
	}
	return strings.Join(names, titleBreak)
}

const titleBreak = "; "

// material are the descriptions that can be quoted, each once.
type material struct {
	texts   []string
	sources [][]int32
	at      map[string]int
}

// gatherMaterial takes the descriptions of edges, nodes and the parts' findings.
func gatherMaterial(c *Input) *material {
	m := &material{at: make(map[string]int)}
	for _, e := range c.Edges {
		m.describe(c.Graph.Edges[e].Descriptions)
	}
	for _, v := range c.Nodes {
		m.describe(c.Graph.Nodes[v].Descriptions)
	}
	for _, r := range c.Reports {
		for _, f := range r.Findings {
			m.add(f.Explanation, f.Sources)
		}
	}
	return m
}

func (m *material) describe(of []kg.Description) {
	for _, d := range of {
		m.add(d.Text, d.Passages)
	}
}

func (m *material) add(text string, sources []int32) {
	if strings.TrimSpace(text) == "" {
		return
	}
	i, ok := m.at[text]
	if !ok {
		i = len(m.texts)
		m.at[text] = i
		m.texts, m.sources = append(m.texts, text), append(m.sources, nil)
	}
	m.sources[i] = union(m.sources[i], sources)
}

// findings quotes one description of each row, as long as there are any that
// are not quoted yet.
func (x *extractiveReporter) findings(c *Input, m *material, quoted []bool) []Finding {
	var out []Finding
	free := func(of []kg.Description) (string, bool) { // the first that is not quoted yet
		for _, d := range of {
			if i, ok := m.at[d.Text]; ok && !quoted[i] {
				return d.Text, true
			}
		}
		return "", false
	}
	take := func(text, about string, nodes, edges []int32) {
		i, ok := m.at[text]
		if !ok || quoted[i] || len(out) == x.o.Findings {
			return
		}
		quoted[i] = true
		out = append(out, Finding{Summary: about, Explanation: oneLine(text), Nodes: nodes, Edges: edges, Sources: m.sources[i]})
	}
	for _, e := range c.Edges {
		if len(out) == x.o.Findings {
			return out
		}
		edge := &c.Graph.Edges[e]
		if text, ok := free(edge.Descriptions); ok {
			take(text, c.Graph.Nodes[edge.Source].Title+" – "+c.Graph.Nodes[edge.Target].Title, []int32{edge.Source, edge.Target}, []int32{e})
		}
	}
	for _, v := range c.Nodes {
		if text, ok := free(c.Graph.Nodes[v].Descriptions); ok {
			take(text, c.Graph.Nodes[v].Title, []int32{v}, nil)
		}
	}
	for round := 0; len(out) < x.o.Findings; round++ { // of each part in turn
		more := false
		for _, r := range c.Reports {
			if round < len(r.Findings) {
				f := &r.Findings[round]
				take(f.Explanation, f.Summary, f.Nodes, f.Edges)
				more = true
			}
		}
		if !more {
			break
		}
	}
	return out
}

// oneLine is a text with single blanks: itself, if it is one.
func oneLine(s string) string {
	blank := true // before the text
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && blank {
			return strings.Join(strings.Fields(s), " ")
		}
		blank = c == ' '
	}
	if blank {
		return strings.TrimSuffix(s, " ")
	}
	return s
}
