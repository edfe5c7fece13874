// SPDX-License-Identifier: Apache-2.0

package judgetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// Suite is a set of questions with checks of the answers.
type Suite struct {
	// Ask asks the system under test.
	Ask func(ctx context.Context, question string) (graphrag.Answer, error)
	// Judge judges the answers; nil is the lexical judge.
	Judge judge.Judge
	Cases []Case
	// Pass is the share of cases, in 0..1, that must hold; 0 means all. With a smaller share a failed case is
	// logged, and the test fails if too few cases hold.
	Pass float64
}

// Case is one question.
type Case struct {
	// Name is the name of the subtest; "" means the question.
	Name     string
	Question string
	// Checks must all hold. A case without checks is an error.
	Checks []Check
}

// Answer is the input of a [Check].
type Answer struct {
	graphrag.Answer
	Question string
	Judge    judge.Judge
}

// Check checks an answer; its error describes the fault, and wraps [ErrUnscored] if the judge could not decide.
type Check func(ctx context.Context, a Answer) error

// ErrUnscored is wrapped by the error of a check that has no verdict.
var ErrUnscored = errors.New("unscored")

// Run asks every question and checks every answer, each case as a subtest.
func Run(t *testing.T, s Suite) {
	t.Helper()
	if err := s.complete(); err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, c := range s.Cases {
		t.Run(cmp.Or(c.Name, c.Question), func(t *testing.T) {
			problems := s.check(t.Context(), c)
			if len(problems) == 0 {
				held++
			}
			for _, err := range problems {
				if s.tolerant() {
					t.Log("does not hold:", err)
				} else {
					t.Error(err)
				}
			}
		})
	}
	if err := s.enough(held); err != nil {
		t.Error(err)
	}
}

// enough returns an error if fewer cases hold than Pass requires; it returns nil if all must hold.
func (s *Suite) enough(held int) error {
	if s.tolerant() && float64(held) < s.Pass*float64(len(s.Cases)) {
		return fmt.Errorf("%d of %d cases hold, want %.0f %%", held, len(s.Cases), 100*s.Pass)
	}
	return nil
}

func (s *Suite) tolerant() bool { return s.Pass > 0 && s.Pass < 1 }

func (s *Suite) complete() error {
	var problems []error
	if s.Ask == nil {
		problems = append(problems, errors.New("judgetest: Suite.Ask is nil: there is nothing to test"))
	}
	if len(s.Cases) == 0 {
		problems = append(problems, errors.New("judgetest: Suite.Cases is empty: there is nothing to test"))
	}
	if s.Pass < 0 || s.Pass > 1 {
		problems = append(problems, fmt.Errorf("judgetest: Suite.Pass is %v, want a share from 0 to 1", s.Pass))
	}
	for i, c := range s.Cases {
		if strings.TrimSpace(c.Question) == "" || len(c.Checks) == 0 {
			problems = append(problems, fmt.Errorf("judgetest: case %d (%q): want a question and at least one check", i, c.Name))
		}
	}
	if s.Judge == nil {
		lexical, err := lexical.New(judge.Options{Grounded: true})
		if err != nil {
			problems = append(problems, err)
		}
		s.Judge = lexical
	}
	return errors.Join(problems...)
}

// check asks one question and returns the faults of the answer.
func (s *Suite) check(ctx context.Context, c Case) []error {
	a, err := s.Ask(ctx, c.Question)
	if err != nil {
		return []error{fmt.Errorf("the system gave no answer: %w", err)}
	}
	var out []error
	for _, check := range c.Checks {
		if err := check(ctx, Answer{a, c.Question, s.Judge}); err != nil {
			out = append(out, fmt.Errorf("%w\nanswer: %.600s", err, a.Text))
		}
	}
	return out
}

func (a Answer) fact(ctx context.Context, reference string) (judge.Verdict, error) {
	f, err := a.Judge.Fact(ctx, judge.Case{Question: a.Question, Reference: reference, Answer: a.Text, Refused: a.Refused, Evidence: a.texts()})
	if err == nil && f.State != judge.Scored {
		err = fmt.Errorf("%w: %s: %q", ErrUnscored, f.Reason, reference)
	}
	return f.Verdict, err
}

func (a Answer) texts() []string {
	out := make([]string, len(a.Evidence))
	for i, h := range a.Evidence {
		out[i] = h.Chunk.Text
	}
	return out
}

