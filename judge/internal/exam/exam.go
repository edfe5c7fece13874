// SPDX-License-Identifier: Apache-2.0

// Package exam is how the judges by model ask: everything under ids made from the
// data, with every verdict demanded and control items ([Canary]) mixed in, so that
// a text that addresses the judge gains nothing. The questions that several
// profiles ask are here as well.
package exam

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts("judge-exam", promptFiles)

// Exam asks a model.
type Exam struct {
	judge.Options
	model llm.Model
	name  string
}

// New returns the exam of a profile; version is that of its prompts and protocol.
func New(m llm.Model, profile string, version int, o judge.Options) (Exam, error) {
	if m == nil {
		return Exam{}, errors.New("judge: no model")
	}
	name := fmt.Sprintf("wildgraph/%s/gold/v%d", profile, version) + Suffix(o)
	return Exam{o, m, name + "/" + m.Name()}, nil
}

// Name tells everything that figures depend on: profile, what precision is of, version,
// options that differ from the profile's, and model.
func (e Exam) Name() string { return e.name }

// Request fills in a prompt of a profile.
func Request(p llm.Prompts, stage, name string, values map[string]any) llm.Request {
	r, err := p.Request(context.Background(), stage, name, values)
	if err != nil {
		panic("judge: " + err.Error()) // the files are part of the program
	}
	r.JSON = true
	return r
}

// PlainAll is [Plain] of each text.
func PlainAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = Plain(s)
	}
	return out
}

// Split asks for the statements of the answer, at most limit of them; more tells
// that the answer makes others.
func (e Exam) Split(ctx context.Context, c judge.Case, limit int, t *Trace) (statements []string, more bool, err error) {
	question, answer := Plain(c.Question), Plain(c.Answer)
	f := llm.NewFence(question, answer)
	ask := func(open []Item) llm.Request {
		return Request(prompts, "judge-extract", "extract", map[string]any{
			"Nonce": f.Nonce(), "Limit": limit, "ID": open[0].ID,
			"Question": f.Wrap("question", question), "Answer": f.Wrap("answer", answer),
		})
	}
	var found Line
	err = e.Run(ctx, NewBatch("a", f.Nonce(), 1), []string{"statements", "more"}, t, ask, func(_ Item, l Line) bool {
		found = l
		return l.Statements != nil
	})
	statements, cut := Distinct(found.Statements, limit)
	return statements, cut || word(found.More) == "true", err
}

// Support counts the statements that a text supports.
func (e Exam) Support(ctx context.Context, text string, statements []string, t *Trace) (int, error) {
	text = Plain(text)
	seed := llm.NewFence(append([]string{text}, statements...)...).Nonce()
	know := ChooseCanary(seed, append([]string{text}, statements...)...)
	text += "\n\n" + know.Fact
	ask := func(open []Item) llm.Request {
		list := Listed(open, func(it Item) string {
			return it.Pick(func(i int) string { return statements[i] }, know.Restated, know.Falsehood)
		})
		f := llm.NewFence(text, list)
		return Request(prompts, "judge-support", "support", map[string]any{
			"Nonce": f.Nonce(), "Text": f.Wrap("text", text), "Statements": f.Wrap("statements", list),
		})
	}
	return e.Yes(ctx, NewBatch("s", seed, len(statements), True, False), t, ask)
}

// Yes counts the items of a batch whose verdict is 1.
func (e Exam) Yes(ctx context.Context, b Batch, t *Trace, ask func([]Item) llm.Request) (int, error) {
	scores := make([]int, len(b.Items))
	err := e.Run(ctx, b, []string{"score"}, t, ask, func(it Item, l Line) bool {
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
