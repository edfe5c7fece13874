// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// shown is what the evidence adds to a prompt: the rule, and the texts. Told is
// what decides, beside it.
func shown(f llm.Fence, evidence []string, told string) (rule, texts string) {
	if len(evidence) == 0 {
		return "", ""
	}
	var b strings.Builder
	for i, text := range evidence {
		b.WriteString("\n" + f.Wrap("evidence "+strconv.Itoa(i+1), text) + "\n")
	}
	return "\nThe evidence is what an answer was written from. Use it to resolve names, spellings\n" +
		"and dates; " + told + " what is true.\n", b.String()
}

// grade asks whether the answer states the reference.
func (j *Judge) grade(ctx context.Context, c judge.Case, t *score.Trace) (judge.Verdict, error) {
	evidence := j.show(c, t)
	return j.exam.Grade(ctx, c, evidence, t, func(f llm.Fence, tasks string) llm.Request {
		rule, texts := shown(f, evidence, "the reference alone decides")
		return exam.Request(prompts, "judge-fact", "fact", map[string]any{
			"Nonce": f.Nonce(), "Rule": rule, "Tasks": tasks, "Evidence": texts,
		})
	})
}

// show is the evidence as the prompts show it, accounted for.
func (j *Judge) show(c judge.Case, t *score.Trace) []string {
	evidence := exam.PlainAll(c.Evidence)
	for _, text := range evidence {
		t.Evidence += len(text)
	}
	return evidence
}

// match asks for the matrix of matches.
func (j *Judge) match(ctx context.Context, c judge.Case, predicted []string, t *score.Trace) ([]judge.Match, error) {
	evidence := j.show(c, t)
	seed := llm.NewFence(slices.Concat(c.Statements, predicted, evidence)...).Nonce()
	know := exam.ChooseCanary(seed, slices.Concat(c.Statements, predicted)...)
	// The gold side has one more statement, which only the true canary says.
	canaries := j.exam.Canaries()
	gold := exam.NewBatch("g", seed, len(c.Statements), canaries[:min(1, len(canaries))]...)
	goldList := exam.Listed(gold.Items, func(it exam.Item) string {
		return it.Pick(func(i int) string { return c.Statements[i] }, know.Fact, "")
	})
	ask := func(open []exam.Item) llm.Request {
		list := exam.Listed(open, func(it exam.Item) string {
			return it.Pick(func(i int) string { return predicted[i] }, know.Restated, know.Falsehood)
		})
		f := llm.NewFence(append([]string{goldList, list}, evidence...)...)
		rule, texts := shown(f, evidence, "the gold statements alone decide")
		return exam.Request(prompts, "judge-match", "match", map[string]any{
			"Nonce": f.Nonce(), "Rule": rule, "Gold": f.Wrap("gold", goldList), "Predicted": f.Wrap("predicted", list), "Evidence": texts,
		})
	}
	found := make([][]judge.Match, len(predicted))
	crossed := false
	err := j.exam.Run(ctx, exam.NewBatch("p", seed, len(predicted), canaries...), t, ask, func(it exam.Item, l exam.Line) bool {
		if l.Gold == nil {
			return false
		}
		met, unknown := exam.Named(l.Gold, gold.Items)
		t.Protocol.Extra += unknown
		if it.Canary() {
			return it.Index == exam.True && slices.Equal(met, []int{exam.True}) || it.Index == exam.False && len(met) == 0
		}
		found[it.Index] = nil
		for _, g := range met {
			crossed = crossed || g == exam.True
			if g >= 0 {
				found[it.Index] = append(found[it.Index], judge.Match{Gold: g, Predicted: it.Index})
			}
		}
		return true
	})
	if err == nil && crossed {
		t.Protocol.FailedCanaries++
		err = exam.ErrCrossed
	}
	return score.SortMatches(slices.Concat(found...)), err
}
