// SPDX-License-Identifier: Apache-2.0

package liverag

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/llm"
)

// Profile is what reports and flags call the procedure.
const Profile = "liverag"

// MaxWords is how many words of an answer are read: a rule of the challenge.
const MaxWords = 300

// version changes whenever a prompt or a rule does.
const version = 1

// Correctness is the score, -1 to 2, of an answer of some coverage and relevance, both
// 0 to 1: -1 without coverage, 1 with all of it, and up to 1 more for relevance.
func Correctness(coverage, relevance float64) float64 { return -1 + coverage*(2+relevance) }

// Points is the correctness, -1 to 2, of a value or a mean of values of the judge.
func Points(value float64) float64 { return 3*value - 1 }

// Faithfulness is the score, -1 to 1, of an answer of whose statements such a share is
// supported, or of a mean of shares.
func Faithfulness(supported float64) float64 { return 2*supported - 1 }

// Options of a [Judge].
type Options struct {
	// Model decides; nil leaves it to rules.
	Model llm.Model
}

// Judge is a [judge.Judge] on the challenge's scales. It is safe for concurrent use.
type Judge struct {
	model llm.Model
	exam  exam.Exam
	words *lexical.Judge // holds precision against the evidence
}

var _ judge.Judge = (*Judge)(nil)

// New returns a judge.
func New(o Options) (*Judge, error) {
	words, err := lexical.New(judge.Options{Precision: judge.RefEvidence})
	if err != nil {
		return nil, err
	}
	j := &Judge{model: o.Model, words: words}
	if o.Model != nil {
		j.exam, err = exam.New(o.Model, Profile, version, exam.Options{})
	}
	return j, err
}

// Name tells what decides: rules, or the model.
func (j *Judge) Name() string {
	if j.model == nil {
		return fmt.Sprintf("lexical/%s/v%d", Profile, version)
	}
	return j.exam.Name()
}

// shares are what the scores are made of.
type shares struct {
	statements []string // of the answer
	truncated  bool
	gold, met  int // statements of the gold answer, and those that the answer gives
	relevant   int // statements of the answer that have to do with the question
	held       int // those that the evidence supports
}

// Fact judges an answer by its gold answer. The value is the place of the correctness
// between -1 and 2; the scores coverage, relevance and faithfulness, each 0 to 1, stand
// beside it. An answer that says nothing has a third, without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	var t exam.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	c.Answer = first(c.Answer, MaxWords)
	out.Scores = make(map[string]judge.Verdict)
	if v, done := exam.WithoutAnswer(c); done {
		silent(&out, v.Reason)
		return out, nil
	}
	if exam.Blank(c.Reference) {
		out.Verdict = judge.Verdict{State: judge.NotApplicable, Reason: "no gold answer"}
		return out, nil
	}
	s, err := j.correct(ctx, c, nil, &t)
	if err != nil {
		v, err := t.Failure(ctx, err)
		for _, name := range []string{"coverage", "relevance", "faithfulness"} {
			out.Scores[name] = v
		}
		out.Verdict = v
		return out, err
	}
	switch {
	case len(s.statements) == 0:
		silent(&out, "no statement in the answer")
		return out, nil
	case s.gold == 0:
		out.Verdict = judge.NoScore("the gold answer holds no statement")
	default:
		coverage, relevance := share(s.met, s.gold), share(s.relevant, len(s.statements))
		out.Scores["coverage"], out.Scores["relevance"] = coverage, relevance
		points := Correctness(coverage.Value, relevance.Value)
		out.Verdict = judge.Score((points+1)/3, fmt.Sprintf("%.2f of -1 to 2: %s given, %s relevant", points, coverage.Reason, relevance.Reason))
	}
	out.Scores["faithfulness"], err = j.faithful(ctx, c, &s, &t)
	return out, err
}

// silent is the judgment of an answer that says nothing.
func silent(out *judge.FactJudgment, reason string) {
	none := judge.Verdict{State: judge.NotApplicable, Reason: reason}
	out.Verdict = judge.Score(1./3, reason+": 0 of -1 to 2")
	out.Scores["coverage"], out.Scores["relevance"], out.Scores["faithfulness"] = judge.Score(0, reason), none, none
}

