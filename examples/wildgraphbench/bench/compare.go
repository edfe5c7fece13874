// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// pairing is a system of one run and one of another, over the questions that both
// answered.
type pairing struct {
	a, b             *finished
	systemA, systemB string
	questions        []asked
	rows             []row
	flips            []flip
}

// row is one figure of both.
type row struct {
	figure
	stats.Comparison
	n    int
	holm *float64 // p-value after the correction, nil where there is no test
}

// flip is a question that only one of the two answered rightly.
type flip struct {
	asked
	gained bool // B alone did
	a, b   report.Judgment
}

func (p pairing) name() string {
	if p.systemA == p.systemB {
		return p.systemA
	}
	return p.systemA + " → " + p.systemB
}

// pairings finds what can be compared of a run with the first one: the systems that were
// named, or those that both have.
func pairings(a, b *finished) ([]pairing, error) {
	var out []pairing
	switch {
	case a.only != "" && b.only != "":
		out = []pairing{{a: a, b: b, systemA: a.only, systemB: b.only}}
	case a.only != "" || b.only != "":
		name := cmp.Or(a.only, b.only)
		if a.answers[name] == nil || b.answers[name] == nil {
			return nil, cli.Usagef("only one of %s and %s has a system %s: name the other's as DIR:SYSTEM", a.dir, b.dir, name)
		}
		out = []pairing{{a: a, b: b, systemA: name, systemB: name}}
	default:
		for _, name := range a.systems {
			if b.answers[name] != nil {
				out = append(out, pairing{a: a, b: b, systemA: name, systemB: name})
			}
		}
	}
	if len(out) == 0 {
		return nil, cli.Usagef("%s has %s, and %s has %s: name two systems as DIR:SYSTEM", a.dir, strings.Join(a.systems, ", "), b.dir, strings.Join(b.systems, ", "))
	}
	for i := range out {
		if err := out[i].fill(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill compares over the questions of both, in one order.
func (p *pairing) fill() error {
	left, right := p.a.answers[p.systemA], p.b.answers[p.systemB]
	for q := range maps.Keys(left) {
		if _, both := right[q]; both {
			p.questions = append(p.questions, q)
		}
	}
	if len(p.questions) == 0 {
		return fmt.Errorf("%s of %s and %s of %s answered no question of the same domain, id and text: the runs are of other data", p.systemA, p.a.dir, p.systemB, p.b.dir)
	}
	slices.SortFunc(p.questions, func(x, y asked) int {
		return cmp.Or(cmp.Compare(x.domain, y.domain), natural(x.id, y.id), cmp.Compare(x.text, y.text))
	})
	for _, f := range figures {
		var a, b []float64
		var pages []string
		for _, q := range p.questions {
			x, y := f.of(left[q]), f.of(right[q])
			if x == nil || y == nil {
				continue
			}
			a, b, pages = append(a, *x), append(b, *y), append(pages, source(q, left[q]))
			if f.verdict && *x != *y {
				p.flips = append(p.flips, flip{q, *y > *x, left[q], right[q]})
			}
		}
		c, err := stats.Compare(a, b, stats.Number(pages), stats.Options{})
		if errors.Is(err, stats.ErrTooFew) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", p.name(), f.name, err)
		}
		p.rows = append(p.rows, row{figure: f, Comparison: c, n: len(a)})
	}
	return nil
}

// natural compares ids by length first, so that p/10 comes after p/9.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// source is the page that a question is about: questions about one page are not
// independent.
func source(q asked, j report.Judgment) string {
	if len(j.Gold) > 0 && len(j.Gold[0]) > 0 {
		return q.domain + "\x00" + j.Gold[0][0]
	}
	return q.domain + "\x00" + q.id
}

// correct corrects the p-values of everything that is shown, as one family (Holm).
func correct(all []pairing) error {
	var tested []*row
	var p []float64
	for i := range all {
		for j := range all[i].rows {
			if r := &all[i].rows[j]; r.n >= report.MinQuestions {
				tested, p = append(tested, r), append(p, r.Test.P)
			}
		}
	}
	holm, err := stats.Holm(p)
	if err != nil {
		return err
	}
	for i, r := range tested {
		r.holm = &holm[i]
	}
	return nil
}

// lost are the figures of B that are surely more than so much below those of A.
func lost(all []pairing, most float64) error {
	var errs []error
	for _, p := range all {
		for _, r := range p.rows {
			if r.holm != nil && r.Effect.High < -most {
				errs = append(errs, fmt.Errorf("%s of %s fell by %.1f points, 95 %% interval %.1f to %.1f", r.name, p.name(), -100*r.Effect.Estimate, -100*r.Effect.High, -100*r.Effect.Low))
			}
		}
	}
	return errors.Join(errs...)
}

// figure is what answers are compared by: of of an answer is nil where there is none.
type figure struct {
	name string
	of   func(report.Judgment) *float64
	// verdict tells that it is 1 or 0 of each question, and so can flip.
	verdict bool
	// judged tells that a judge decides it.
	judged bool
}

// figures are in the order of the report.
var figures = []figure{
	{name: "evidence recall", of: func(j report.Judgment) *float64 { return j.Metrics.PromptRecall }},
	{name: "evidence recall at 5", of: func(j report.Judgment) *float64 { return j.Metrics.RecallAt5 }},
	{name: "evidence recall at 10", of: func(j report.Judgment) *float64 { return j.Metrics.RecallAt10 }},
	{name: "accuracy", of: accuracy, verdict: true, judged: true},
	{name: "recall", of: ofSummary(func(s judge.SummaryJudgment) judge.Verdict { return s.Recall }), judged: true},
	{name: "precision", of: ofSummary(func(s judge.SummaryJudgment) judge.Verdict { return s.Precision }), judged: true},
	{name: "f1", of: ofSummary(judge.SummaryJudgment.F1), judged: true},
}

func accuracy(j report.Judgment) *float64 {
	if j.Fact == nil {
		return nil
	}
	return scored(j.Fact.Verdict)
}

func ofSummary(of func(judge.SummaryJudgment) judge.Verdict) func(report.Judgment) *float64 {
	return func(j report.Judgment) *float64 {
		if j.Summary == nil {
			return nil
		}
		return scored(of(*j.Summary))
	}
}

// scored is the value of a verdict; what was not scored has none, and is no 0.
func scored(v judge.Verdict) *float64 {
	if v.State != judge.Scored {
		return nil
	}
	return &v.Value
}
