// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// StageDescribe names the calls of a [Condenser] in accounts.
const StageDescribe = "describe"

// DefaultWindow is how many tokens of descriptions one summary is made of
// (LightRAG, lightrag/constants.py).
const DefaultWindow = 12_000

// A Condenser makes one description of the many that chunks give of a thing:
// with a model by one call, or several where they are too long for one; offline,
// and where the model's reply cannot be used, by sentences of theirs. It is safe
// for concurrent use.
type Condenser struct {
	model  llm.Model // nil offline
	quote  summary.Summarizer
	count  func(string) int
	tokens int
}

// Condenser returns a condenser that aims at descriptions of so many tokens.
func (k Kit) Condenser(tokens int) (*Condenser, error) {
	count := k.CountTokens
	if count == nil {
		count = llm.EstimateTokens
	}
	quote, err := summary.Extractive(summary.ExtractiveOptions{Tokens: tokens, CountTokens: count})
	if err != nil {
		return nil, fmt.Errorf("baselines: %w", err)
	}
	return &Condenser{model: k.Model, quote: quote, count: count, tokens: tokens}, nil
}

// Condense makes one description. Its passages are those that the text rests on:
// of quoted sentences only theirs. Nothing makes an empty description.
func (c *Condenser) Condense(ctx context.Context, subject string, of []kg.Description) (kg.Description, error) {
	for c.model != nil && len(of) > 0 {
		next, err := c.round(ctx, subject, of)
		if llm.OfOneReply(err) {
			break
		}
		if err != nil {
			return kg.Description{}, fmt.Errorf("describing %q: %w", kg.Beginning(subject), err)
		}
		if of = next; len(of) == 1 {
			return of[0], nil
		}
	}
	texts := make([]string, len(of))
	for i, d := range of {
		texts[i] = d.Text
	}
	quoted, err := c.quote.Summarize(ctx, texts)
	if err != nil {
		return kg.Description{}, err
	}
	var used []kg.Description
	for _, q := range quoted.Quotes {
		used = append(used, of[q.Source])
	}
	return kg.Description{Text: quoted.Text, Passages: passages(used)}, nil
}

// round makes one description of every group of neighbours that fits into the
// window, of two at least.
func (c *Condenser) round(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
	var out []kg.Description
	for lo := 0; lo < len(of); {
		hi, size := lo, 0
		for hi < len(of) && (hi < lo+2 || size+c.count(of[hi].Text) <= DefaultWindow) {
			size += c.count(of[hi].Text)
			hi++
		}
		group := of[lo:hi]
		lo = hi
		if len(group) == 1 && len(of) > 1 { // the last one, left over
			out = append(out, group[0])
			continue
		}
		text, err := c.write(ctx, subject, group)
		if err != nil {
			return nil, err
		}
		out = append(out, kg.Description{Text: text, Passages: passages(group)})
	}
	return out, nil
}

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

func (c *Condenser) write(ctx context.Context, subject string, of []kg.Description) (string, error) {
	data := []llm.Data{{Label: "name", Text: subject}}
	for i, d := range of {
		data = append(data, llm.Data{Label: fmt.Sprintf("description %d", i+1), Text: d.Text})
	}
	req, err := prompts.Request(StageDescribe, "describe", map[string]any{"Words": c.tokens * 3 / 4}, data...)
	if err != nil {
		return "", err
	}
	reply, err := c.model.Generate(ctx, req)
	if err == nil && strings.TrimSpace(reply.Text) == "" {
		err = llm.ErrEmpty
	}
	return strings.TrimSpace(reply.Text), err
}

// passages are those of all descriptions, sorted, each once.
func passages(of []kg.Description) []int32 {
	var out []int32
	for _, d := range of {
		out = append(out, d.Passages...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IfUsable is an error, but nil for one about a single reply: the system goes on
// without what was asked for.
func IfUsable(err error) error {
	if llm.OfOneReply(err) {
		return nil
	}
	return err
}

// Each calls f for 0..n-1, some of them at a time. The first error ends it.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8) // calls over the network
	for i := range n {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return f(gctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// Docs are the IDs of the documents that passages are from, each once.
func Docs(g *kg.Graph, passages []int32) []string {
	var out []string
	for _, p := range passages {
		out = append(out, g.Passages[p].Doc)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
