// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/usage"
)

func key(c record.Cell, q graphrag.Question) record.Key {
	return record.Key{Cell: c, ID: q.ID, Question: q.Text, Form: q.Form, K: q.K, Tokens: q.Tokens, Depth: q.Depth}
}

// answered finds the answer to a question. One whose texts were not kept does
// not count where judges are shown them.
func (s *state) answered(c record.Cell, it Item) (record.Answer, bool) {
	a, ok := s.log.Answer(key(c, it.Question))
	if ok && s.opts.ShowEvidence {
		_, ok = a.Shown()
	}
	return a, ok
}

// judged finds the judge's word on an answer.
func (s *state) judged(it Item, a record.Answer) (record.Judgment, bool) {
	return s.log.Judgment(a.Key, s.Judge.Name(), digest(s.judgeCase(it, a)))
}

// judgeCase is what the judge is shown.
func (s *state) judgeCase(it Item, a record.Answer) judge.Case {
	c := judge.Case{
		Question: it.Question.Text, Answer: a.Text, Refused: a.Refused,
		Reference: it.Reference, Statements: it.Statements, Section: it.Section,
	}
	if s.opts.ShowEvidence {
		c.Evidence, _ = a.Shown()
	}
	return c
}

// digest names a case: with another gold or answer the verdict would be another.
func digest(c judge.Case) string {
	return record.Digest(slices.Concat([]string{c.Answer, c.Reference, c.Section}, c.Statements, []string{""}, c.Evidence)...)
}

// question answers and judges one question, each step unless a record of it
// exists.
func (s *state) question(ctx context.Context, system System, c record.Cell, it Item) error {
	ctx = usage.WithQuestion(ctx, it.Question.ID) // for ledgers
	a, ok := s.answered(c, it)
	if !ok {
		var err error
		if a, err = s.answer(ctx, system, c, it); err != nil {
			return err
		}
		if err := s.log.Add(a); err != nil {
			return err
		}
	}
	if _, ok := s.judged(it, a); ok {
		return nil
	}
	j, err := s.judge(ctx, it, a)
	if err != nil {
		return err
	}
	return s.log.Add(j)
}

func (s *state) answer(ctx context.Context, system System, c record.Cell, it Item) (record.Answer, error) {
	start := time.Now()
	a, err := system.Answer(ctx, it.Question)
	millis := float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		if ctx.Err() != nil {
			return record.Answer{}, ctx.Err()
		}
		if !llm.OfOneReply(err) {
			return record.Answer{}, err
		}
		s.opts.Logger.Warn("no answer", "system", c.System, "question", it.Question.ID, "error", err)
		return record.Answer{Key: key(c, it.Question), Error: reason(err), Millis: millis}, nil
	}
	out := record.NewAnswer(key(c, it.Question), a, s.opts.CountTokens, s.opts.ShowEvidence)
	out.Millis = millis
	if s.opts.Coverage != nil && (a.Ranked != nil || len(a.Evidence) > 0) {
		out.Coverage, out.Gold = ref(s.opts.Coverage.Evidence(it, a.Evidence)), it.digest()
	}
	return out, nil
}

func (s *state) judge(ctx context.Context, it Item, a record.Answer) (record.Judgment, error) {
	c := s.judgeCase(it, a)
	out := record.Judgment{Key: a.Key, Judge: s.Judge.Name(), Case: digest(c)}
	summary := s.set.statements(it.Type)
	if a.Error != "" {
		none := judge.NoScore("no answer: " + a.Error)
		if summary {
			out.Summary = &judge.SummaryJudgment{Recall: none, Precision: none}
		} else {
			out.Fact = &judge.FactJudgment{Verdict: none}
		}
		return out, nil
	}
	var err error
	if summary {
		var j judge.SummaryJudgment
		j, err = s.Judge.Summary(ctx, c)
		out.Summary = &j
	} else {
		var j judge.FactJudgment
		j, err = s.Judge.Fact(ctx, c)
		out.Fact = &j
	}
	return out, err
}

// reason is the cause of a failure without its circumstances: a failure served
// from a cache reads like the one that was paid for.
func reason(err error) string {
	var e *llm.Error
	if errors.As(err, &e) {
		return string(e.Kind)
	}
	return err.Error()
}