// Summary judges an answer by gold statements: recall is coverage, precision relevance,
// which [Correctness] puts together.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	if err := ctx.Err(); err != nil {
		return judge.SummaryJudgment{}, err
	}
	c.Answer = first(c.Answer, MaxWords)
	out, done, err := exam.WithoutSummary(c)
	if done {
		return out, err
	}
	var t exam.Trace
	s, err := j.correct(ctx, c, c.Statements, &t)
	switch {
	case err != nil:
		out.Recall, err = t.Failure(ctx, err)
		out.Precision = out.Recall
	case len(s.statements) == 0:
		exam.NoStatement(&out, c)
	default:
		out.Predicted, out.Truncated = s.statements, s.truncated
		exam.Recall(&out, s.met, s.gold)
		exam.Precision(&out, s.relevant)
	}
	out.Protocol, out.Usage = t.Protocol, t.Usage
	return out, err
}

// correct finds coverage and relevance. Gold are the statements of the gold answer; nil
// takes them from the reference.
func (j *Judge) correct(ctx context.Context, c judge.Case, gold []string, t *exam.Trace) (shares, error) {
	if j.model == nil {
		return j.byWords(ctx, c, gold)
	}
	return j.byModel(ctx, c, gold, t)
}

// faithful is the share of the answer's statements that the evidence supports.
func (j *Judge) faithful(ctx context.Context, c judge.Case, s *shares, t *exam.Trace) (judge.Verdict, error) {
	if v, none := exam.Ungrounded(c); none {
		return v, nil
	}
	if j.model == nil {
		return share(s.held, len(s.statements)), nil
	}
	evidence := exam.Evidence(c)
	t.Evidence = len(evidence)
	held, err := j.exam.Support(ctx, evidence, s.statements, t)
	if err != nil {
		return t.Failure(ctx, err)
	}
	return share(held, len(s.statements)), nil
}

// byWords decides by rules: what the lexical judge takes for stated, and for relevance
// whether a sentence has a word in common with the question or the gold answer.
func (j *Judge) byWords(ctx context.Context, c judge.Case, gold []string) (s shares, err error) {
	of := c
	if gold == nil {
		of.Statements = []string{c.Reference}
	}
	summary, err := j.words.Summary(ctx, of)
	if err != nil {
		return s, err
	}
	s = shares{statements: summary.Predicted, truncated: summary.Truncated, gold: len(of.Statements), met: summary.Counts.GoldMet, held: summary.Counts.PredictedMet}
	if gold == nil {
		s.met, s.gold, err = j.stated(ctx, c)
	}
	about := terms(strings.Join(append([]string{c.Question, c.Reference}, of.Statements...), "\n"))
	for _, statement := range s.statements {
		for t := range terms(statement) {
			if about[t] {
				s.relevant++
				break
			}
		}
	}
	return s, err
}

// stated is 1 if the answer states the gold answer or one of its aliases; of counts 1
// unless none of them can be compared.
func (j *Judge) stated(ctx context.Context, c judge.Case) (met, of int, err error) {
	for _, gold := range append([]string{c.Reference}, c.Aliases...) {
		c.Reference = gold
		f, err := j.words.Fact(ctx, c)
		if err != nil {
			return 0, 0, err
		}
		if f.State == judge.Scored {
			met, of = max(met, int(f.Value)), 1
		}
	}
	return met, of, nil
}

func terms(s string) map[string]bool {
	a, out := text.Default(), make(map[string]bool)
	a.Words(s, func(w []byte) bool {
		if t, ok := a.Term(string(w)); ok {
			out[t] = true
		}
		return true
	})
	return out
}

func share(n, of int) judge.Verdict {
	return judge.Score(float64(n)/float64(of), fmt.Sprintf("%d of %d", n, of))
}

// first are the first n words of a text, with what stands between them.
func first(s string, n int) string {
	inside := false
	for i, r := range s {
		if space := unicode.IsSpace(r); space {
			inside = false
		} else if !inside {
			if inside = true; n == 0 {
				return s[:i]
			}
			n--
		}
	}
	return s
}
