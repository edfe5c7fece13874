// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/llm"
)

// Stage names the calls for reports in accounts.
const Stage = "community report"

// ModelOptions of [ByModel].
type ModelOptions struct {
	// Model writes. It is required.
	Model llm.Model
	// Words is the length that is asked for; 0 means 2,000
	// (microsoft/graphrag, config/defaults.py, max_length).
	Words int
	// Language of the reports; by default that of most descriptions.
	Language string
}

// ByModel returns a reporter that asks a language model, once for each
// community and once more if the reply cannot be read. Findings name the nodes
// and edges that their text cites, as far as they were shown or are cited by a
// report that was shown.
func ByModel(o ModelOptions) (Reporter, error) {
	checks := opt.Checks{Of: "report"}
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	opt.Min(&checks, "Words", o.Words, 0)
	o.Words = cmp.Or(o.Words, 2000)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &modelReporter{o}, nil
}

type modelReporter struct{ o ModelOptions }

// Name implements [Reporter].
func (m *modelReporter) Name() string {
	return fmt.Sprintf("model/%d words/%s", m.o.Words, m.o.Model.Name())
}

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// schema is the contract of the reply.
var schema = json.RawMessage(`{"type":"object","additionalProperties":false,` +
	`"required":["title","summary","rating","rating_explanation","findings"],"properties":{` +
	`"title":{"type":"string"},"summary":{"type":"string"},"rating":{"type":"number"},"rating_explanation":{"type":"string"},` +
	`"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["summary","explanation"],` +
	`"properties":{"summary":{"type":"string"},"explanation":{"type":"string"}}}}}}`)

// modelReply is what a model writes.
type modelReply struct {
	Title             string  `json:"title"`
	Summary           string  `json:"summary"`
	Rating            float64 `json:"rating"`
	RatingExplanation string  `json:"rating_explanation"`
	Findings          []struct {
		Summary     string `json:"summary"`
		Explanation string `json:"explanation"`
	} `json:"findings"`
}

// Check implements what [llm.Decode] asks of replies.
func (r modelReply) Check() error {
	if oneLine(llm.Printable(r.Title)) == "" || oneLine(llm.Printable(r.Summary)) == "" {
		return errors.New("a report needs a title and a summary")
	}
	return nil
}

// Report implements [Reporter].
func (m *modelReporter) Report(ctx context.Context, c *Input) (Report, error) {
	req, err := m.request(c)
	if err != nil {
		return Report{}, err
	}
	written, _, err := llm.Decode[modelReply](ctx, m.o.Model, req)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Title: oneLine(llm.Printable(written.Title)), Summary: strings.TrimSpace(llm.Printable(written.Summary)),
		RatingExplanation: oneLine(llm.Printable(written.RatingExplanation)), Sources: c.Sources(),
	}
	if written.Rating > 0 { // neither NaN nor below the scale
		r.Rating = math.Min(written.Rating, 10)
	}
	shown := c.cited()
	for _, f := range written.Findings {
		finding := Finding{Summary: oneLine(llm.Printable(f.Summary)), Explanation: strings.TrimSpace(llm.Printable(f.Explanation))}
		if finding.Summary == "" && finding.Explanation == "" {
			continue
		}
		shown.ground(&finding)
		r.Findings = append(r.Findings, finding)
	}
	return r, nil
}

func (m *modelReporter) request(c *Input) (llm.Request, error) {
	req, err := prompts.Request(Stage, "report", map[string]any{"Words": m.o.Words, "Language": m.o.Language}, llm.Data{Label: "community", Text: llm.Printable(c.Text())})
	req.Schema, req.SchemaName = schema, "community_report"
	return req, err
}

// citation is one part of a grounding mark, such as "Entities (3, 17, +more)".
var citation = regexp.MustCompile(`(?i)\b(entities|relationships|reports)\s*\(([^()]*)\)`)

// citable is what a report may cite: what was shown, and what the findings of
// shown reports cite.
type citable struct {
	c            *Input
	nodes, edges map[int32]bool
	reports      map[int32]*Report
}

func (c *Input) cited() citable {
	s := citable{c, make(map[int32]bool), make(map[int32]bool), make(map[int32]*Report)}
	for _, v := range c.Nodes {
		s.nodes[v] = true
	}
	for _, e := range c.Edges {
		s.edges[e] = true
	}
	for _, r := range c.Reports {
		s.reports[r.Community] = r
		for _, f := range r.Findings {
			for _, v := range f.Nodes {
				s.nodes[v] = true
			}
			for _, e := range f.Edges {
				s.edges[e] = true
			}
		}
	}
	return s
}

// ground fills in what a finding cites. Numbers that were not shown are passed
// over: models invent some.
func (s citable) ground(f *Finding) {
	for _, mark := range citation.FindAllStringSubmatch(f.Summary+" "+f.Explanation, -1) {
		for _, number := range strings.FieldsFunc(mark[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil {
				continue
			}
			id := int32(n)
			switch kind := strings.ToLower(mark[1]); {
			case kind == "entities" && s.nodes[id]:
				f.Nodes = append(f.Nodes, id)
				f.Sources = appendSources(f.Sources, s.c.Graph.Nodes[id].Descriptions)
			case kind == "relationships" && s.edges[id]:
				f.Edges = append(f.Edges, id)
				f.Sources = appendSources(f.Sources, s.c.Graph.Edges[id].Descriptions)
			case kind == "reports" && s.reports[id] != nil:
				f.Sources = append(f.Sources, s.reports[id].Sources...)
			}
		}
	}
	f.Nodes, f.Edges, f.Sources = union(f.Nodes), union(f.Edges), union(f.Sources)
}
