// SPDX-License-Identifier: Apache-2.0

package short

import (
	"context"
	"fmt"
	"regexp"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/llm"
)

// What reports and flags call the procedures of [Judge] and [LiveRAG].
const (
	Profile        = "shortanswer"
	LiveRAGProfile = "liverag"
)

// stated decides by rules whether a sentence of the answer states the gold answer or
// one of its aliases.
func (j *Judge) stated(ctx context.Context, c judge.Case) (judge.Verdict, error) {
	var best judge.Verdict
	choice := c.Reference
	for _, c.Reference = range golds(c) {
		f, err := j.words.Fact(ctx, c)
		if err != nil || f.State == judge.Scored && f.Value == 1 {
			return f.Verdict, err
		}
		if best.State != judge.Scored {
			best = f.Verdict
		}
	}
	if best.State == judge.Unscored && len(named(choice)) > 0 { // letters of choices are no words
		best = judge.Score(indicator(Choice(c.Answer, choice, true) == 1), "")
	}
	return best, nil
}

func golds(c judge.Case) []string { return append([]string{c.Reference}, c.Aliases...) }

// share is n of a number of things as a verdict; without is the cause that there is no
// score if there are none.
func share(n, of int, without string) judge.Verdict {
	if of == 0 {
		return judge.NoScore(without)
	}
	return judge.Score(float64(n)/float64(of), fmt.Sprintf("%d of %d", n, of))
}

// Kind is what an answer consists of.
type Kind uint8

// The kinds of answers.
const (
	Text      Kind = iota
	One            // one of several choices, or true or false
	Selection      // any number of choices
)

// Scheme says how the answers to a type of questions are scored. The zero Scheme has
// accuracy, contains, and EM and F1 by the rules of SQuAD 1.1.
type Scheme struct {
	Kind   Kind
	Script Script
	// Rouge adds rouge_l, Graded graded, Statements factuality and correctness,
	// Coverage coverage, and Faithful faithfulness.
	Rouge, Graded, Statements, Coverage, Faithful bool
}

// Options of a [Judge].
type Options struct {
	// Model decides; nil leaves it to rules.
	Model llm.Model
	// Embedder completes factuality to correctness; may be nil.
	Embedder llm.Embedder
	// Schemes are by [judge.Case.Type]; a type without one has the zero Scheme.
	Schemes map[string]Scheme
}

// Judge is a [judge.Judge] of short answers. It is safe for concurrent use.
type Judge struct {
	o     Options
	model llm.Model // nil leaves it to rules
	name  string
	exam  exam.Exam // of the model
	words *lexical.Judge
}

var _ judge.Judge = (*Judge)(nil)

// Versions change whenever a rule or a scheme of the library's data sets does, and that of the
// judge by model whenever a prompt does.
const version, modelVersion = 3, 3

// New returns a judge.
func New(o Options) (*Judge, error) {
	for name, s := range o.Schemes {
		if _, err := s.Script.Score("", []string{"gold"}); err != nil || s.Kind > Selection {
			return nil, fmt.Errorf("judge: the scheme of %q has script %v and kind %d: want those there are", name, s.Script, s.Kind)
		}
	}
	words, err := lexical.New(judge.Options{})
	j := &Judge{o: o, model: o.Model, words: words, name: fmt.Sprintf("lexical/%s/v%d", Profile, version)}
	if err != nil || o.Model == nil {
		return j, err
	}
	j.exam, err = exam.New(o.Model, Profile, modelVersion, judge.Options{})
	if j.name = j.exam.Name(); err == nil {
		if e, ok := o.Embedder.(llm.NamedEmbedder); ok {
			j.name += "/" + e.Name()
		}
	}
	return j, err
}

// Name tells what decides: rules, or the model.
func (j *Judge) Name() string { return j.name }

// Fact judges an answer. Empty and refused ones score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	s := j.o.Schemes[c.Type]
	if c.Refused {
		c.Answer = ""
	}
	var t exam.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	out.Scores = byWords(c, s)
	v, done := c.Silent()
	switch {
	case done:
	case j.model != nil:
		v, err = j.ask(ctx, "accuracy", c, &t, 0, 1)
	case s.Kind != Text:
		v = judge.Score(indicator(out.Scores["choice"].Value == 1), "")
	default:
		v, err = j.stated(ctx, c)
	}
	out.Verdict = v
	if err == nil {
		err = j.byModel(ctx, c, s, done, out.Scores, &t)
	}
	return out, err
}

// Summary has nothing to say: no type of these questions is judged by statements.
func (j *Judge) Summary(context.Context, judge.Case) (judge.SummaryJudgment, error) {
	none := judge.Verdict{State: judge.NotApplicable, Reason: "short answers are right or wrong"}
	return judge.SummaryJudgment{Recall: none, Precision: none}, nil
}

// byWords are the scores that need no model.
func byWords(c judge.Case, s Scheme) map[string]judge.Verdict {
	out := map[string]judge.Verdict{"contains": judge.Score(indicator(Contains(c.Answer, golds(c)...)), "")}
	if s.Kind != Text {
		return map[string]judge.Verdict{"choice": judge.Score(Choice(lettered(c.Question, c.Answer), c.Reference, s.Kind == Selection), "")}
	}
	em, f1 := "em/"+s.Script.String(), "f1/"+s.Script.String()
	a, err := s.Script.Score(c.Answer, golds(c))
	if err != nil {
		out[em], out[f1] = judge.NoScore(err.Error()), judge.NoScore(err.Error())
	} else {
		out[em], out[f1] = judge.Score(a.EM, ""), judge.Score(a.F1, "")
	}
	if s.Rouge {
		best := 0.0
		for _, g := range golds(c) {
			best = max(best, RougeL(c.Answer, g))
		}
		out["rouge_l"] = judge.Score(best, "")
	}
	return out
}

// listed matches the choices that a question lists, one a line.
var listed = regexp.MustCompile(`(?m)^\s*\(?([A-J])[.):]\s+(.+)$`)

// lettered is an answer, or the letter of the choice whose text it is.
func lettered(question, answer string) string {
	for _, m := range listed.FindAllStringSubmatch(question, -1) {
		if text := Normalize(m[2]); text != "" && text == Normalize(answer) {
			return m[1]
		}
	}
	return answer
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
