// SPDX-License-Identifier: Apache-2.0

package short

import (
	"context"
	"fmt"
	"regexp"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/llm"
)

// profile names the procedure of [Judge] in reports and flags.
const profile = "shortanswer"

// byRules judges by rules whether a sentence of the answer states the gold answer or one of its aliases.
func (j *Judge) byRules(ctx context.Context, c judge.Case) (judge.Verdict, error) {
	var best judge.Verdict
	choice := c.Reference
	for _, c.Reference = range goldAnswers(c) {
		f, err := j.words.Fact(ctx, c)
		if err != nil || f.State == judge.Scored && f.Value == 1 {
			return f.Verdict, err
		}
		if best.State != judge.Scored {
			best = f.Verdict
		}
	}
	if best.State == judge.Unscored && len(choicesOf(choice)) > 0 { // letters of choices have no words to compare
		best = judge.Score(indicator(Choice(c.Answer, choice, true) == 1), "")
	}
	return best, nil
}

func goldAnswers(c judge.Case) []string { return append([]string{c.Reference}, c.Aliases...) }

// share returns n/of as a verdict; if of is 0, the verdict is unscored for the reason without.
func share(n, of int, without string) judge.Verdict {
	if of == 0 {
		return judge.NoScore(without)
	}
	return judge.Score(float64(n)/float64(of), fmt.Sprintf("%d of %d", n, of))
}

// Kind is the form of an answer.
type Kind uint8

// The kinds of answers.
const (
	Text      Kind = iota
	One            // one of several choices, or true or false
	Selection      // any number of choices
)

// Scheme says which scores the answers to a type of questions get. The zero Scheme has accuracy, contains, and
// EM and F1 by the rules of SQuAD 1.1.
type Scheme struct {
	Kind   Kind
	Script Script
	// Rouge adds the score rouge_l, Graded graded, Statements factuality and correctness, Coverage coverage,
	// and Faithful faithfulness.
	Rouge, Graded, Statements, Coverage, Faithful bool
}

// Options of a [Judge].
type Options struct {
	// Model judges the answers; if it is nil, rules do.
	Model llm.Model
	// Embedder is needed for the score correctness; may be nil.
	Embedder llm.Embedder
	// Schemes has the scheme of each [judge.Case.Type]; other types have the zero Scheme.
	Schemes map[string]Scheme
}

// Judge is a [judge.Judge] of short answers. It is safe for concurrent use.
type Judge struct {
	o     Options
	model llm.Model // nil if rules judge
	name  string
	asker protocol.Asker // asks the model
	words *lexical.Judge
}

var _ judge.Judge = (*Judge)(nil)

// version and modelVersion change with every rule, and every scheme of the library's data sets; modelVersion
// also changes with every prompt.
const version, modelVersion = 3, 3

// New returns a judge.
func New(o Options) (*Judge, error) {
	for name, s := range o.Schemes {
		if _, err := s.Script.Score("", []string{"gold"}); err != nil || s.Kind > Selection {
			return nil, fmt.Errorf("judge: the scheme of %q has script %v and kind %d: use the constants of package short", name, s.Script, s.Kind)
		}
	}
	words, err := lexical.New(judge.Options{})
	j := &Judge{o: o, model: o.Model, words: words, name: fmt.Sprintf("lexical/%s/v%d", profile, version)}
	if err != nil || o.Model == nil {
		return j, err
	}
	j.asker, err = protocol.New(o.Model, profile, modelVersion, judge.Options{})
	if j.name = j.asker.Name(); err == nil {
		if e, ok := o.Embedder.(llm.NamedEmbedder); ok {
			j.name += "/" + e.Name()
		}
	}
	return j, err
}

// Procedure makes judges with schemes by [judge.Case.Type].
func Procedure(schemes map[string]Scheme) judge.Procedure {
	return judge.Procedure{Info: judge.Info{Profile: profile, Kind: judge.KindWords, Published: true}, New: func(p judge.Parts) (judge.Judge, error) {
		return New(Options{Model: p.Model, Embedder: p.Embedder, Schemes: schemes})
	}}
}

// Name names the rules, or the profile and the model.
func (j *Judge) Name() string { return j.name }

// Info describes the judge, which is of the kind of its rules or its model.
func (j *Judge) Info() judge.Info {
	kind := judge.KindWords
	if j.model != nil {
		kind = judge.KindModel
	}
	return judge.Info{Profile: profile, Kind: kind, Published: true}
}

// Fact judges an answer. Empty and refused answers score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	s := j.o.Schemes[c.Type]
	if c.Refused {
		c.Answer = ""
	}
	var t protocol.Trace
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
		v, err = j.byRules(ctx, c)
	}
	out.Verdict = v
	if err == nil {
		err = j.byModel(ctx, c, s, done, out.Scores, &t)
	}
	return out, err
}

// Summary is not applicable: no type of these questions is judged by statements.
func (j *Judge) Summary(context.Context, judge.Case) (judge.SummaryJudgment, error) {
	none := judge.Verdict{State: judge.NotApplicable, Reason: "short answers are right or wrong"}
	return judge.SummaryJudgment{Recall: none, Precision: none}, nil
}

// byWords returns the scores that need no model, by name.
func byWords(c judge.Case, s Scheme) map[string]judge.Verdict {
	out := map[string]judge.Verdict{"contains": judge.Score(indicator(Contains(c.Answer, goldAnswers(c)...)), "")}
	if s.Kind != Text {
		return map[string]judge.Verdict{"choice": judge.Score(Choice(choiceLetter(c.Question, c.Answer), c.Reference, s.Kind == Selection), "")}
	}
	em, f1 := "em/"+s.Script.String(), "f1/"+s.Script.String()
	a, err := s.Script.Score(c.Answer, goldAnswers(c))
	if err != nil {
		out[em], out[f1] = judge.NoScore(err.Error()), judge.NoScore(err.Error())
	} else {
		out[em], out[f1] = judge.Score(a.EM, ""), judge.Score(a.F1, "")
	}
	if s.Rouge {
		best := 0.0
		for _, g := range goldAnswers(c) {
			best = max(best, RougeL(c.Answer, g))
		}
		out["rouge_l"] = judge.Score(best, "")
	}
	return out
}

// listed matches a line of a question with a choice: its letter and its text.
var listed = regexp.MustCompile(`(?m)^\s*\(?([A-J])[.):]\s+(.+)$`)

// choiceLetter returns the letter of the choice whose text equals the answer, or else the answer itself.
func choiceLetter(question, answer string) string {
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
