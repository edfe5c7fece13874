// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

func answerKey(c record.Cell, q graphrag.Question) record.Key {
	return record.Key{Cell: c, ID: q.ID, Question: q.Text, Form: q.Form, K: q.K, Tokens: q.Tokens, Depth: q.Depth}
}

// answered returns the recorded answer to a question, and whether it can be used: it must be by the present
// build of the index, and have the texts that judges need.
func (s *state) answered(c record.Cell, it Item) (record.Answer, bool) {
	a, ok := s.log.Answer(answerKey(c, it.Question))
	index, _ := s.log.Index(c)
	ok = ok && a.Build == index.Build && !s.again(a.Error) && a.Searched == s.set.typeOf(it.Type).Search
	if ok && s.opts.ShowEvidence {
		_, ok = a.Shown()
	}
	return a, ok
}

// judged returns the recorded judgment of an answer, and whether it can be used.
func (s *state) judged(it Item, a record.Answer) (record.Judgment, bool) {
	j, ok := s.log.Judgment(a.Key, s.Judge.Name(), s.digest(it, a))
	return j, ok && !s.again(unscored(j))
}

// unscored returns the reason why a judgment has no score, "" if it has a score.
func unscored(j record.Judgment) string {
	for _, v := range j.Verdicts() {
		if v.State == judge.Unscored {
			return v.Cause()
		}
	}
	return ""
}

// fresh returns the context for a retry after a failure. It bypasses cached replies, which would fail again.
func (s *state) fresh(ctx context.Context, cause string) context.Context {
	if s.opts.Retry && cause != "" {
		return metering.WithFreshReply(ctx)
	}
	return ctx
}

// again reports whether to retry a failure: with Options.Retry any, otherwise one whose cause may have passed.
func (s *state) again(cause string) bool {
	return cause != "" && s.opts.Retry || slices.Contains([]llm.Kind{
		llm.ErrEmpty, llm.ErrTruncated, llm.ErrFiltered, llm.ErrRateLimited, llm.ErrTransient, llm.ErrTimeout, llm.ErrQuotaExhausted,
	}, llm.Kind(cause))
}

// judgeCase returns the case shown to the judge.
func (s *state) judgeCase(it Item, a record.Answer) judge.Case {
	c := judge.Case{
		Question: it.Question.Text, Answer: a.Text, Refused: a.Refused,
		Type: it.Type, Reference: it.Reference, Aliases: it.Aliases, Statements: it.Statements,
	}
	if s.opts.ShowEvidence {
		c.Evidence, _ = a.Shown()
	}
	return c
}

// digest identifies the input of the judge: other gold or another answer needs another verdict.
func (s *state) digest(it Item, a record.Answer) string {
	c := s.judgeCase(it, a)
	if it.Unanswerable {
		return record.Digest("unanswerable", strconv.FormatBool(a.Refused))
	}
	return record.Digest(slices.Concat([]string{c.Answer, c.Reference, ""}, c.Statements, []string{""}, c.Evidence, aliases(c.Aliases))...)
}

// question answers and judges one question, unless the records have the answer or the judgment.
func (s *state) question(ctx context.Context, system System, e Entry, d Domain, it Item) error {
	ctx = metering.WithQuestion(ctx, it.Question.ID) // ledgers record the question of each call
	c := s.cell(e, d)
	a, ok := s.answered(c, it)
	if !ok {
		var err error
		if a, err = s.answer(s.fresh(ctx, a.Error), system, e, d, it); err != nil {
			return err
		}
		if err := s.log.Add(a); err != nil {
			return err
		}
	}
	j, ok := s.judged(it, a)
	if ok || a.Error != "" {
		return nil
	}
	j, err := s.judge(s.fresh(ctx, unscored(j)), it, a)
	if err != nil {
		return err
	}
	return s.log.Add(j)
}

