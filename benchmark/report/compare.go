// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// tooFew replaces an interval or a test of fewer questions.
const tooFew = "too few"

// Families of pairs, each with its own correction.
const (
	// ofBest compares, for one figure, the best system with every other: the comparison of the verdict.
	ofBest = "best"
	// ofBaselines compares, for one figure, every system with every baseline.
	ofBaselines = "baselines"
)

// Classes of a pair.
const (
	Certain  = "certain"  // the corrected p-value is below .05
	Probable = "probable" // the p-value alone is
	Level    = "level"    // neither is
)

// Pair compares two systems on the questions for which both have the figure.
type Pair struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Figure string `json:"figure"`
	// Family is best, where B has the highest mean of all, or baselines.
	Family string `json:"family,omitempty"`
	N      int    `json:"n"`
	// MeanA and MeanB are the means over these questions.
	MeanA float64 `json:"-"`
	MeanB float64 `json:"-"`
	// Difference is the mean of B minus the mean of A, Low to High its 95 % interval over source pages, which
	// excludes 0 exactly if P is below .05.
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	// P is the p-value, PHolm its correction for the Tests of the family. Below [MinQuestions] there is
	// neither interval nor test.
	P     *float64 `json:"p,omitempty"`
	PHolm *float64 `json:"p_holm,omitempty"`
	Tests int      `json:"tests,omitempty"`
	// Detectable is the least true difference that the corrected test finds with probability .8.
	Detectable *float64 `json:"detectable,omitempty"`

	compared stats.Comparison
}

// Class returns [Certain], [Probable] or [Level]; "" without a test.
func (p Pair) Class() string {
	switch {
	case p.PHolm == nil:
		return ""
	case *p.PHolm < .05:
		return Certain
	case *p.P < .05:
		return Probable
	}
	return Level
}

// pairs compares, by each headline figure, the best system with every other, and every system with the
// baselines.
func pairs(systems []benchmark.SystemRun) (all []Pair, err error) {
	for _, f := range allFigures {
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
		for _, of := range []struct {
			family string
			has    func(i, j int) bool // of the systems a and b
		}{
			{ofBest, func(i, j int) bool { return j == best }},
			{ofBaselines, func(i, j int) bool { return measured[i].Baseline && !(measured[j].Baseline && j < i) }},
		} {
			var family []Pair
			for i, a := range measured {
				for j, b := range measured {
					if i == j || !of.has(i, j) {
						continue
					}
					p, err := f.compare(a, b)
					if errors.Is(err, stats.ErrTooFew) {
						continue
					}
					if err != nil {
						return nil, fmt.Errorf("report: comparing %s and %s by %s: %w", a.Name, b.Name, f.key, err)
					}
					p.Family = of.family
					family = append(family, p)
				}
			}
			if err := Correct(family); err != nil {
				return nil, err
			}
			all = append(all, family...)
		}
	}
	return all, nil
}

// best returns the index of the system with the highest mean, the first of equal ones; -1 without a mean.
func (f figure) best(systems []benchmark.SystemRun) int {
	best, highest := -1, 0.0
	for i, s := range systems {
		var all sample
		for _, d := range s.Domains {
			for _, r := range d.Results {
				all.add(f.of(r), r)
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
			left.add(x, r)
			right.add(y, r)
		}
	}
	c, err := stats.Compare(left.values, right.values, stats.Number(left.sources), stats.Options{})
	p := Pair{A: a, B: b, Figure: f.key, N: left.questions, Difference: c.Effect.Estimate, MeanA: c.MeanA, MeanB: c.MeanB, compared: c}
	if p.N >= MinQuestions {
		if !f.size { // no share differs by more than all
			c.Effect.Low, c.Effect.High = max(c.Effect.Low, -1), min(c.Effect.High, 1)
		}
		p.Low, p.High, p.P = &c.Effect.Low, &c.Effect.High, &c.P
	}
	return p, err
}

// Compare compares a system of one run with one of another, by some figures ([Keys]) of their judgments of
// the same questions in the same order. Figures that fewer than two pages have are omitted. [Correct]
// corrects the p-values of all pairs that are shown together.
func Compare(nameA, nameB string, a, b []Judgment, keys ...string) ([]Pair, error) {
	results := func(all []Judgment) []benchmark.Result {
		out := make([]benchmark.Result, len(all))
		for i, j := range all {
			out[i] = benchmark.Result{
				Domain: j.Domain, Item: benchmark.Item{Question: graphrag.Question{ID: j.ID, Text: j.Question}, Gold: j.Gold},
				Judgment: record.Judgment{Fact: j.Fact, Summary: j.Summary}, Evidence: j.Metrics,
			}
		}
		return out
	}
	left, right := results(a), results(b)
	var out []Pair
	for _, key := range keys {
		f, _ := figureOf(key)
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

// Correct corrects the p-values of all tested pairs as one family (Holm).
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
		of.PHolm, of.Tests = &corrected[i], len(tested)
		of.Detectable = ref(of.compared.Detectable(len(tested)))
	}
	return nil
}

// texts returns difference, interval, p-values, class and detectable difference.
func (p Pair) texts() []string {
	if p.P == nil {
		return []string{points(p.Difference), tooFew, "–", "–", "–", "–"}
	}
	return []string{points(p.Difference), points(*p.Low) + " to " + points(*p.High), pValue(*p.P), pValue(*p.PHolm), p.Class(), points(*p.Detectable)}
}

// pairTable shows the pairs of a family, and the number of corrected tests.
func (r *Report) pairTable(family, title, heading string) page.Table {
	t := page.Table{Title: title, Heading: heading, Groups: []page.Group{{Columns: []string{"Figure", "Questions", "Points", "95 % interval", "p", "p (Holm)", "Difference", "Detectable"}}}}
	var tests []string
	for _, p := range r.Pairs {
		if p.Family != family {
			continue
		}
		f, _ := figureOf(p.Figure)
		name := lower(f.words(r.label))
		if said := fmt.Sprintf("%d by %s", p.Tests, name); p.Tests > 0 && !slices.Contains(tests, said) {
			tests = append(tests, said)
		}
		addTexts(&t, p.B+" − "+p.A, append([]string{name, display.Digits(p.N)}, p.texts()...)...)
	}
	if len(tests) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Paired over the same questions, by source page. Interval and p are of one method; p (Holm) is corrected within this table, for each figure by itself (%s). "+
			"A difference is certain where p (Holm) is below .05, probable where p alone is. Detectable: true differences of so many points are found with probability .8 after the correction.", strings.Join(tests, ", ")))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("With fewer than %d questions there is neither interval nor test.", MinQuestions))
	return t
}

// writePairs writes the pairs as CSV, as fractions; unknown values are empty.
func (r *Report) writePairs(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"a", "b", "figure", "family", "tests", "n", "difference", "low", "high", "p", "p_holm", "class"}}
	for _, p := range r.Pairs {
		row := []string{csvText(p.A), csvText(p.B), csvText(p.Figure), p.Family, strconv.Itoa(p.Tests), strconv.Itoa(p.N)}
		for _, v := range []*float64{&p.Difference, p.Low, p.High, p.P, p.PHolm} {
			cell := ""
			if v != nil {
				cell = strconv.FormatFloat(*v, 'f', 6, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, p.Class()))
	}
	return out.WriteAll(rows)
}
