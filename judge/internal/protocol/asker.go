// SPDX-License-Identifier: Apache-2.0

// Package protocol is the protocol of the judges by model: every item has an id made from the data, every
// verdict is required, and control items ([Canary]) are mixed in, so that a text with instructions for the
// judge has no effect. It also has the requests that several profiles share.
package protocol

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("judge-exam", promptFiles)

// Asker sends the requests of a judge's profile to a model.
type Asker struct {
	judge.Options
	model llm.Model
	name  string
}

// New returns the asker of a profile; version is the version of the profile's prompts and protocol.
func New(m llm.Model, profile string, version int, o judge.Options) (Asker, error) {
	if m == nil {
		return Asker{}, errors.New("judge: the model is nil: name one")
	}
	name := fmt.Sprintf("wildgraph/%s/gold/v%d", profile, version) + Suffix(o)
	return Asker{o, m, name + "/" + m.Name()}, nil
}

// Name names everything that figures depend on: profile, basis of precision (gold: the gold statements), version,
// options other than the default, and model.
func (e Asker) Name() string { return e.name }

// Request returns the request of a prompt with the given values in its placeholders.
func Request(p prompts.Set, stage, name string, values map[string]any) llm.Request {
	r, err := p.Request(context.Background(), stage, name, values)
	if err != nil {
		panic("judge: " + err.Error()) // a fault of the built-in prompts
	}
	r.JSON = true
	return r
}

// PlainAll applies [Plain] to each text.
func PlainAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = Plain(s)
	}
	return out
}

// Split asks for the statements of the answer, at most limit; more reports whether the answer has others.
func (e Asker) Split(ctx context.Context, c judge.Case, limit int, t *Trace) (statements []string, more bool, err error) {
	question, answer := Plain(c.Question), Plain(c.Answer)
	f := prompts.NewFence(question, answer)
	ask := func(open []Item) llm.Request {
		return Request(templates, "judge-extract", "extract", map[string]any{
			"Nonce": f.Nonce(), "Limit": limit, "ID": open[0].ID,
			"Question": f.Wrap("question", question), "Answer": f.Wrap("answer", answer),
		})
	}
	var found struct{ Statements []string }
	err = e.Run(ctx, NewBatch("a", f.Nonce(), 1), []string{"statements", "more"}, t, ask, func(_ Item, l Line) (err error) {
		more = word(l["more"]) == "true"
		if found, err = replies.Read[struct{ Statements []string }](`{"statements": ` + string(l["statements"]) + "}"); err != nil {
			return ErrNoVerdict
		}
		return nil
	})
	statements, cut := Distinct(found.Statements, limit)
	return statements, cut || more, err
}

// Support asks the model which statements the texts support, alone or together, and returns their number.
func (e Asker) Support(ctx context.Context, texts, statements []string, t *Trace) (int, error) {
	if len(statements) == 0 {
		return 0, nil
	}
	texts = PlainAll(texts)
	all := slices.Concat(texts, statements)
	seed := prompts.NewFence(all...).Nonce()
	know := ChooseCanary(seed, all...)
	texts = append(texts, know.Fact)
	ask := func(open []Item) llm.Request {
		list := Listed(open, func(it Item) string { return it.Pick(statements, know.Restated, know.Falsehood) })
		f := prompts.NewFence(append(slices.Clip(texts), list)...)
		passages := make([]string, len(texts))
		for i, text := range texts {
			passages[i] = f.Wrap(fmt.Sprint("passage ", i+1), text)
		}
		return Request(templates, "judge-support", "support", map[string]any{
			"Nonce": f.Nonce(), "Passages": strings.Join(passages, "\n\n"), "Statements": f.Wrap("statements", list),
		})
	}
	return e.Yes(ctx, NewBatch("s", seed, len(statements), True, False), t, ask)
}

// Yes asks for verdicts on a batch and returns the number of real items whose verdict is 1.
func (e Asker) Yes(ctx context.Context, b Batch, t *Trace, ask func([]Item) llm.Request) (n int, err error) {
	verdicts, err := e.Scores(ctx, b, []string{"score"}, t, ask)
	for _, v := range verdicts {
		n += int(v.Value)
	}
	return n, err
}

// Scores returns the verdicts, 0 or 1, on the real items of a batch, by index.
func (e Asker) Scores(ctx context.Context, b Batch, of []string, t *Trace, ask func([]Item) llm.Request) ([]judge.Verdict, error) {
	out := make([]judge.Verdict, slices.MaxFunc(b.Items, func(x, y Item) int { return x.Index - y.Index }).Index+1)
	return out, e.Run(ctx, b, of, t, ask, func(it Item, l Line) error {
		n, ok := l.Value()
		switch {
		case !ok:
			return ErrNoVerdict
		case it.Canary():
			return it.fault(n == 0, n == 1)
		}
		out[it.Index] = judge.Score(float64(n), Word(l["reason"]))
		return nil
	})
}

// Suffix returns the part of a judge's name for its options.
func Suffix(o judge.Options) string {
	if o.Grounded {
		return "/grounded"
	}
	return ""
}

// Plain removes characters that a person does not see but a model does: control and format characters
// (zero-width, direction, tags). The two joiners, which some scripts need, are kept. Invalid UTF-8 becomes U+FFFD.
func Plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7f || r < ' ' && r != '\n' && r != '\t' }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d':
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Word returns a JSON string or number as text.
func Word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return strings.TrimSpace(s)
}

