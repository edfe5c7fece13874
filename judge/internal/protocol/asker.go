// SPDX-License-Identifier: Apache-2.0

// Package protocol is the protocol of the judges by model: every item has an id made from the data, every
// verdict is required, and control items ([Canary]) are mixed in, so that a text that addresses the judge
// gains nothing. It also holds the requests that several profiles share.
package protocol

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("judge-exam", promptFiles)

// Asker sends requests of a profile to a model.
type Asker struct {
	judge.Options
	model llm.Model
	name  string
}

// New returns the asker of a profile with the version of its prompts and protocol.
func New(m llm.Model, profile string, version int, o judge.Options) (Asker, error) {
	if m == nil {
		return Asker{}, errors.New("judge: no model")
	}
	name := fmt.Sprintf("wildgraph/%s/gold/v%d", profile, version) + Suffix(o)
	return Asker{o, m, name + "/" + m.Name()}, nil
}

// Name returns everything that figures depend on: profile, kind of precision, version, options that differ
// from the profile's, and model.
func (e Asker) Name() string { return e.name }

// Request returns the request of one of the profile's prompts, with values in its placeholders.
func Request(p prompts.Set, stage, name string, values map[string]any) llm.Request {
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

// Split asks for the statements of the answer, at most limit of them; more reports whether it has others.
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

// Support counts the statements that one or several of the texts make together.
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
		list := Listed(open, func(it Item) string {
			return it.Pick(func(i int) string { return statements[i] }, know.Restated, know.Falsehood)
		})
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

// Yes counts the items of a batch whose verdict is 1.
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
