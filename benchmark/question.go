// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
)

// question answers and judges one question, each step unless a record of it
// exists.
func (s *state) question(ctx context.Context, system graphrag.System, e Entry, d Domain, it Item) error {
	p := s.place(e, d, it)
	ctx = llm.WithQuestion(ctx, p.id) // for ledgers
	a, ok := get(s.log, s.log.answers, p)
	if !ok {
		var err error
		if a, err = s.answer(ctx, system, p, it); err != nil {
			return err
		}
		if err := s.log.addAnswer(a); err != nil {
			return err
		}
	}
	j, err := s.judge(ctx, p, it, a)
	if err != nil {
		return err
	}
	return s.log.addJudgment(j)
}

func (s *state) answer(ctx context.Context, system graphrag.System, p place, it Item) (AnswerRecord, error) {
	rec := AnswerRecord{
		System: p.system, Domain: p.domain, ID: p.id,
		Type: it.Question.Type, Question: it.Question.Text, K: it.Question.K, Sweep: p.sweep,
	}
	start := time.Now()
	a, err := system.Answer(ctx, it.Question)
	rec.Millis = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		if ctx.Err() != nil {
			return rec, ctx.Err()
		}
		if !ofOneQuestion(err) {
			return rec, err
		}
		s.opts.Logger.Warn("no answer", "system", p.system, "question", p.id, "error", err)
		rec.Error = reason(err)
		return rec, nil
	}
	rec.Answer, rec.Refused, rec.Usage = a.Text, a.Refused, a.Usage
	rec.Metrics = MeasureEvidence(it, a, s.opts.Coverage)
	for _, h := range a.Ranked {
		rec.Ranked = append(rec.Ranked, RankedChunk{h.Chunk.ID, h.Chunk.Doc, h.Score})
	}
	var ends []int
	for _, h := range a.Evidence {
		rec.Evidence = append(rec.Evidence, h.Chunk.ID)
		s.context(&rec, h.Chunk.Text)
		ends = append(ends, rec.ContextTokens)
	}
	rec.Met = firstMet(it.Gold, a.Evidence, ends)
	source := rec.ContextTokens
	for _, f := range a.Derived {
		s.context(&rec, f.Text)
	}
	rec.DerivedTokens = rec.ContextTokens - source
	return rec, nil
}

// context counts one text of the prompt and keeps it if a judge will see it.
func (s *state) context(rec *AnswerRecord, text string) {
	if s.opts.CountTokens != nil {
		rec.ContextTokens += s.opts.CountTokens(text)
	}
	if s.opts.ShowEvidence {
		rec.Shown = append(rec.Shown, text)
	}
}

func (s *state) judge(ctx context.Context, p place, it Item, a AnswerRecord) (JudgmentRecord, error) {
	rec := JudgmentRecord{System: p.system, Domain: p.domain, ID: p.id, Sweep: p.sweep, Judge: s.Judge.Name()}
	summary := it.Question.Type == graphrag.Summary
	if a.Error != "" {
		none := judge.NoScore("no answer: " + a.Error)
		if summary {
			rec.Summary = &judge.SummaryJudgment{Recall: none, Precision: none}
		} else {
			rec.Fact = &judge.FactJudgment{Verdict: none}
		}
		return rec, nil
	}
	c := judge.Case{
		Question: it.Question.Text, Answer: a.Answer, Refused: a.Refused,
		Reference: it.Reference, Statements: it.Statements, Section: it.Section,
		Evidence: a.Shown,
	}
	var err error
	if summary {
		var j judge.SummaryJudgment
		j, err = s.Judge.Summary(ctx, c)
		rec.Summary = &j
	} else {
		var j judge.FactJudgment
		j, err = s.Judge.Fact(ctx, c)
		rec.Fact = &j
	}
	return rec, err
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

// ofOneQuestion tells failures that come with this question, such as a
// filtered or cut-off reply, from those that the next question would meet as
// well, such as a refused key or a server that is gone.
func ofOneQuestion(err error) bool {
	for _, kind := range []error{llm.ErrFiltered, llm.ErrRefused, llm.ErrTruncated, llm.ErrEmpty, llm.ErrInvalidOutput, llm.ErrContextLength} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
