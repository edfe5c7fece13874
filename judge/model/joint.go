// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
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
	seed := prompts.NewFence(append(slices.Clip(all), c.Question)...).Nonce()
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
	f := prompts.NewFence(question, gold, predicted)
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

// evidencePrompt returns the rule and the texts that evidence adds to a prompt. decides names what decides.
func evidencePrompt(f prompts.Fence, evidence []string, decides string) (rule, texts string) {
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
	seed := prompts.NewFence(slices.Concat(c.Statements, predicted, evidence)...).Nonce()
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
		f := prompts.NewFence(append([]string{goldList, list}, evidence...)...)
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

// Rule is a caller's yes-or-no question to a language model. It uses the same protocol as the judges: fenced
// items with hashed ids and two control items.
type Rule struct {
	// Text defines which items get 1 and which 0. It is outside of the fence: it must not contain texts of
	// pages or models.
	Text string
	// Right is an item that clearly gets 1, Wrong one that clearly gets 0.
	Right, Wrong string
}

// Ruling holds the verdicts on the items of a [Rule], in order.
type Ruling struct {
	Verdicts []judge.Verdict
	Protocol judge.Protocol
	Usage    graphrag.Usage
}

// Ask lets m give each item 1 or 0. All of them are unscored, with the reason, if one has no usable verdict
// after a second request, or a control item got the wrong one. An error ends judging, see [judge.Judge]. It
// is safe for concurrent use.
func (r Rule) Ask(ctx context.Context, m llm.Model, items ...string) (Ruling, error) {
	if judge.Blank(r.Text) || judge.Blank(r.Right) || judge.Blank(r.Wrong) {
		return Ruling{}, errors.New("judge: a rule needs a text, and an item that it is right and one that it is wrong of")
	}
	e, err := protocol.New(m, "rule", 1, judge.Options{})
	if err != nil {
		return Ruling{}, err
	}
	var t protocol.Trace
	seed := prompts.NewFence(append(slices.Clip(items), r.Text)...).Nonce()
	ask := func(open []protocol.Item) llm.Request {
		list := protocol.Listed(open, func(it protocol.Item) string {
			return it.Pick(func(i int) string { return items[i] }, r.Right, r.Wrong)
		})
		f := prompts.NewFence(list)
		return protocol.Request(templates, "judge-rule", "rule", map[string]any{"Nonce": f.Nonce(), "Rule": r.Text, "Items": f.Wrap("items", list)})
	}
	verdicts, err := e.Scores(ctx, protocol.NewBatch("i", seed, len(items), protocol.True, protocol.False), []string{"reason", "score"}, &t, ask)
	if err != nil {
		var v judge.Verdict
		v, err = t.Failure(ctx, err)
		for i := range verdicts {
			verdicts[i] = v
		}
	}
	return Ruling{verdicts, t.Protocol, t.Usage}, err
}
