// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// labels are the verdicts of a person on drawn answers: no text of the data set,
// only the hashes by which the answers are known again.
//
//go:embed labels.csv
var labels string

// labelled is an answer with a person's verdict on it.
type labelled struct {
	made
	right bool
	// weight is how many answers of the frozen systems this one stands for.
	weight float64
	judged judge.Verdict
}

// readLabels joins the labels with the answers as they are made now. Changed are
// those whose answer is another one, or is not made at all.
func readLabels(all []made) (out []labelled, changed int, err error) {
	rows, err := csv.NewReader(strings.NewReader(labels)).ReadAll()
	if err != nil {
		return nil, 0, err
	}
	byName := make(map[string]made)
	population := make(map[bool]float64) // by stratum
	for _, m := range all {
		byName[m.system+" "+m.ID] = m
		population[m.likely]++
	}
	drawn := make(map[bool]float64)
	for _, row := range rows[1:] { // the first is the heading
		m, ok := byName[row[0]+" "+row[1]]
		if !ok || m.hash() != row[2] {
			changed++
			continue
		}
		drawn[m.likely]++
		out = append(out, labelled{made: m, right: row[4] == "1"})
	}
	for i := range out {
		out[i].weight = population[out[i].likely] / drawn[out[i].likely]
	}
	return out, changed, nil
}

// half is the labelled pairs of the questions on which rules were developed, or of
// the others.
func half(all []labelled, held bool) []labelled {
	var out []labelled
	for _, l := range all {
		if heldOut(l.ID) == held {
			out = append(out, l)
		}
	}
	return out
}

// checkLabels judges the labelled answers over a folder of the data set and prints
// how far the judge agrees with the person.
func checkLabels(ctx context.Context, w io.Writer, j judge.Judge, fsys fs.FS, s settings) error {
	all, err := makeAnswers(fsys)
	if err != nil {
		return cli.Usagef("-data: %w", err)
	}
	pairs, changed, err := readLabels(all)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d labelled answers of %d, judged by %s; %d changed since they were labelled and left out\n", len(pairs), len(all), j.Name(), changed)
	for _, h := range []struct {
		name string
		held bool
	}{{"development", false}, {"heldout", true}} {
		if s.half != "" && s.half != h.name {
			continue
		}
		part := half(pairs, h.held)
		for i := range part {
			p := &part[i]
			f, err := j.Fact(ctx, judge.Case{Question: p.Question, Reference: p.Reference, Answer: p.answer})
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.system, p.ID, err)
			}
			p.judged = f.Verdict
		}
		if err := printHalf(w, h.name, part); err != nil {
			return err
		}
		if s.show {
			showWrong(w, part)
		}
	}
	return nil
}

func (l labelled) accepted() bool { return l.judged.State == judge.Scored && l.judged.Value == 1 }

func printHalf(w io.Writer, name string, part []labelled) error {
	var matrix [2][2]int
	questions := make([]string, len(part))
	for i, l := range part {
		matrix[number(l.right)][number(l.accepted())]++
		questions[i] = l.ID
	}
	fmt.Fprintf(w, "\n%-28s %8s %8s\n", name, "rejected", "accepted")
	fmt.Fprintf(w, "%-28s %8d %8d\n%-28s %8d %8d\n", "labelled wrong", matrix[0][0], matrix[0][1], "labelled right", matrix[1][0], matrix[1][1])
	for _, f := range []struct {
		name string
		of   func(t table) float64
	}{
		{"kappa", table.kappa},
		{"right accepted", func(t table) float64 { return t[1][1] / (t[1][0] + t[1][1]) }},
		{"wrong accepted", func(t table) float64 { return t[0][1] / (t[0][0] + t[0][1]) }},
		{"right of all", func(t table) float64 { return t[1][0] + t[1][1] }},
	} {
		i, err := stats.BootstrapStatistic(len(part), stats.Number(questions), func() func([]int32) float64 {
			return func(items []int32) float64 { return f.of(tableOf(part, items)) }
		}, stats.Options{Method: stats.Percentile})
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, f.name, err)
		}
		fmt.Fprintf(w, "%-28s %8.3f [%.3f, %.3f]\n", f.name+", weighted", i.Estimate, i.Low, i.High)
	}
	return nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// table is the weights by label and verdict; they sum to 1.
type table [2][2]float64

func tableOf(part []labelled, items []int32) table {
	var t table
	sum := 0.0
	for _, i := range items {
		l := part[i]
		t[number(l.right)][number(l.accepted())] += l.weight
		sum += l.weight
	}
	for i := range t {
		for k := range t[i] {
			t[i][k] /= sum
		}
	}
	return t
}

// kappa is Cohen's; undefined where all labels and verdicts are equal.
func (t table) kappa() float64 {
	agree := t[0][0] + t[1][1]
	chance := (t[0][0]+t[0][1])*(t[0][0]+t[1][0]) + (t[1][0]+t[1][1])*(t[0][1]+t[1][1])
	if chance == 1 {
		return math.NaN()
	}
	return (agree - chance) / (1 - chance)
}

func showWrong(w io.Writer, part []labelled) {
	for _, l := range part {
		if l.accepted() != l.right {
			fmt.Fprintf(w, "\n%s of %s, weight %.1f, label %d, judge %.0f (%q)\n  question  %q\n  reference %q\n  answer    %q\n",
				l.ID, l.system, l.weight, number(l.right), l.judged.Value, l.judged.Reason, l.Question, l.Reference, l.answer)
		}
	}
}
