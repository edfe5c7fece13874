// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// tooFew stands for an interval or a test of fewer questions.
const tooFew = "too few"

// Pair compares two systems on the questions for which both have the figure.
type Pair struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Figure string `json:"figure"`
	// Best is true if B has the highest mean of all systems, Baseline that one of
	// the two is a baseline.
	Best     bool `json:"best,omitempty"`
	Baseline bool `json:"baseline,omitempty"`
	// Lexical is true if the figure is a lexical judge's.
	Lexical bool `json:"lexical,omitempty"`
	N       int  `json:"n"`
	// MeanA and MeanB are the means over these questions.
	MeanA float64 `json:"-"`
	MeanB float64 `json:"-"`
	// Difference is the mean of B minus the mean of A, Low to High its 95 %
	// interval by the paired bootstrap over source pages.
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	// Detectable is the smallest difference that a test over so many questions detects.
	Detectable *float64 `json:"detectable,omitempty"`
	// P is the p-value of the permutation test, PHolm the same corrected for
	// all pairs and figures of the report. Below [MinQuestions] there is neither
	// interval nor test.
	P     *float64 `json:"p,omitempty"`
	PHolm *float64 `json:"p_holm,omitempty"`
}

// pairs compares, by each of the headline figures, the best system with every other,
// and every system with the baselines: what a reader asks, and few enough to leave
// p-values after the correction for their number.
func pairs(run *benchmark.Run, systems []benchmark.SystemRun) ([]Pair, error) {
	var out []Pair
	for _, f := range figures {
		if !f.compared {
			continue
		}
		var measured []benchmark.SystemRun
		for _, s := range systems {
			if !f.ranked || !provenance(s) {
				measured = append(measured, s)
			}
		}
		best := f.best(measured)
		for i, a := range measured {
			for j, b := range measured {
				ofBest := j == best && i != j
				ofBaseline := a.Baseline && i != j && !(b.Baseline && j < i)
				if !ofBest && (!ofBaseline || i == best) {
					continue
				}
				p, err := f.compare(a, b)
				if errors.Is(err, stats.ErrTooFew) {
					continue
				}
				if err != nil {
					return nil, fmt.Errorf("report: comparing %s and %s by %s: %w", a.Name, b.Name, f.key, err)
				}
				p.Best, p.Baseline = ofBest, a.Baseline || b.Baseline
				p.Lexical = f.judged && labelOf(run).lexical
				out = append(out, p)
			}
		}
	}
	return out, Correct(out)
}

// best is the place of the system with the highest mean, the first of equal ones; -1
// without a mean.
func (f figure) best(systems []benchmark.SystemRun) int {
	best, highest := -1, 0.0
	for i, s := range systems {
		var all sample
		for _, d := range s.Domains {
			for _, r := range d.Results {
				all.add(f.of(r), source(r))
			}
		}
		if m := all.mean(); m != nil && (best < 0 || *m > highest) {
			best, highest = i, *m
		}
	}
	return best
}

// compare compares two systems over the same questions.
func (f figure) compare(a, b benchmark.SystemRun) (Pair, error) {
	var left, right []benchmark.Result
	for d := range a.Domains {
		left, right = append(left, a.Domains[d].Results...), append(right, b.Domains[d].Results...)
	}
	return f.pair(a.Name, b.Name, left, right)
}

// pair compares two systems by their results of the same questions in the same order.
func (f figure) pair(a, b string, ofA, ofB []benchmark.Result) (Pair, error) {
	var left, right sample
	for i, r := range ofA {
		if x, y := f.of(r), f.of(ofB[i]); x != nil && y != nil {
			left.add(x, source(r))
			right.add(y, source(r))
		}
	}
	c, err := stats.Compare(left.values, right.values, stats.Number(left.sources), stats.Options{})
	p := Pair{A: a, B: b, Figure: f.key, N: c.Effect.N, Difference: c.Effect.Estimate, MeanA: c.MeanA, MeanB: c.MeanB}
	if p.N >= MinQuestions {
		p.Low, p.High, p.P = &c.Effect.Low, &c.Effect.High, &c.Test.P
		if c.Detectable > 0 {
			p.Detectable = &c.Detectable
		}
	}
	return p, err
}

