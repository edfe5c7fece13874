// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// stepDescribe is the name of the step in which a [summary.Describer] merges descriptions.
const stepDescribe = "describe"

// window is the largest number of tokens of descriptions in one call (LightRAG, lightrag/constants.py).
const window = 12_000

// describeBy returns a function that makes the describer of a kit. It asks a model, in several calls if the
// descriptions are too long for one. Without a model, and if a reply cannot be used, it quotes sentences.
func describeBy(model llm.Model, cache *quoters, language string) func(tokens int) (summary.Describer, error) {
	return func(tokens int) (summary.Describer, error) {
		quote, err := cache.of(tokens)
		if err != nil || model == nil {
			return quoting{quote}, err
		}
		return writing{quoting{quote}, model, cache.count, tokens, language}, nil
	}
}

// quoting describes by quoted sentences; its passages are the sources of the quotes.
type quoting struct{ quote summary.Summarizer }

func (d quoting) Describe(ctx context.Context, _ string, of []kg.Description) (kg.Description, error) {
	texts := make([]string, len(of))
	for i, x := range of {
		texts[i] = x.Text
	}
	quoted, err := d.quote.Summarize(ctx, texts)
	if err != nil {
		return kg.Description{}, err
	}
	var used []kg.Description
	for _, q := range quoted.Quotes {
		used = append(used, of[q.Source])
	}
	return kg.Description{Text: quoted.Text, Passages: passages(used)}, nil
}

// writing describes by a model.
type writing struct {
	quoting
	model  llm.Model
	count  func(string) int
	tokens int
	// language of the description, "" for the language of the texts.
	language string
}

func (d writing) Describe(ctx context.Context, subject string, of []kg.Description) (kg.Description, error) {
	for len(of) > 0 {
		next, err := d.round(ctx, subject, of)
		if llm.OfOneReply(err) {
			Done(ctx, stepDescribe, err)
			break
		}
		if err != nil {
			return kg.Description{}, fmt.Errorf("describing %q: %w", display.Beginning(subject), err)
		}
		if of = next; len(of) == 1 {
			Done(ctx, stepDescribe, nil)
			return of[0], nil
		}
	}
	return d.quoting.Describe(ctx, subject, of)
}

// round merges descriptions in groups: each has as many consecutive ones as fit into the window, at least two.
func (d writing) round(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
	var out []kg.Description
	for lo := 0; lo < len(of); {
		hi, size := lo, 0
		for hi < len(of) && (hi < lo+2 || size+d.count(of[hi].Text) <= window) {
			size += d.count(of[hi].Text)
			hi++
		}
		group := of[lo:hi]
		lo = hi
		if len(group) == 1 && len(of) > 1 { // the last description, which has no partner
			out = append(out, group[0])
			continue
		}
		text, err := d.write(ctx, subject, group)
		if err != nil {
			return nil, err
		}
		out = append(out, kg.Description{Text: text, Passages: passages(group)})
	}
	return out, nil
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("kit", promptFiles)

func (d writing) write(ctx context.Context, subject string, of []kg.Description) (string, error) {
	texts := make([]string, len(of))
	for i, x := range of {
		texts[i] = x.Text
	}
	req, err := templates.Request(ctx, stepDescribe, "describe", map[string]any{"Words": d.tokens * 3 / 4, "Language": d.language},
		prompts.Data{Label: "name", Text: subject}, prompts.Data{Label: "quotes", Rows: texts, First: 1})
	if err != nil {
		return "", err
	}
	reply, err := d.model.Generate(ctx, req)
	if err == nil && strings.TrimSpace(reply.Text) == "" {
		err = llm.ErrEmpty
	}
	return strings.TrimSpace(reply.Text), err
}

// passages returns the passages of all descriptions, sorted, each once.
func passages(of []kg.Description) []int32 {
	var out []int32
	for _, d := range of {
		out = append(out, d.Passages...)
	}
	return distinct(out)
}

// quoters caches the extractive summarizers of a kit by their length in tokens.
type quoters struct {
	count func(string) int
	made  sync.Map
}

func newQuoters(count func(string) int) *quoters { return &quoters{count: count} }

func (q *quoters) of(tokens int) (summary.Summarizer, error) {
	if s, ok := q.made.Load(tokens); ok {
		return s.(summary.Summarizer), nil
	}
	s, err := summary.Extractive(summary.ExtractiveOptions{Tokens: tokens, CountTokens: q.count})
	if err != nil {
		return nil, err
	}
	one, _ := q.made.LoadOrStore(tokens, s)
	return one.(summary.Summarizer), nil
}

// Summarizer returns a summarizer that writes about the given number of tokens. It asks the model that builds;
// without one, and if a reply cannot be used, it quotes sentences.
func (k Kit) Summarizer(tokens int) (summary.Summarizer, error) {
	quote, err := k.Quoter(tokens)
	if err != nil || k.IndexModel == nil {
		return quote, err
	}
	write, err := summary.ByModel(summary.ModelOptions{Model: k.IndexModel, Tokens: tokens})
	return fallingBack{write, quote}, err
}

// Quoter returns the extractive summarizer that quotes about the given number of tokens. All copies of the kit
// share it, so that with a memo several systems summarize the same texts once.
func (k Kit) Quoter(tokens int) (summary.Summarizer, error) {
	if k.quoters == nil {
		return newQuoters(k.Count).of(tokens)
	}
	return k.quoters.of(tokens)
}

// fallingBack summarizes by a model, and quotes if its reply cannot be used.
type fallingBack struct {
	summary.Summarizer
	quote summary.Summarizer
}

func (s fallingBack) Summarize(ctx context.Context, texts []string) (summary.Summary, error) {
	written, err := s.Summarizer.Summarize(ctx, texts)
	if err == nil && written.Text == "" && strings.TrimSpace(strings.Join(texts, "")) != "" {
		err = fmt.Errorf("summary: the model wrote nothing: %w", llm.ErrEmpty)
	}
	if err != nil && !llm.OfOneReply(err) {
		return summary.Summary{}, err
	}
	if Done(ctx, summary.Stage, err); err != nil {
		return s.quote.Summarize(ctx, texts)
	}
	return written, nil
}