// States requires that the answer states the reference or one of the others, which are equally right.
func States(reference string, others ...string) Check {
	return func(ctx context.Context, a Answer) error {
		var problems []error
		for _, r := range append([]string{reference}, others...) {
			v, err := a.fact(ctx, r)
			if err == nil && v.Value == 1 {
				return nil
			} else if err == nil {
				err = fmt.Errorf("the answer does not state %q: %s", r, v.Reason)
			}
			problems = append(problems, err)
		}
		return errors.Join(problems...)
	}
}

// Grounded requires that the evidence of the answer supports each of its claims. The suite's judge must have
// the option Grounded of [judge.Options], as the default judge has.
func Grounded() Check {
	return func(ctx context.Context, a Answer) error {
		f, err := a.Judge.Fact(ctx, judge.Case{Question: a.Question, Reference: a.Text, Answer: a.Text, Refused: a.Refused, Evidence: a.texts()})
		switch v := f.Grounded; {
		case err != nil:
			return err
		case v.State != judge.Scored:
			return fmt.Errorf("%w: is the answer grounded: %s: set judge.Options.Grounded of the judge", ErrUnscored, v.Reason)
		case v.Value < 1:
			return fmt.Errorf("the evidence does not support the answer: %s", v.Reason)
		}
		return nil
	}
}

// Never requires that the answer states none of the falsehoods, which should contradict the truth.
func Never(falsehoods ...string) Check {
	return func(ctx context.Context, a Answer) error {
		var problems []error
		for _, f := range falsehoods {
			switch v, err := a.fact(ctx, f); {
			case err != nil:
				problems = append(problems, err)
			case v.Value > 0:
				problems = append(problems, fmt.Errorf("the answer states %q: %s", f, v.Reason))
			}
		}
		return errors.Join(problems...)
	}
}

// Covers requires that the answer states at least a share, in 0..1, of the facts.
func Covers(share float64, facts ...string) Check {
	return func(ctx context.Context, a Answer) error {
		s, err := a.Judge.Summary(ctx, judge.Case{Question: a.Question, Statements: facts, Answer: a.Text, Refused: a.Refused, Evidence: a.texts()})
		switch {
		case err != nil:
			return err
		case s.Recall.State != judge.Scored:
			return fmt.Errorf("%w: %s", ErrUnscored, s.Recall.Reason)
		case s.Recall.Value >= share:
			return nil
		}
		return fmt.Errorf("the answer covers %.2f of the facts, want %.2f; %s", s.Recall.Value, share, lacking(s, facts))
	}
}

// lacking lists the facts that the answer does not state, or their number if the judge gives no pairs.
func lacking(s judge.SummaryJudgment, facts []string) string {
	if s.Counts.GoldMet > 0 && len(s.Matches) == 0 {
		return fmt.Sprintf("lacking %d of %q", s.Counts.Gold-s.Counts.GoldMet, facts)
	}
	var out []string
	for i, f := range facts {
		if !slices.ContainsFunc(s.Matches, func(m judge.Match) bool { return m.Gold == i }) {
			out = append(out, f)
		}
	}
	return fmt.Sprintf("lacking: %q", out)
}

// Cites requires that the answer's citations are valid, and that it cites each of the documents.
func Cites(docs ...string) Check {
	return func(_ context.Context, a Answer) error {
		var problems []error
		var cited []string
		for i, c := range a.Citations {
			pieces := map[graphrag.Origin]int{"": len(a.Evidence), graphrag.OfDerived: len(a.Derived), graphrag.OfSource: len(a.Sources), graphrag.OfMemory: 1}[c.Of]
			if c.Evidence < 0 || c.Evidence >= pieces || c.Start < 0 || c.End < c.Start || c.End > len(a.Text) {
				problems = append(problems, fmt.Errorf("citation %d, of bytes %d to %d of the answer and piece %d of the evidence, is out of bounds", i+1, c.Start, c.End, c.Evidence+1))
				continue
			}
			if c.Of == graphrag.OfDerived {
				cited = append(cited, a.Derived[c.Evidence].Docs...)
			} else if from, ok := a.Passage(c); ok {
				cited = append(cited, from.Doc)
			}
		}
		if len(a.Citations) == 0 {
			problems = append(problems, errors.New("the answer cites nothing"))
		}
		for _, d := range docs {
			if !slices.Contains(cited, d) {
				problems = append(problems, fmt.Errorf("the answer does not cite %q but %q", d, cited))
			}
		}
		return errors.Join(problems...)
	}
}

// Refuses requires that the system declines to answer.
func Refuses() Check {
	return func(_ context.Context, a Answer) error {
		if !a.Refused {
			return errors.New("the system answers; want it to decline")
		}
		return nil
	}
}