// Distinct removes empty and repeated statements, and keeps at most limit of the others.
func Distinct(statements []string, limit int) (kept []string, truncated bool) {
	for _, s := range statements {
		if s = strings.TrimSpace(s); !Blank(s) && !slices.Contains(kept, s) {
			if len(kept) == limit {
				return kept, true
			}
			kept = append(kept, s)
		}
	}
	return kept, false
}

// WithoutSummary returns the judgment of a case without gold statements or answer, and false for other cases.
func WithoutSummary(c judge.Case) (judge.SummaryJudgment, bool, error) {
	if len(c.Statements) == 0 {
		none := judge.Verdict{State: judge.NotApplicable, Reason: "no gold statements"}
		return judge.SummaryJudgment{Recall: none, Precision: none}, true, nil
	}
	if err := Gold(c); err != nil {
		return judge.SummaryJudgment{}, true, err
	}
	if v, done := c.Silent(); done {
		return judge.SummaryJudgment{Recall: v, Precision: v, Counts: judge.Counts{Gold: len(c.Statements)}}, true, nil
	}
	return judge.SummaryJudgment{}, false, nil
}

// Gold returns an error for blank and for repeated gold statements.
func Gold(c judge.Case) error {
	for i, s := range c.Statements {
		if Blank(s) {
			return fmt.Errorf("judge: gold statement %d of %q is blank: leave it out", i+1, c.Question)
		}
		if first := slices.Index(c.Statements, s); first < i {
			return fmt.Errorf("judge: gold statements %d and %d of %q are the same: leave one out", first+1, i+1, c.Question)
		}
	}
	return nil
}

// Together sets matches, recall and precision (WildGraphBench, equations 2 and 3): stated has, for each gold
// statement, the sorted indices of the predicted statements that state it, alone or together; supported is true
// for the predicted statements that the gold ones support.
func Together(s *judge.SummaryJudgment, stated [][]int, supported []bool) {
	met, held := 0, 0
	for g, by := range stated {
		for _, p := range by {
			s.Matches = append(s.Matches, judge.Match{Gold: g, Predicted: p})
		}
		met += min(len(by), 1)
	}
	for _, is := range supported {
		if is {
			held++
		}
	}
	Recall(s, met, len(stated))
	Precision(s, held)
	s.Ceiling = judge.Score(min(1, float64(len(stated))/float64(len(s.Predicted))), "")
}

// Recall sets the recall of a summary: met of the gold statements are stated.
func Recall(s *judge.SummaryJudgment, met, gold int) {
	s.Counts.Gold, s.Counts.GoldMet = gold, met
	s.Recall = judge.Score(float64(met)/float64(gold), "")
}

// Precision sets the precision of a summary: met of the predicted statements are supported.
func Precision(s *judge.SummaryJudgment, met int) {
	s.Counts.Predicted, s.Counts.PredictedMet = len(s.Predicted), met
	s.Precision = judge.Score(float64(met)/float64(len(s.Predicted)), "")
}

// NoStatement sets recall and precision to 0, for an answer without statements.
func NoStatement(s *judge.SummaryJudgment, c judge.Case) {
	none := judge.Score(0, "no statement in the answer")
	s.Recall, s.Precision = none, none
	s.Counts.Gold = len(c.Statements)
}

// Ungrounded returns the verdict on the grounding of a case without evidence or answer, else false.
func Ungrounded(c judge.Case) (judge.Verdict, bool) {
	reason := ""
	switch {
	case c.Refused || Blank(c.Answer):
		reason = "no answer"
	case Blank(strings.Join(c.Evidence, "")):
		reason = "no evidence"
	}
	return judge.Verdict{State: judge.NotApplicable, Reason: reason}, reason != ""
}

// Grounded returns the verdict on an answer of whose claims the evidence supports held: 1 if all.
func Grounded(held, claims int) judge.Verdict {
	value := 0.0
	if held == claims {
		value = 1
	}
	return judge.Score(value, fmt.Sprintf("%d of %d claims", held, claims))
}

// Trace adds up the usage of a judgment's calls and the irregularities of their replies.
type Trace struct {
	Protocol judge.Protocol
	Usage    llm.Usage
}

// Charge adds the known usage of a call, successful or failed.
func (t *Trace) Charge(u llm.Usage, err error) {
	var e *llm.Error
	if errors.As(err, &e) {
		u = e.Usage
	}
	t.Usage = t.Usage.Add(u)
}

// Failure returns an unscored verdict for an error that concerns this case alone: an unusable reply, or a
// wrong verdict on a control item. It returns all other errors.
func (t *Trace) Failure(ctx context.Context, err error) (judge.Verdict, error) {
	if ctx.Err() != nil {
		return judge.Verdict{}, ctx.Err()
	}
	if errors.Is(err, errCanary) {
		return judge.NoScore(err.Error()), nil
	}
	if llm.OfOneReply(err) {
		t.Protocol.Failures++
		cause := string(llm.ErrInvalidOutput)
		if e := (*llm.Error)(nil); errors.As(err, &e) {
			cause = string(e.Kind)
		}
		return judge.NoScore(fmt.Sprintf("%s: the judge failed: %v", cause, err)), nil
	}
	return judge.Verdict{}, fmt.Errorf("judge: ask the model: %w", err)
}

// MaxStatements is the largest number of statements of an answer, as in the released evaluator.
const MaxStatements = 20

// Blank reports whether a text has no visible character.
func Blank(s string) bool {
	_, blank := judge.Case{Answer: s}.Silent()
	return blank
}
