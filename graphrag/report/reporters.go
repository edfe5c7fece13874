// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"embed"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// maxFindings is the largest number of findings of an extractive report. Reports of models have 5 to 10
// (microsoft/graphrag, prompts/index/community_report.py).
const maxFindings = 10

// Extractive returns a reporter that needs no model. The title names the members with the highest degree.
// Summary and findings are quoted from the descriptions in the input, each with its passages: s makes the
// summary, nil is summary.Extractive with its default length; a finding is the first description of a row that
// is not quoted yet, for edges, then for members, in the order of the rows. If there are too few rows, findings
// of the reports of parts are added. There is no rating. Summaries of s must have quotes, because a report must
// not contain text without a source.
func Extractive(s summary.Summarizer) (Reporter, error) {
	if s == nil {
		var err error
		if s, err = summary.Extractive(summary.ExtractiveOptions{}); err != nil {
			return nil, err
		}
	}
	return &extractiveReporter{s}, nil
}

type extractiveReporter struct{ summary.Summarizer }

func (x *extractiveReporter) Report(ctx context.Context, c *Input) (Report, error) {
	r := Report{Title: x.title(c)}
	m := gatherMaterial(c)
	if len(m.texts) == 0 {
		return r, ctx.Err()
	}
	s, err := x.Summarize(ctx, m.texts)
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

// title returns the names of the members with the highest degree, or the titles of the parts.
func (x *extractiveReporter) title(c *Input) string {
	order := ordered(len(c.Nodes), func(i int32) int { return c.Graph.Nodes[c.Nodes[i]].Degree })
	var names []string
	for _, i := range order[:min(len(order), titleMembers)] {
		names = append(names, c.Graph.Nodes[c.Nodes[i]].Title)
	}
	for _, r := range c.Reports {
		if len(names) < titleMembers {
			first, _, _ := strings.Cut(r.Title, titleBreak)
			names = append(names, first)
		}
	}
	return strings.Join(names, titleBreak)
}

// The number of names in a title, and their separator.
const (
	titleMembers = 3
	titleBreak   = "; "
)

// material holds the descriptions that can be quoted, each once.
type material struct {
	texts   []string
	sources [][]int32
	at      map[string]int
}

// gatherMaterial collects the descriptions of edges and nodes, and the findings of parts.
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

// findings quotes from each row the first description that is not quoted yet.
func (x *extractiveReporter) findings(c *Input, m *material, quoted []bool) []Finding {
	var out []Finding
	free := func(of []kg.Description) (string, bool) { // returns the first description that is not quoted yet
		for _, d := range of {
			if i, ok := m.at[d.Text]; ok && !quoted[i] {
				return d.Text, true
			}
		}
		return "", false
	}
	take := func(text, about string, nodes, edges []int32) {
		i, ok := m.at[text]
		if !ok || quoted[i] || len(out) == maxFindings {
			return
		}
		quoted[i] = true
		out = append(out, Finding{Summary: about, Explanation: oneLine(text), Nodes: nodes, Edges: edges, Sources: m.sources[i]})
	}
	for _, e := range c.Edges {
		if len(out) == maxFindings {
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
	for round := 0; len(out) < maxFindings; round++ { // one finding of each part in turn
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

// oneLine returns a text with single blanks as white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Stage is the name of the step in which reports are written.
const Stage = "community report"

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model writes the reports. It is required.
	Model llm.Model
	// Language is the language of the reports, by default the language of most descriptions.
	Language string
}

// reportWords is the number of words that the model is asked for (microsoft/graphrag, config/defaults.py).
const reportWords = 2000

// ByModel returns a reporter that asks a language model, once for each community, and once more if the reply
// cannot be parsed. The nodes and edges of a finding are those that its text cites, without any that were not
// in the input.
func ByModel(o ModelOptions) (Reporter, error) {
	checks := opt.Checks{Of: "report"}
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &modelReporter{o}, nil
}

type modelReporter struct{ o ModelOptions }

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("report", promptFiles)

// modelReply is the form of a reply of the model.
type modelReply struct {
	Title             string  `json:"title"`
	Summary           string  `json:"summary"`
	Rating            float64 `json:"rating"`
	RatingExplanation string  `json:"rating_explanation"`
	Findings          []struct {
		Summary     string `json:"summary"`
		Explanation string `json:"explanation" llm:"alone"`
	} `json:"findings"`
}

// Check implements the interface that [replies.Decode] uses to check replies.
func (r modelReply) Check() error {
	if oneLine(prompts.Printable(r.Title)) == "" || oneLine(prompts.Printable(r.Summary)) == "" {
		return errors.New("a report needs a title and a summary")
	}
	return nil
}

func (m *modelReporter) Report(ctx context.Context, c *Input) (Report, error) {
	req, err := templates.Request(ctx, Stage, "report", map[string]any{"Words": reportWords, "Language": m.o.Language},
		prompts.Data{Label: "community", Text: prompts.Printable(c.Text())})
	if err != nil {
		return Report{}, err
	}
	written, _, err := replies.Decode[modelReply](ctx, m.o.Model, req)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Title: oneLine(prompts.Printable(written.Title)), Summary: strings.TrimSpace(prompts.Printable(written.Summary)),
		RatingExplanation: oneLine(prompts.Printable(written.RatingExplanation)), Sources: c.Sources(),
	}
	if written.Rating > 0 { // excludes NaN and negative numbers
		r.Rating = math.Min(written.Rating, 10)
	}
	for _, f := range written.Findings {
		finding := Finding{Summary: oneLine(prompts.Printable(f.Summary)), Explanation: strings.TrimSpace(prompts.Printable(f.Explanation))}
		if finding.Summary == "" && finding.Explanation == "" {
			continue
		}
		c.ground(&finding)
		r.Findings = append(r.Findings, finding)
	}
	return r, nil
}

// citation matches one part of a citation mark, such as "Entities (3, 17, +more)".
var citation = regexp.MustCompile(`(?i)\b(entities|relationships|reports)\s*\(([^()]*)\)`)

// ground parses the citations of a finding, which are row numbers of the sections of the input. Other numbers
// are ignored: models invent some.
func (c *Input) ground(f *Finding) {
	for _, match := range citation.FindAllStringSubmatch(f.Summary+" "+f.Explanation, -1) {
		for _, number := range strings.FieldsFunc(match[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			place, err := strconv.ParseUint(number, 10, 31)
			if err != nil {
				continue
			}
			switch kind, i := strings.ToLower(match[1]), int(place); {
			case kind == "entities" && i < len(c.Nodes):
				f.Nodes = append(f.Nodes, c.Nodes[i])
				f.Sources = appendSources(f.Sources, c.Graph.Nodes[c.Nodes[i]].Descriptions)
			case kind == "relationships" && i < len(c.Edges):
				f.Edges = append(f.Edges, c.Edges[i])
				f.Sources = appendSources(f.Sources, c.Graph.Edges[c.Edges[i]].Descriptions)
			case kind == "reports" && i < len(c.Reports):
				f.Sources = append(f.Sources, c.Reports[i].Sources...)
			}
		}
	}
	f.Nodes, f.Edges, f.Sources = union(f.Nodes), union(f.Edges), union(f.Sources)
}
