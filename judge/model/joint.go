// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
)

// lists holds the gold and the predicted statements of a summary, with a control item on the gold side that
// only the true one of the other side states.
type lists struct {
	batch           protocol.Batch
	gold, predicted []protocol.Item
	texts           map[string]string // by id
}

func (j *Judge) lists(c judge.Case, predicted []string) lists {
	all := slices.Concat(c.Statements, predicted)
	seed := llm.NewFence(append(slices.Clip(all), c.Question)...).Nonce()
	know := protocol.ChooseCanary(seed, append(slices.Clip(all), c.Question)...)
	b := protocol.Brief(seed, protocol.List{Letter: "g", N: len(c.Statements), Canaries: []int{protocol.True}},
		protocol.List{Letter: "p", N: len(predicted), Canaries: []int{protocol.True, protocol.False}})
	l := lists{batch: b, gold: b.Of("g"), predicted: b.Of("p"), texts: make(map[string]string)}
	for _, it := range l.gold {
		l.texts[it.ID] = it.Pick(func(i int) string { return c.Statements[i] }, know.Fact, "")
	}
	for _, it := range l.predicted {
		l.texts[it.ID] = it.Pick(func(i int) string { return predicted[i] }, know.Restated, know.Falsehood)
	}
	return l
}

// request asks for verdicts on the open items; both lists are always shown whole.
func (l lists) request(question string, open []protocol.Item) llm.Request {
	asked := "every statement of both lists"
	if len(open) < len(l.batch.Items) {
		ids := make([]string, len(open))
		for i, it := range open {
			ids[i] = it.ID
		}
		asked = strings.Join(ids, ", ") + " and on no other"
	}
	text := func(it protocol.Item) string { return l.texts[it.ID] }
	gold, predicted, question := protocol.Listed(l.gold, text), protocol.Listed(l.predicted, text), protocol.Plain(question)
	f := llm.NewFence(question, gold, predicted)
	return request("joint", "compare", map[string]any{
		"Nonce": f.Nonce(), "Number": l.batch.Code, "Asked": asked,
		"Question": f.Wrap("question", question), "Gold": f.Wrap("gold", gold), "Predicted": f.Wrap("predicted", predicted),
	})
}

// compare asks, in one call, what the predicted statements together state of each gold one, and what the gold
// ones together support of each predicted one.
func (j *Judge) compare(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *protocol.Trace) error {
	l := j.lists(c, out.Predicted)
	ask := func(open []protocol.Item) llm.Request { return l.request(c.Question, open) }
	stated, supported := make([][]int, len(c.Statements)), make([]bool, len(out.Predicted))
	err := j.asker.Run(ctx, l.batch, []string{"by"}, t, ask, func(it protocol.Item, line protocol.Line) error {
		isGold := strings.HasPrefix(it.ID, "g")
		others := l.gold
		if isGold {
			others = l.predicted
		}
		by, unknown, err := it.Named(line["by"], others)
		t.Protocol.Extra += unknown
		switch {
		case err != nil || it.Canary():
		case isGold:
			stated[it.Index] = by
		default:
			supported[it.Index] = len(by) > 0
		}
		return err
	})
	if err == nil {
		protocol.Together(out, stated, supported)
	}
	return err
}
