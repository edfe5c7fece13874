// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/meta"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
)

// report is what the labels and the verdicts say about the judge.
type report struct {
	judge, file string
	pairs       []pair
	verdicts    []judge.Verdict
	usage       llm.Usage
	tally       judge.Mean // of the verdicts, for the unscored

	// matrix[label][verdict]; the third column is unscored.
	matrix [2][3]int
	agree  stats.Interval
	kappa  stats.Interval
	// undefined tells that kappa is 0/0: all ratings are equal.
	undefined bool
	people    *meta.Validation // with second labels
}

func newReport(name, file string, pairs []pair, verdicts []judge.Verdict) (*report, error) {
	r := &report{judge: name, file: file, pairs: pairs, verdicts: verdicts}
	said, first, second := make([]float64, len(pairs)), make([]float64, len(pairs)), make([]float64, len(pairs))
	questions := make([]string, len(pairs))
	people := false
	for i, p := range pairs {
		v := verdicts[i]
		r.tally.Add(v)
		column := 2
		said[i], first[i], second[i] = math.NaN(), float64(*p.Label), math.NaN()
		if v.State == judge.Scored {
			said[i], column = v.Value, int(v.Value)
		}
		if p.Label2 != nil {
			second[i], people = float64(*p.Label2), true
		}
		r.matrix[*p.Label][column]++
		questions[i] = p.Question + "\x00" + p.Reference
	}
	// Answers to one question are no independent observations.
	clusters := stats.Number(questions)
	ratings, err := meta.NewRatings(said, first)
	if err != nil {
		return nil, err
	}
	if r.agree, err = ratings.Interval(meta.Exact, clusters, stats.Options{}); err != nil && !errors.Is(err, stats.ErrTooFew) {
		return nil, err
	}
	if r.kappa, err = ratings.Interval(meta.Kappa, clusters, stats.Options{}); err != nil {
		if !errors.Is(err, stats.ErrUndefined) && !errors.Is(err, stats.ErrTooFew) {
			return nil, err
		}
		r.undefined = true
	}
	if people {
		v, err := meta.Validate(said, [][]float64{first, second}, meta.Kappa, clusters, stats.Options{})
		switch {
		case err == nil:
			r.people = &v
		case !errors.Is(err, stats.ErrUndefined) && !errors.Is(err, stats.ErrTooFew):
			return nil, err
		}
	}
	return r, nil
}

func (r *report) print(w io.Writer) {
	m := r.matrix
	fmt.Fprintf(w, "%d pairs of %s, judged by %s\n\n", len(r.pairs), r.file, r.judge)
	fmt.Fprintf(w, "%16s %8s %8s %9s\n", "", "wrong", "right", "unscored")
	fmt.Fprintf(w, "%-16s %8d %8d %9d\n", "labelled wrong", m[0][0], m[0][1], m[0][2])
	fmt.Fprintf(w, "%-16s %8d %8d %9d\n\n", "labelled right", m[1][0], m[1][1], m[1][2])
	fmt.Fprintf(w, "agreement        %s\n", r.agree)
	if r.undefined {
		fmt.Fprintln(w, "kappa            undefined: too few ratings, or all are equal")
	} else {
		fmt.Fprintf(w, "kappa            %s\n", r.kappa)
	}
	share(w, "right accepted", m[1][1], m[1][0]+m[1][1])
	share(w, "wrong rejected", m[0][0], m[0][0]+m[0][1])
	if r.people != nil {
		fmt.Fprintf(w, "\nkappa of the judge with one person    %s\n", r.people.Judge)
		fmt.Fprintf(w, "kappa of the two people, the ceiling  %s\n", r.people.Ceiling)
		fmt.Fprintf(w, "gap                                   %s\n", r.people.Gap)
	}
	for _, cause := range causes(r.tally) {
		fmt.Fprintf(w, "unscored: %s: %d\n", cause, r.tally.Unscored[cause])
	}
	if r.usage.Calls > 0 {
		fmt.Fprintf(w, "calls %d, prompt tokens %d, completion tokens %d\n", r.usage.Calls, r.usage.PromptTokens, r.usage.CompletionTokens)
	}
	r.printKinds(w)
}

func share(w io.Writer, name string, k, n int) {
	if i, err := stats.Wilson(k, n, stats.Options{}); err == nil {
		fmt.Fprintf(w, "%-16s %s\n", name, i)
	}
}

func causes(m judge.Mean) []string {
	var out []string
	for c := range m.Unscored {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// wrong reports whether verdict and label differ.
func (r *report) wrong(i int) bool {
	return r.verdicts[i].State == judge.Scored && int(r.verdicts[i].Value) != *r.pairs[i].Label
}

// printKinds shows where the judge goes wrong.
func (r *report) printKinds(w io.Writer) {
	type count struct{ n, wrong int }
	counts := make(map[string]*count)
	var order []string
	for i, p := range r.pairs {
		c := counts[p.Kind]
		if c == nil {
			c = new(count)
			counts[p.Kind] = c
			order = append(order, p.Kind)
		}
		c.n++
		if r.wrong(i) {
			c.wrong++
		}
	}
	if len(order) < 2 {
		return
	}
	fmt.Fprintf(w, "\n%-16s %8s %8s\n", "kind", "pairs", "misjudged")
	for _, k := range order {
		fmt.Fprintf(w, "%-16q %8d %8d\n", k, counts[k].n, counts[k].wrong)
	}
}

func (r *report) printWrong(w io.Writer) {
	for i, p := range r.pairs {
		if r.wrong(i) {
			fmt.Fprintf(w, "\nline %d, label %d, judge %.0f (%q)\n  question  %q\n  reference %q\n  answer    %q\n",
				p.line, *p.Label, r.verdicts[i].Value, r.verdicts[i].Reason, p.Question, p.Reference, p.Answer)
		}
	}
}

// check compares with the thresholds.
func (r *report) check(s settings) error {
	var problems []error
	if n := r.tally.NUnscored(); n > s.maxUnscored {
		problems = append(problems, fmt.Errorf("%w: %d pairs are unscored, -max-unscored allows %d", errUnscored, n, s.maxUnscored))
	}
	if s.minKappa > -1 && (r.undefined || r.kappa.Estimate < s.minKappa) {
		problems = append(problems, fmt.Errorf("%w: kappa %.3f is below -min-kappa %.3f", errMissed, r.kappa.Estimate, s.minKappa))
	}
	return errors.Join(problems...)
}
