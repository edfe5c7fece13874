// SPDX-License-Identifier: Apache-2.0

package judgetest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// bridge is a system under test that knows one answer.
func bridge(_ context.Context, question string) (graphrag.Answer, error) {
	switch {
	case strings.Contains(question, "bridge"):
		return graphrag.Answer{
			Text:      "The Forth Bridge was opened on 4 March 1890. It is 2,467 metres long.",
			Citations: []graphrag.Citation{{Start: 0, End: 44, Evidence: 1}},
			Found: graphrag.Found{Evidence: []graphrag.Hit{
				{Chunk: graphrag.Chunk{Doc: "roads.md"}}, {Chunk: graphrag.Chunk{Doc: "bridges.md", Text: "opened on 4 March 1890"}},
			}},
		}, nil
	case strings.Contains(question, "moon"):
		return graphrag.Answer{Text: "I cannot tell.", Refused: true}, nil
	}
	return graphrag.Answer{}, errors.New("the system is broken")
}

func TestRun(t *testing.T) {
	Run(t, Suite{Ask: bridge, Cases: []Case{
		{Question: "When was the bridge opened?", Checks: []Check{
			States("The Forth Bridge was opened on March 4, 1890."), Never("The Forth Bridge was opened in 1980."),
			Covers(1, "The bridge was opened in 1890.", "The bridge is 2.467 km long."), Cites("bridges.md")}},
		{Name: "not in the corpus", Question: "Who owns the moon?", Checks: []Check{Refuses(), Never("Emil Nolting owns the moon.")}},
	}})
}

// Faults of answers, and their messages.
func TestChecks(t *testing.T) {
	const q = "When was the bridge opened?"
	for name, tt := range map[string]struct {
		question string
		check    Check
		want     string
	}{
		"states":    {q, States("The Forth Bridge was opened in 1891."), "does not state"},
		"never":     {q, Never("It opened in 1891.", "The Forth Bridge was opened in 1890."), "the answer states \"The Forth Bridge was opened in 1890.\""},
		"covers":    {q, Covers(0.6, "The bridge was opened in 1890.", "The bridge is 3 km long."), "covers 0.50 of the facts, want 0.60; lacking: [\"The bridge is 3 km long.\"]"},
		"cites":     {q, Cites("bridges.md", "rivers.md"), `does not cite "rivers.md"`},
		"nothing":   {"moon", Cites(), "cites nothing"},
		"refuses":   {q, Refuses(), "want it to decline"},
		"unscored":  {q, States("?"), "unscored"},
		"grounded":  {q, Grounded(), "the evidence does not support the answer: 0 of 2 claims"},
		"no other":  {q, States("In 1891.", "In 1892."), `does not state "In 1892."`},
		"no answer": {"weather", Refuses(), "the system is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Suite{Ask: bridge, Cases: []Case{{Question: tt.question, Checks: []Check{tt.check}}}}
			check.OK(t, s.complete())
			got := s.check(t.Context(), s.Cases[0])
			check.True(t, len(got) == 1 && strings.Contains(got[0].Error(), tt.want), "%v, want %q", got, tt.want)
			check.True(t, errors.Is(got[0], ErrUnscored) == (name == "unscored"), "unscored: %v", got[0])
		})
	}
}

// Cases are read from a file, and some may fail.
func TestCasesOfAFile(t *testing.T) {
	cases, err := ReadCases(strings.NewReader(`{"id": "opened", "question": "When was the bridge opened?", "answer": "In 1891.", "aliases": ["In 1890."], "gold": ["bridges.md"], "never": ["In 1892."]}
{"question": "What is told of the bridge?", "statements": ["It was opened in 1890.", "It is red."], "share": 0.5, "type": "summary"}
{"question": "Who owns the moon?", "unanswerable": true}
{"question": "Whose is the bridge?", "answer": "It belongs to Fife."}
`), "cases.jsonl")
	check.OK(t, err)
	s := Suite{Ask: bridge, Cases: cases, Pass: .7}
	Run(t, s)
	for held, want := range []bool{false, false, false, true, true} {
		err := s.enough(held)
		check.True(t, (err == nil) == want, "%d of 4: %v", held, err)
	}
	for line, want := range map[string]string{
		`{"question": "Q?"}`:                       "cases.jsonl, line 1: nothing to check",
		`{"question": "Q?", "answr": "A."}`:        `unknown field "answr"`,
		`{"question": "Q?", "gold": [["a", "b"]]}`: "cases.jsonl, line 1",
	} {
		check.Fails(t, check.Err(ReadCases(strings.NewReader(line), "cases.jsonl")), want, "%s", line)
	}
}

