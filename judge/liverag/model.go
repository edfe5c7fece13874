// SPDX-License-Identifier: Apache-2.0

package liverag

import (
	"context"
	"embed"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// byModel splits gold answer and answer into statements, asks which gold ones the
// answer gives, and which of its own have to do with the question.
func (j *Judge) byModel(ctx context.Context, c judge.Case, gold []string, t *exam.Trace) (s shares, err error) {
	s.statements, s.truncated, err = j.exam.Split(ctx, c, judge.DefaultMaxStatements, t)
	if err != nil || len(s.statements) == 0 {
		return s, err
	}
	if gold == nil {
		of := c
		of.Answer = c.Reference
		if gold, _, err = j.exam.Split(ctx, of, judge.DefaultMaxStatements, t); err != nil {
			return s, err
		}
	}
	if s.gold = len(gold); s.gold == 0 {
		return s, nil
	}
	if s.met, err = j.exam.Support(ctx, c.Answer, gold, t); err != nil {
		return s, err
	}
	s.relevant, err = j.relevant(ctx, exam.Plain(c.Question), exam.PlainAll(s.statements), t)
	return s, err
}

// relevant counts the statements that have to do with the question. One control item
// answers a question of its own; the other is the same statement under this question.
func (j *Judge) relevant(ctx context.Context, question string, statements []string, t *exam.Trace) (int, error) {
	texts := append([]string{question}, statements...)
	seed := llm.NewFence(texts...).Nonce()
	know := exam.ChooseCanary(seed, texts...)
	ask := func(open []exam.Item) llm.Request {
		parts := make([][2]string, len(open))
		var shown []string
		for i, it := range open {
			parts[i] = [2]string{question, it.Pick(func(k int) string { return statements[k] }, know.Restated, know.Restated)}
			if it.Index == exam.True {
				parts[i][0] = know.Question
			}
			shown = append(shown, parts[i][:]...)
		}
		f := llm.NewFence(shown...)
		var tasks strings.Builder
		for i, it := range open {
			tasks.WriteString("\nTask " + it.ID + "\n" + f.Wrap("question", parts[i][0]) + "\n" + f.Wrap("statement", parts[i][1]) + "\n")
		}
		return exam.Request(prompts, "judge-relevant", "relevant", map[string]any{"Nonce": f.Nonce(), "Tasks": tasks.String()})
	}
	scores := make([]int, len(statements))
	err := j.exam.Run(ctx, exam.NewBatch("r", seed, len(statements), j.exam.Canaries()...), t, ask, func(it exam.Item, l exam.Line) bool {
		n, ok := l.Value()
		if it.Canary() {
			return ok && n == it.Want()
		}
		scores[it.Index] = n
		return ok
	})
	sum := 0
	for _, n := range scores {
		sum += n
	}
	return sum, err
}
