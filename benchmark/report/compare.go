// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// pairs compares every pair of systems by the headline figures.
func pairs(run *benchmark.Run, systems []benchmark.SystemRun) ([]Pair, error) {
	var out []Pair
	for _, f := range figures {
		if !f.compared {
			continue
		}
		for i, a := range systems {
			for _, b := range systems[i+1:] {
				if f.ranked && (provenance(a) || provenance(b)) {
					continue
				}
				p, err := f.compare(a, b)
				if errors.Is(err, stats.ErrTooFew) {
					continue
				}
				if err != nil {
					return nil, fmt.Errorf("report: comparing %s and %s by %s: %w", a.Name, b.Name, f.key, err)
				}
				p.Lexical = f.judged && labelOf(run).lexical
				out = append(out, p)
			}
		}
	}
	return out, holm(out, func(p *Pair) *Pair { return p })
}

// compare compares two systems over the same questions.
func (f figure) compare(a, b benchmark.SystemRun) (Pair, error) {
	var left, right sample
	for d := range a.Domains {
		for i, r := range a.Domains[d].Results {
			if x, y := f.of(r), f.of(b.Domains[d].Results[i]); x != nil && y != nil {
				left.add(x, source(r))
				right.add(y, source(r))
			}
		}
	}
	c, err := stats.Compare(left.values, right.values, stats.Number(left.sources), stats.Options{})
	return newPair(a.Name, b.Name, f.key, c), err
}

func newPair(a, b, figure string, c stats.Comparison) Pair {
	return Pair{
		A: a, B: b, Figure: figure, N: c.Effect.N,
		Difference: c.Effect.Estimate, Low: c.Effect.Low, High: c.Effect.High,
		Detectable: c.Detectable, P: c.Test.P,
	}
}

// holm corrects the p-values of all comparisons as one family.
func holm[T any](all []T, pair func(*T) *Pair) error {
	p := make([]float64, len(all))
	for i := range all {
		p[i] = pair(&all[i]).P
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return fmt.Errorf("report: correcting p-values: %w", err)
	}
	for i := range all {
		pair(&all[i]).PHolm = corrected[i]
	}
	return nil
}

// pairTable compares, by each figure, the best system with every other.
func (r *Report) pairTable() Table {
	t := Table{
		Title:      "The best system and the others",
		RowHeading: "Second minus first",
		Groups:     []ColumnGroup{{"", []string{"Figure", "Questions", "Points", "95 % interval", "Detectable", "p", "p (Holm)"}, false}},
		Notes: []string{"Paired over the same questions, by source page: bootstrap interval and permutation test; p (Holm) is corrected for all pairs of systems, which are in report.json. " +
			"Detectable is the least difference that so many questions show (power 0.8)."},
	}
	best := r.best()
	for _, p := range r.Pairs {
		if b := best[p.Figure]; p.A != b && p.B != b {
			continue
		}
		name := strings.ReplaceAll(p.Figure, "_", " ")
		if p.Lexical {
			name = "lexical " + name
		}
		t.addTexts(p.B+" − "+p.A,
			name, count(p.N), points(p.Difference), points(p.Low)+" to "+points(p.High), points(p.Detectable),
			pValue(p.P), pValue(p.PHolm))
	}
	return t
}

// best names, for each figure of the pairs, the system that comes out of its
// comparisons with the most points in all; the first of equal ones.
func (r *Report) best() map[string]string {
	sums := make(map[string]map[string]float64)
	for _, p := range r.Pairs {
		if sums[p.Figure] == nil {
			sums[p.Figure] = make(map[string]float64)
		}
		sums[p.Figure][p.A] -= p.Difference
		sums[p.Figure][p.B] += p.Difference
	}
	best := make(map[string]string)
	for figure, of := range sums {
		for _, s := range r.Systems {
			if sum, ok := of[s.System]; ok && (best[figure] == "" || sum > of[best[figure]]) {
				best[figure] = s.System
			}
		}
	}
	return best
}
