// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge/pairwise"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// predicted is a line of a report folder's predictions.
type predicted struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// readPredictions reads the answers by question, and the questions in their order.
func readPredictions(file string) (answers map[string]string, questions []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // only read
	answers = make(map[string]string)
	var faults []error
	for l, err := range jsonl.Read[predicted](f, jsonl.Options{Name: file}) {
		question := strings.TrimSpace(l.Value.Question)
		if _, twice := answers[question]; err == nil && (question == "" || twice) {
			err = &jsonl.Error{File: file, Line: l.Number, Err: errors.New(`no "question", or one that stands above`)}
		}
		if err != nil {
			if faults = append(faults, err); len(faults) == maxFaults {
				break
			}
			continue
		}
		answers[question] = l.Value.Answer
		questions = append(questions, question)
	}
	return answers, questions, errors.Join(faults...)
}

// common are the questions that both files answer, with both answers; alone is how
// many one of them answers.
func common(files [2]string) (cases []pairwise.Case, alone int, err error) {
	a, questions, errA := readPredictions(files[0])
	b, _, errB := readPredictions(files[1])
	if err := errors.Join(errA, errB); err != nil {
		return nil, 0, err
	}
	for _, q := range questions {
		if other, ok := b[q]; ok {
			cases = append(cases, pairwise.Case{Question: q, A: a[q], B: other})
		}
	}
	if len(cases) == 0 {
		return nil, 0, fmt.Errorf("%s and %s have no question in common", files[0], files[1])
	}
	return cases, len(a) + len(b) - 2*len(cases), nil
}

// compareFiles has a model compare the answers of two files, and prints win rates.
func compareFiles(ctx context.Context, w io.Writer, m llm.Model, s settings) error {
	j, err := pairwise.New(m)
	if err != nil {
		return err
	}
	said := make([]pairwise.Comparison, len(s.cases))
	err = kit.Each(ctx, len(said), func(ctx context.Context, i int) (err error) {
		said[i], err = j.Compare(ctx, s.cases[i])
		return err
	})
	if err != nil {
		return err
	}
	var tally pairwise.Tally
	for _, c := range said {
		tally.Add(c)
	}
	rates, err := tally.Rates(stats.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d questions, A %s, B %s, compared in both orders by %s\n\n", len(s.cases),
		text.OneLine(filepath.Base(s.pairwise[0])), text.OneLine(filepath.Base(s.pairwise[1])), text.OneLine(j.Name()))
	fmt.Fprintf(w, "%-18s %5s %5s %5s %9s %9s  %-38s %s\n", "", "A", "B", "ties", "by order", "unscored", "share of B, a tie counts half", "sign test")
	unscored := 0
	for _, r := range rates {
		share, p := "n/a", ""
		if r.WinRate != nil {
			share, p = r.WinRate.String(), fmt.Sprintf("p = %.4f", r.Sign.P)
		}
		fmt.Fprintf(w, "%-18s %5d %5d %5d %9d %9d  %-38s %s\n", r.Criterion, r.A, r.B, r.Ties, r.Flipped, r.Unscored, share, p)
		unscored = max(unscored, r.Unscored)
	}
	if s.alone > 0 {
		fmt.Fprintf(w, "%d questions that one file alone answers are left out.\n", s.alone)
	}
	if unscored > s.maxUnscored {
		return fmt.Errorf("%w: %d comparisons are unscored, -max-unscored allows %d", errUnscored, unscored, s.maxUnscored)
	}
	return nil
}
