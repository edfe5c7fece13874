// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// Predictions are answers another program made, to be judged beside our own:
// a system without an index.
type Predictions struct {
	name    string
	answers map[string]string // question text → answer
}

// ReadPredictions reads answers from JSON lines, a JSON array or one JSON
// object, in the shapes the released evaluator accepts: each has a
// "question" and an answer under "pred_answer", "answer", "result" (with a
// "response") or "response". Questions are matched by their trimmed text.
//
// Every question of the data set must have one answer (an empty one counts as
// wrong): duplicates, gaps and questions the data set does not have are
// errors that name file and line. want are the questions that will be asked;
// known says whether the data set has a question that is not among them.
func ReadPredictions(name, file string, r io.Reader, want []string, known func(question string) bool) (*Predictions, error) {
	p := &Predictions{name: name, answers: make(map[string]string)}
	seen := make(map[string]int)
	var problems []error
	for l, err := range jsonl.ReadValues[map[string]json.RawMessage](r, jsonl.Options{Name: file}) {
		if err != nil {
			problems = append(problems, err)
			continue
		}
		problem := func(format string, args ...any) {
			problems = append(problems, &jsonl.Error{File: file, Line: l.Number, Err: fmt.Errorf(format, args...)})
		}
		question, answer, err := fields(l.Value)
		switch {
		case err != nil:
			problem("%w", err)
		case seen[question] > 0:
			problem("the question of line %d again: %.80q", seen[question], question)
		case !known(question):
			problem("the data set does not have this question: %.80q", question)
		}
		seen[question] = l.Number
		p.answers[question] = answer
	}
	if len(problems) == 0 {
		problems = p.gaps(file, want)
	}
	if n := len(problems); n > 10 {
		problems = append(problems[:10], fmt.Errorf("… and %d more problems", n-10))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("benchmark: predictions of %s: %w", name, err)
	}
	return p, nil
}

func (p *Predictions) gaps(file string, want []string) []error {
	var missing []string
	for _, q := range want {
		if _, ok := p.answers[strings.TrimSpace(q)]; !ok {
			missing = append(missing, q)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []error{fmt.Errorf("%s: no line for %d of %d questions, the first is %.80q; add lines with an empty answer where there is none",
		file, len(missing), len(want), missing[0])}
}

// fields finds question and answer as the released evaluator does: the first
// answer key that is present counts, even if its value is empty.
func fields(object map[string]json.RawMessage) (question, answer string, err error) {
	if err := json.Unmarshal(object["question"], &question); err != nil || strings.TrimSpace(question) == "" {
		return "", "", errors.New(`no "question"`)
	}
	question = strings.TrimSpace(question)
	for _, key := range []string{"pred_answer", "answer", "result", "response"} {
		raw, ok := object[key]
		if !ok {
			continue
		}
		if key == "result" {
			var inner map[string]json.RawMessage
			if json.Unmarshal(raw, &inner) == nil && inner != nil {
				if raw, ok = inner["response"]; !ok {
					return question, "", errors.New(`"result" has no "response"`)
				}
			}
		}
		var text *string
		if err := json.Unmarshal(raw, &text); err != nil {
			return question, "", fmt.Errorf("%q is not a text", key)
		}
		if text != nil {
			answer = strings.TrimSpace(*text)
		}
		return question, answer, nil
	}
	return question, "", errors.New(`no answer: want one of "pred_answer", "answer", "result", "response"`)
}

// Entry makes the predictions take part in a run. Other answers are another
// system.
func (p *Predictions) Entry() Entry {
	var lines []string
	for _, q := range slices.Sorted(maps.Keys(p.answers)) {
		lines = append(lines, q, p.answers[q])
	}
	return Entry{
		Name: p.name, Fixed: true, Foreign: true, Settings: map[string]any{"score " + p.name: record.Digest(lines...)},
		New: func(string) (System, error) { return p, nil },
	}
}

// Index builds nothing.
func (p *Predictions) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}

// Answer looks the answer up. It has no evidence.
func (p *Predictions) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	answer, ok := p.answers[strings.TrimSpace(q.Text)]
	if !ok {
		return graphrag.Answer{}, fmt.Errorf("benchmark: %s has no answer to %.80q", p.name, q.Text)
	}
	return graphrag.Answer{Text: answer}, nil
}

// Close does nothing.
func (p *Predictions) Close() error { return nil }
