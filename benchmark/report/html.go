// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
)

//go:embed report.html
var reportHTML string

// htmlReport is what report.html shows. The page stands alone: no script,
// nothing loaded from elsewhere, all text escaped.
type htmlReport struct {
	Heading, Summary string
	Strong, Label    string
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

type htmlDomain struct {
	Name      string
	Questions []htmlQuestion
}

// htmlQuestion is one question with every system's answer.
type htmlQuestion struct {
	Text    string
	Type    string
	Gold    []string
	Answers []htmlAnswer
}

type htmlAnswer struct {
	System, Text, Verdict, Reason, Recall string
	Good                                  bool
}

// WriteHTML writes a page with everything, down to each answer.
func (r *Report) WriteHTML(w io.Writer, run *benchmark.Run) error {
	page, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return err
	}
	var tables []htmlTable
	for _, t := range r.Tables() {
		tables = append(tables, newHTMLTable(t))
	}
	strong, about := r.label.page()
	return page.Execute(w, htmlReport{
		Heading: text.OneLine(r.heading()), Summary: text.OneLine(r.summary()), Strong: strong, Label: about,
		Settings: settings(r.Config), Charts: r.charts(), Tables: tables, Domains: htmlDomains(run),
	})
}

func settings(c map[string]any) []setting {
	var out []setting
	for k, v := range c {
		if k != "fingerprints" {
			out = append(out, setting{text.OneLine(k), text.OneLine(strings.Trim(fmt.Sprint(v), "[]"))})
		}
	}
	slices.SortFunc(out, func(a, b setting) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// charts shows the headline figures.
func (r *Report) charts() []chart {
	prefix := r.label.prefix()
	charts := []chart{
		r.chart("Evidence recall at 5, all questions (%)", func(s System) *float64 {
			if s.provenance {
				return nil
			}
			return s.Overall.Types.measured(benchmark.All, "evidence_recall_at_5").value
		}),
		r.chart(prefix+"average accuracy, fact questions (%)", func(s System) *float64 {
			if v := s.Overall.Verdicts(); v != nil {
				return v.AvgAccuracy
			}
			return nil
		}),
	}
	for _, kind := range r.types {
		if kind.Statements {
			charts = append(charts, r.chart(prefix+"F1 of means, "+kind.Plural+" (%)", func(s System) *float64 { return s.Overall.Types.measured(kind.Key, "f1_of_means").value }))
		}
	}
	return charts
}

func (r *Report) chart(title string, figure func(System) *float64) chart {
	c := chart{Title: title}
	for _, s := range r.Systems {
		f := figure(s)
		c.add(s.name(), f, percent(f))
	}
	return c
}

func htmlDomains(run *benchmark.Run) []htmlDomain {
	var out []htmlDomain
	for i, d := range run.Dataset.Domains {
		hd := htmlDomain{Name: text.OneLine(d.Name)}
		for n, it := range d.Items {
			q := htmlQuestion{Text: text.Printable(it.Question.Text), Type: it.Type}
			for _, gold := range it.GoldStatements() {
				q.Gold = append(q.Gold, text.Printable(gold))
			}
			for _, s := range run.Systems {
				if s.NotApplicable == "" && !s.Domains[i].Results[n].Skipped {
					q.Answers = append(q.Answers, newHTMLAnswer(s.Domains[i].Results[n]))
				}
			}
			hd.Questions = append(hd.Questions, q)
		}
		out = append(out, hd)
	}
	return out
}

func newHTMLAnswer(r benchmark.Result) htmlAnswer {
	a, j := r.Answer, r.Judgment
	out := htmlAnswer{System: a.System, Text: a.Text, Recall: percent(r.Evidence.RecallAt5)}
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
	out.Text, out.Verdict, out.Reason = text.Printable(out.Text), text.Printable(out.Verdict), text.Printable(out.Reason)
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
