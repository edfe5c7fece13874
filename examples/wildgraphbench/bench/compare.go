// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/judge"
)

// pairing compares a system of one run with a system of another, over the questions that both answered.
type pairing struct {
	a, b             *runFolder
	systemA, systemB string
	questions        []questionKey
	rows             []report.Pair
	flips            []flip
	same             bool // all answers and their evidence are equal
}

// flip is a question that only one of the two answered rightly.
type flip struct {
	questionKey
	gained bool // B alone did
	a, b   report.Judgment
}

func (p pairing) name() string {
	if p.systemA == p.systemB {
		return p.systemA
	}
	return p.systemA + " → " + p.systemB
}

// pairings pairs the systems of two runs: the named ones, or the systems that both runs have.
func pairings(a, b *runFolder) ([]pairing, error) {
	var out []pairing
	switch {
	case a.only != "" || b.only != "":
		x, y := cmp.Or(a.only, b.only), cmp.Or(b.only, a.only)
		if a.answers[x] == nil || b.answers[y] == nil { // named for the other alone
			return nil, cli.Usagef("only one of %s and %s has a system %s: name the other's as DIR:SYSTEM", a.dir, b.dir, x)
		}
		out = []pairing{{a: a, b: b, systemA: x, systemB: y}}
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

// fill compares the answers of both systems.
func (p *pairing) fill() error {
	left, right := p.a.answers[p.systemA], p.b.answers[p.systemB]
	for q := range maps.Keys(left) {
		if _, both := right[q]; both {
			p.questions = append(p.questions, q)
		}
	}
	if len(p.questions) == 0 {
		return fmt.Errorf("%s of %s and %s of %s answered no question of the same domain, id and text: the runs have different data", p.systemA, p.a.dir, p.systemB, p.b.dir)
	}
	slices.SortFunc(p.questions, func(x, y questionKey) int {
		return cmp.Or(cmp.Compare(x.domain, y.domain), natural(x.id, y.id), cmp.Compare(x.text, y.text))
	})
	var a, b []report.Judgment
	p.same = true
	for _, q := range p.questions {
		x, y := left[q], right[q]
		p.same = p.same && x.Answer == y.Answer && x.Refused == y.Refused && reflect.DeepEqual(x.Metrics, y.Metrics)
		a, b = append(a, x), append(b, y)
		if x.Fact != nil && y.Fact != nil && x.Fact.State == judge.Scored && y.Fact.State == judge.Scored && x.Fact.Value != y.Fact.Value {
			p.flips = append(p.flips, flip{q, y.Fact.Value > x.Fact.Value, x, y})
		}
	}
	var err error
	p.rows, err = report.Compare(p.systemA, p.systemB, a, b, figures...)
	return err
}

// natural compares ids by length first: p/9 is before p/10.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// figures has the keys of the compared figures, in the order of the report.
var figures = []string{"evidence_recall", "evidence_recall_at_5", "evidence_recall_at_10", "accuracy", "recall", "precision", "f1_mean_of_questions"}

// correct corrects the p-values of all comparisons as one family (Holm).
func correct(all []pairing) error {
	var rows []report.Pair
	for _, p := range all {
		rows = append(rows, p.rows...)
	}
	err := report.Correct(rows)
	for i := range all {
		n := len(all[i].rows)
		all[i].rows, rows = rows[:n], rows[n:]
	}
	return err
}

// lost returns an error for each figure of B whose 95 % interval is more than most below A.
func lost(all []pairing, most float64) error {
	var errs []error
	for _, p := range all {
		for _, r := range p.rows {
			if r.High != nil && *r.High < -most {
				errs = append(errs, fmt.Errorf("%s of %s fell by %.1f points, 95 %% interval %.1f to %.1f", report.Words(r.Figure), p.name(), -100*r.Difference, -100**r.High, -100**r.Low))
			}
		}
	}
	return errors.Join(errs...)
}
