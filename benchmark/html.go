// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

//go:embed report.html
var reportHTML string

// htmlReport is what report.html shows. The page stands alone: no script,
// nothing loaded from elsewhere, all text escaped.
type htmlReport struct {
	Heading, Summary string
	Offline          bool
	Settings         []setting
	Charts           []chart
	Tables           []htmlTable
	Domains          []htmlDomain
}

// htmlTable is a table with what is drawn below it.
type htmlTable struct {
	Table
	Charts []chart
	Plots  []*drawing
}

func newHTMLTable(t Table) htmlTable {
	out := htmlTable{Table: t, Charts: t.bars}
	for _, p := range t.plots {
		if d := p.draw(); d != nil {
			out.Plots = append(out.Plots, d)
		}
	}
	return out
}

type setting struct{ Name, Value string }

// chart is a horizontal bar chart of one figure.
type chart struct {
	Title string
	Bars  []bar
}

type bar struct {
	Name, Text string
	Value      float64
}

func (c *chart) add(name string, value *float64, text string) {
	c.Bars = append(c.Bars, bar{Name: name, Text: text, Value: deref(value)})
}

// Width is the length of a bar in percent: of 1, or of the longest if that is
// more.
func (c chart) Width(b bar) float64 {
	full := 1.0
	for _, other := range c.Bars {
		full = max(full, other.Value)
	}
	return 100 * b.Value / full
}

type htmlDomain struct {
	Name      string
	Questions []htmlQuestion
}

// htmlQuestion is one question with every system's answer.
type htmlQuestion struct {
	Text    string
	Type    graphrag.QuestionType
	Gold    []string
	Answers []htmlAnswer
}

type htmlAnswer struct {
	System, Text, Verdict, Reason, Recall string
	Good                                  bool
}

func (s *state) writeHTML(w io.Writer, r *Report) error {
	page, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return err
	}
	var tables []htmlTable
	for _, t := range r.Tables() {
		tables = append(tables, newHTMLTable(t))
	}
	return page.Execute(w, htmlReport{
		Heading: r.heading(), Summary: r.summary(), Offline: r.Kit == OfflineKit,
		Settings: settings(r.Config), Charts: r.charts(), Tables: tables, Domains: s.htmlDomains(),
	})
}

func settings(c Config) []setting {
	var out []setting
	for k, v := range c {
		if k != "fingerprints" {
			out = append(out, setting{k, strings.Trim(fmt.Sprint(v), "[]")})
		}
	}
	slices.SortFunc(out, func(a, b setting) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// charts shows the headline figures.
func (r *Report) charts() []chart {
	prefix := ""
	if r.Kit == OfflineKit {
		prefix = "Lexical "
	}
	return []chart{
		r.chart("Evidence recall at 5, all questions (%)", func(s SystemReport) *float64 { return s.Overall.Types[All].RecallAt5 }),
		r.chart(strings.TrimSpace(prefix+"average accuracy, fact questions (%)"), func(s SystemReport) *float64 {
			if v := s.Overall.Verdicts(); v != nil {
				return v.AvgAccuracy
			}
			return nil
		}),
		r.chart(strings.TrimSpace(prefix+"F1 of means, summaries (%)"), func(s SystemReport) *float64 {
			if v := s.Overall.Types[graphrag.Summary].Verdicts(); v != nil {
				return v.F1OfMeans
			}
			return nil
		}),
	}
}

func (r *Report) chart(title string, figure func(SystemReport) *float64) chart {
	c := chart{Title: title}
	for _, s := range r.Systems {
		f := figure(s)
		c.add(s.System, f, percent(f))
	}
	return c
}

func (s *state) htmlDomains() []htmlDomain {
	var out []htmlDomain
	for _, d := range s.Dataset.Domains {
		hd := htmlDomain{Name: d.Name}
		for _, it := range s.items[d.Name] {
			q := htmlQuestion{Text: it.Question.Text, Type: it.Question.Type, Gold: it.GoldStatements()}
			for _, e := range s.Systems {
				p := s.place(e, d, it)
				if a, ok := s.log.answers[p]; ok {
					q.Answers = append(q.Answers, newHTMLAnswer(a, s.log.judgments[p]))
				}
			}
			hd.Questions = append(hd.Questions, q)
		}
		out = append(out, hd)
	}
	return out
}

func newHTMLAnswer(a AnswerRecord, j JudgmentRecord) htmlAnswer {
	out := htmlAnswer{System: a.System, Text: a.Answer, Recall: percent(a.Metrics.RecallAt5)}
	if a.Error != "" {
		out.Text = a.Error
	}
	switch {
	case j.Fact != nil:
		out.Verdict, out.Reason = verdictText(j.Fact.Verdict), j.Fact.Reason
		out.Good = j.Fact.State == judge.Scored && j.Fact.Value == 1
	case j.Summary != nil:
		out.Verdict = fmt.Sprintf("recall %s, precision %s", verdictText(j.Summary.Recall), verdictText(j.Summary.Precision))
		out.Good = j.Summary.Recall.State == judge.Scored && j.Summary.Recall.Value > 0
	}
	return out
}

func verdictText(v judge.Verdict) string {
	switch v.State {
	case judge.Scored:
		return fmt.Sprintf("%.2f", v.Value)
	case judge.NotApplicable:
		return notApplicable
	}
	return "unscored: " + v.Reason
}