func TestCitationsOutOfBounds(t *testing.T) {
	a := Answer{Answer: graphrag.Answer{Text: "ab", Citations: []graphrag.Citation{{End: 3}, {End: 1, Evidence: 5}}}}
	err := Cites()(t.Context(), a)
	check.True(t, err != nil && strings.Count(err.Error(), "out of bounds") == 2, "%v", err)
}

// Every missing fact is named, also if no fact is present.
func TestCoversNamesWhatIsLacking(t *testing.T) {
	for answer, want := range map[string]string{
		"The weather was fine.":          `lacking: ["The bridge was opened in 1890." "It is 70 metres long."]`,
		"The bridge was opened in 1890.": `lacking: ["It is 70 metres long."]`,
		"":                               `lacking: ["The bridge was opened in 1890." "It is 70 metres long."]`,
	} {
		s := Suite{
			Ask:   func(context.Context, string) (graphrag.Answer, error) { return graphrag.Answer{Text: answer}, nil },
			Cases: []Case{{Question: "What is known of the bridge?", Checks: []Check{Covers(1, "The bridge was opened in 1890.", "It is 70 metres long.")}}},
		}
		check.OK(t, s.complete())
		got := s.check(t.Context(), s.Cases[0])
		check.True(t, len(got) == 1 && strings.Contains(got[0].Error(), want), "%q: %v, want %s", answer, got, want)
	}
	whole := judge.SummaryJudgment{Counts: judge.Counts{Gold: 3, GoldMet: 1}}
	check.Equal(t, lacking(whole, []string{"a", "b", "c"}), `lacking 2 of ["a" "b" "c"]`)
}

func TestBadSuite(t *testing.T) {
	s := Suite{Cases: []Case{{Name: "x"}}}
	err := s.complete()
	check.True(t, err != nil && strings.Contains(err.Error(), "Ask is nil") && strings.Contains(err.Error(), `case 0 ("x")`), "%v", err)
	err = (&Suite{Ask: bridge, Cases: s.Cases, Pass: 19}).complete()
	check.Fails(t, err, "Pass is 19")
	check.True(t, (&Suite{Ask: bridge}).complete() != nil, "a suite without cases")
}

// A judge whose replies are stored in a file gives the same verdicts without its model, and no verdict on an
// answer that is not in the file.
func TestKeptReplies(t *testing.T) {
	grader := Grader{Fact: func(reference, candidate string) bool {
		return strings.Contains(candidate, "1890") && strings.Contains(reference, "1890")
	}}
	file := filepath.Join(t.TempDir(), "judge.journal")
	suite := func(t *testing.T, m llm.Model) Suite {
		client := check.Of(paid.Open(paid.Options{File: file})).OK(t)
		t.Cleanup(func() { client.Close() })
		m = check.Of(client.Model(m)).OK(t)
		j := check.Of(model.New(m, model.Options{})).OK(t)
		return Suite{Ask: bridge, Judge: j, Cases: []Case{{Question: "When was the bridge opened?", Checks: []Check{States("In 1890."), Never("In 1891.")}}}}
	}
	t.Run("asked", func(t *testing.T) { Run(t, suite(t, grader)) })
	absent := llmtest.NewScript(grader.Name()).Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth, Billed: llm.BilledNo})
	s := suite(t, absent)
	Run(t, s)
	s.Cases[0].Checks = []Check{States("In 1892.")}
	got := s.check(t.Context(), s.Cases[0])
	check.True(t, len(got) == 1 && errors.Is(got[0], llm.ErrAuth) && absent.Calls() != 0, "a request that is not in the file: %v", got)
}

func TestGraderAnswersJudgesOnly(t *testing.T) {
	check.Is(t, check.Err((Grader{}).Generate(t.Context(), llm.Prompt("What is the capital of France?"))), llm.ErrBadRequest)
	_, ok := (Grader{}).Reply(llm.Request{})
	check.True(t, !ok, "a reply to nothing")
}
