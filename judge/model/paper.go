// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
)

// evidencePrompt returns the rule and the texts that evidence adds to a prompt. decides names what decides.
func evidencePrompt(f llm.Fence, evidence []string, decides string) (rule, texts string) {
	if len(evidence) == 0 {
		return "", ""
	}
	var b strings.Builder
	for i, text := range evidence {
		b.WriteString("\n" + f.Wrap("evidence "+strconv.Itoa(i+1), text) + "\n")
	}
	return "\nThe evidence is what an answer was written from. Use it to resolve names, spellings\n" +
		"and dates; " + decides + " what is true.\n", b.String()
}

// match asks for the matrix of matches between gold and predicted statements, and
// scores it by equations 2 and 3 of WildGraphBench.
func (j *Judge) match(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *protocol.Trace) error {
	predicted, evidence := out.Predicted, protocol.PlainAll(c.Evidence)
	seed := llm.NewFence(slices.Concat(c.Statements, predicted, evidence)...).Nonce()
	know := protocol.ChooseCanary(seed, slices.Concat(c.Statements, predicted)...)
	// The gold side has one more statement, which only the true canary says.
	gold := protocol.NewBatch("g", seed, len(c.Statements), protocol.True)
	goldList := protocol.Listed(gold.Items, func(it protocol.Item) string {
		return it.Pick(func(i int) string { return c.Statements[i] }, know.Fact, "")
	})
	ask := func(open []protocol.Item) llm.Request {
		list := protocol.Listed(open, func(it protocol.Item) string {
			return it.Pick(func(i int) string { return predicted[i] }, know.Restated, know.Falsehood)
		})
		f := llm.NewFence(append([]string{goldList, list}, evidence...)...)
		rule, texts := evidencePrompt(f, evidence, "the gold statements alone decide")
		return request("paper", "match", map[string]any{
			"Nonce": f.Nonce(), "Rule": rule, "Gold": f.Wrap("gold", goldList), "Predicted": f.Wrap("predicted", list), "Evidence": texts,
		})
	}
	met := make([][]int, len(predicted))
	err := j.asker.Run(ctx, protocol.NewBatch("p", seed, len(predicted), protocol.True, protocol.False), []string{"gold"}, t, ask, func(it protocol.Item, l protocol.Line) error {
		found, unknown, err := it.Named(l["gold"], gold.Items)
		t.Protocol.Extra += unknown
		if !it.Canary() {
			met[it.Index] = found
		}
		return err
	})
	if err != nil {
		return err
	}
	stated, supported := make([][]int, len(c.Statements)), make([]bool, len(predicted))
	for p, golds := range met {
		supported[p] = len(golds) > 0
		for _, g := range golds {
			stated[g] = append(stated[g], p)
		}
	}
	protocol.Together(out, stated, supported)
	return nil
}
