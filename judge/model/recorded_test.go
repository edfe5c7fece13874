// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// What judging takes in prompt tokens, on the prompts of the paper profile that a run
// recorded (see [llmtest.Calls]): the same answers judged jointly take less than half.
func TestTokensOfRecordedPrompts(t *testing.T) {
	cases, before, evidence := recorded(t)
	facts, summaries := 0, 0
	var after [2]int // of facts, of summaries
	for _, c := range cases {
		m := &counting{Grader: judgetest.Grader{Statements: func(string) []string { return c.predicted }}}
		j := byJoint(t, m, model.Options{})
		var err error
		if c.predicted == nil {
			_, err = j.Fact(t.Context(), c.Case)
			facts++
			after[0] += m.tokens
		} else {
			_, err = j.Summary(t.Context(), c.Case)
			summaries++
			after[1] += m.tokens
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("prompt tokens (cl100k): %d facts: paper %d (evidence %d), joint %d; %d summaries: paper %d (evidence %d), joint %d",
		facts, before[0], evidence[0], after[0], summaries, before[1], evidence[1], after[1])
	if 2*(after[0]+after[1]) > before[0]+before[1] || facts+summaries == 0 {
		t.Errorf("joint takes %v, the paper's profile %v", after, before)
	}
}

type counting struct {
	judgetest.Grader
	tokens int
}

func (c *counting) Generate(ctx context.Context, r llm.Request) (llm.Reply, error) {
	for _, m := range r.Messages {
		c.tokens += tokens.Cl100k().Count(m.Text)
	}
	return c.Grader.Generate(ctx, r)
}

type recordedCase struct {
	judge.Case
	predicted []string // of a summary
}

// recorded takes the cases out of recorded prompts, and counts the tokens of the
// prompts and of the evidence in them: of facts, and of summaries.
func recorded(t *testing.T) (cases []recordedCase, prompts, evidence [2]int) {
	t.Helper()
	count := tokens.Cl100k().Count
	all := llmtest.Calls(t)
	split := make(map[string]recordedCase) // by the statements; the comparison has no question and no answer
	for _, r := range all {
		if parts := between(r.User); strings.HasPrefix(r.User, "You split an answer") {
			split[statements(t, r)] = recordedCase{Case: judge.Case{Question: parts[0][1], Answer: parts[1][1]}}
		}
	}
	for _, r := range all {
		parts := between(r.User)
		kind := 1
		switch {
		case strings.HasPrefix(r.User, "You grade answers."):
			kind = 0
			for i, p := range parts {
				if p[0] == "reference" && !slices.ContainsFunc(exam.Canaries(), func(c exam.Canary) bool { return c.Fact == p[1] }) {
					cases = append(cases, recordedCase{Case: judge.Case{Question: parts[i-1][1], Reference: p[1], Answer: parts[i+1][1]}})
				}
			}
		case strings.HasPrefix(r.User, "You split an answer"):
		case strings.HasPrefix(r.User, "You compare two lists"):
			predicted := listed(parts[1][1])
			c, ok := split[strings.Join(predicted, "\n")]
			if !ok {
				t.Fatalf("nobody split the answer with %q", predicted)
			}
			c.Statements, c.predicted = listed(parts[0][1]), predicted
			cases = append(cases, c)
		default:
			continue
		}
		prompts[kind] += count(r.User)
		for _, p := range parts {
			if strings.HasPrefix(p[0], "evidence") {
				evidence[kind] += count(p[1])
			}
		}
	}
	return cases, prompts, evidence
}

// statements are those of a reply to a split.
func statements(t *testing.T, r llmtest.Call) string {
	t.Helper()
	var found struct {
		Results []struct{ Statements []string }
	}
	if err := json.Unmarshal([]byte(r.Reply), &found); err != nil || len(found.Results) != 1 {
		t.Fatalf("%s: %v", r.Reply, err)
	}
	return strings.Join(found.Results[0].Statements, "\n")
}

// between are the texts of a prompt between marks, each with its label.
func between(prompt string) [][2]string {
	code := regexp.MustCompile(`code\s+([0-9a-f]{16})`).FindStringSubmatch(prompt)
	if code == nil {
		return nil
	}
	var out [][2]string
	for _, m := range regexp.MustCompile(`(?s)\[`+code[1]+` ([^\]]+)\]\n(.*?)\n\[/`+code[1]).FindAllStringSubmatch(prompt, -1) {
		out = append(out, [2]string{m[1], m[2]})
	}
	return out
}

// listed are the statements of a list, without the control items.
func listed(list string) []string {
	var out []string
	for line := range strings.SplitSeq(list, "\n") {
		_, text, _ := strings.Cut(line, ": ")
		if !slices.ContainsFunc(exam.Canaries(), func(c exam.Canary) bool { return text == c.Fact || text == c.Restated || text == c.Falsehood }) {
			out = append(out, text)
		}
	}
	return out
}