// Compare compares a system of one run and one of another, by some figures ([Keys]) of their
// judgments of the same questions in the same order. Figures that fewer than two pages have
// are left out. [Correct] corrects the p-values of all that is shown together.
func Compare(nameA, nameB string, a, b []Judgment, keys ...string) ([]Pair, error) {
	results := func(all []Judgment) []benchmark.Result {
		out := make([]benchmark.Result, len(all))
		for i, j := range all {
			out[i] = benchmark.Result{
				Domain: j.Domain, Item: benchmark.Item{Question: graphrag.Question{ID: j.ID}, Gold: j.Gold},
				Judgment: record.Judgment{Fact: j.Fact, Summary: j.Summary}, Evidence: j.Metrics,
			}
		}
		return out
	}
	left, right := results(a), results(b)
	var out []Pair
	for _, key := range keys {
		f, _ := find(key)
		p, err := f.pair(nameA, nameB, left, right)
		if errors.Is(err, stats.ErrTooFew) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("report: comparing %s and %s by %s: %w", nameA, nameB, key, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// Correct corrects the p-values of all comparisons that have one, as one family (Holm).
func Correct(all []Pair) error {
	var tested []*Pair
	var p []float64
	for i := range all {
		if all[i].P != nil {
			tested, p = append(tested, &all[i]), append(p, *all[i].P)
		}
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return fmt.Errorf("report: correcting p-values: %w", err)
	}
	for i, of := range tested {
		of.PHolm = &corrected[i]
	}
	return nil
}

// turned is the pair with the systems in the other order.
func (p Pair) turned() Pair {
	p.A, p.B, p.MeanA, p.MeanB, p.Difference = p.B, p.A, p.MeanB, p.MeanA, 0-p.Difference // not -0
	if p.Low != nil {
		p.Low, p.High = ref(0-*p.High), ref(0-*p.Low)
	}
	return p
}

// texts are difference, interval, detectable difference and p-values.
func (p Pair) texts() []string {
	if p.P == nil {
		return []string{points(p.Difference), tooFew, "–", "–", "–"}
	}
	detectable := "–"
	if p.Detectable != nil {
		detectable = points(*p.Detectable)
	}
	return []string{points(p.Difference), points(*p.Low) + " to " + points(*p.High), detectable, pValue(*p.P), pValue(*p.PHolm)}
}

func (r *Report) addPair(t *page.Table, p Pair) {
	name := spelled(p.Figure)
	if p.Lexical {
		name = "lexical " + name
	}
	addTexts(t, p.B+" − "+p.A, append([]string{name, text.Digits(p.N)}, p.texts()...)...)
}

// pairTables compare, by each figure, the best system with every other, and every
// system with the baselines.
func (r *Report) pairTables() []page.Table {
	columns := []page.Group{{Columns: []string{"Figure", "Questions", "Points", "95 % interval", "Detectable", "p", "p (Holm)"}}}
	best := page.Table{
		Title: "The best system and the others", Heading: "Best − other", Groups: columns,
		Notes: []string{fmt.Sprintf("Paired over the same questions, by source page: bootstrap interval and permutation test; p (Holm) is corrected for all pairs of this table and of the baselines'. "+
			"Detectable is the least difference that so many questions show (power 0.8). With fewer than %d questions there is neither interval nor test.", MinQuestions)},
	}
	baseline := page.Table{Title: "The systems and the baselines", Heading: "System − baseline", Groups: columns}
	isBaseline := make(map[string]bool)
	for _, s := range r.Systems {
		isBaseline[s.System] = s.baseline
	}
	for _, p := range r.Pairs {
		if p.Best {
			r.addPair(&best, p)
		}
		if p.Baseline {
			if !isBaseline[p.A] {
				p = p.turned()
			}
			r.addPair(&baseline, p)
		}
	}
	return []page.Table{best, baseline}
}

// writePairs writes the compared pairs as CSV, as fractions; what is not known is empty.
func (r *Report) writePairs(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"a", "b", "figure", "n", "difference", "low", "high", "p", "p_holm"}}
	for _, p := range r.Pairs {
		row := []string{csvText(p.A), csvText(p.B), csvText(p.Figure), strconv.Itoa(p.N)}
		for _, v := range []*float64{&p.Difference, p.Low, p.High, p.P, p.PHolm} {
			cell := ""
			if v != nil {
				cell = strconv.FormatFloat(*v, 'f', 6, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}