func (s *state) answer(ctx context.Context, system System, e Entry, d Domain, it Item) (record.Answer, error) {
	c := s.cell(e, d)
	start := time.Now()
	searched := s.set.typeOf(it.Type).Search
	a, err := guarded(func() (graphrag.Answer, error) {
		return ask(metering.WithSample(ctx, it.Repeat), system, it.Question, searched)
	})
	millis := float64(time.Since(start).Microseconds()) / 1000
	index, _ := s.log.Index(c)
	key := answerKey(c, it.Question)
	if err != nil {
		out := record.Answer{Key: key, Build: index.Build, Searched: searched, Millis: millis}
		out.Error, out.Detail, err = s.failure(ctx, err, "system", c.System, "domain", c.Domain, "question", it.Question.ID)
		return out, err
	}
	out := record.NewAnswer(key, a, s.opts.CountTokens, s.opts.ShowEvidence && !e.Foreign)
	if !e.Foreign {
		excerpt(&out, a, it)
	}
	out.Build, out.Searched, out.Millis, out.Foreign = index.Build, searched, millis, e.Foreign
	// Prompts of other programs are unknown, and summaries are no source text: neither can hold the gold
	// statements.
	if s.opts.Found && !e.Foreign && (len(a.Evidence) > 0 || a.Ranked != nil && len(a.Derived) == 0) {
		words, err := s.words()
		if err != nil {
			return record.Answer{}, err
		}
		if v, ok := words.found(it, a.Evidence); ok {
			out.Found, out.Gold = ref(v), it.digest()
		}
	}
	return out, nil
}

// ask lets a system answer a question, or only retrieve if the question has no gold answer.
func ask(ctx context.Context, system System, q graphrag.Question, searched bool) (graphrag.Answer, error) {
	r, ok := system.(graphrag.Retriever)
	if !searched || !ok {
		return system.Answer(ctx, q)
	}
	found, err := r.Retrieve(ctx, q)
	found.Evidence = found.Read(q)
	return graphrag.Answer{Found: found}, err
}

// failure returns the text of an error that concerns one question, and other if the error ends the run. The
// attributes in where go into the log.
func (s *state) failure(ctx context.Context, err error, where ...any) (text, detail string, other error) {
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	var p *panicError
	switch {
	case errors.As(err, &p):
		s.opts.Logger.Error("panic", append(where, "error", err, "stack", p.stack)...)
		return p.Error(), p.stack, nil
	case llm.OfOneReply(err):
		s.opts.Logger.Warn("no answer", append(where, "error", err)...)
		if e := (*llm.Error)(nil); errors.As(err, &e) { // equal text for cached and new failures
			return string(e.Kind), "", nil
		}
		return err.Error(), "", nil
	}
	return "", "", err
}

func (s *state) judge(ctx context.Context, it Item, a record.Answer) (record.Judgment, error) {
	out := record.Judgment{Key: a.Key, Judge: s.Judge.Name(), Case: s.digest(it, a)}
	switch {
	case s.set.typeOf(it.Type).Search:
		return s.fixedJudgment(out, it, judge.Verdict{State: judge.NotApplicable}), nil
	case it.Unanswerable && a.Refused:
		return s.fixedJudgment(out, it, judge.Score(1, "refused, as it should be")), nil
	case it.Unanswerable:
		return s.fixedJudgment(out, it, judge.Score(0, "there is no answer")), nil
	}
	c := s.judgeCase(it, a)
	_, err := guarded(func() (none struct{}, err error) {
		if s.set.typeOf(it.Type).Statements {
			var j judge.SummaryJudgment
			j, err = s.Judge.Summary(ctx, c)
			out.Summary = &j
		} else {
			var j judge.FactJudgment
			j, err = s.Judge.Fact(ctx, c)
			out.Fact = &j
		}
		return none, err
	})
	if p := (*panicError)(nil); errors.As(err, &p) && ctx.Err() == nil {
		s.opts.Logger.Error("panic", "judge", s.Judge.Name(), "system", a.System, "question", a.ID, "error", err, "stack", p.stack)
		out.Detail = p.stack
		return s.fixedJudgment(out, it, judge.NoScore("the judge failed: "+p.Error())), nil
	}
	return out, err
}

// fixedJudgment fills in a verdict for which no judge was asked.
func (s *state) fixedJudgment(j record.Judgment, it Item, v judge.Verdict) record.Judgment {
	j.Fact, j.Summary = &judge.FactJudgment{Verdict: v}, nil
	if s.set.typeOf(it.Type).Statements {
		j.Fact, j.Summary = nil, &judge.SummaryJudgment{Recall: v, Precision: v}
	}
	return j
}

// panicError is the error for a panic of a system or a judge.
type panicError struct {
	value any
	stack string
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guarded calls f and turns a panic into an error, so that one question cannot end a run after hours of paid
// calls. A panic in a goroutine that f starts still ends the program.
func guarded[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, stack()}
		}
	}()
	return f()
}

// stack returns the calls that led to a panic, the innermost first, without addresses and folders, so that
// equal faults give equal texts.
func stack() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	var lines []string
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "benchmark.guarded[...]") {
			break
		}
		if f.Function == "runtime.gopanic" {
			lines = nil // the calls so far belong to the recovery
		} else if !strings.HasPrefix(f.Function, "runtime.") {
			lines = append(lines, fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(lines, "\n")
}
