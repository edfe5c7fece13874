// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// ModelOptions of [ByModel].
type ModelOptions struct {
	// Model writes. It is required.
	Model llm.Model
	// Tokens is the length that is asked for; 0 means 100. Models
	// count badly, so this is no bound.
	Tokens int
}

// Stage names the calls for summaries in accounts.
const Stage = "summarize"

// wordsPerToken is the rule of thumb for English.
const wordsPerToken = 0.75

// ByModel returns a summarizer that asks a language model. Errors are those of
// the model, wrapped. Texts that are blank cost no call.
func ByModel(o ModelOptions) (Summarizer, error) {
	checks := opt.Checks{Of: "summary"}
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	opt.Min(&checks, "Tokens", o.Tokens, 0)
	o.Tokens = cmp.Or(o.Tokens, defaultTokens)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

// Name implements [Summarizer].
func (m *byModel) Name() string { return fmt.Sprintf("model/%d/%s", m.o.Tokens, m.o.Model.Name()) }

// Summarize implements [Summarizer].
func (m *byModel) Summarize(ctx context.Context, texts []string) (Summary, error) {
	var pieces []llm.Data
	for _, t := range texts {
		if t = strings.TrimSpace(llm.Printable(t)); t != "" {
			pieces = append(pieces, llm.Data{Label: fmt.Sprintf("piece %d", len(pieces)+1), Text: t})
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	if len(pieces) == 0 {
		return Summary{}, nil
	}
	words := max(1, int(wordsPerToken*float64(m.o.Tokens)))
	req, err := prompts.Request(Stage, "summary", map[string]any{"Count": len(pieces), "Words": words}, pieces...)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	reply, err := m.o.Model.Generate(ctx, req)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	return Summary{Text: strings.TrimSpace(reply.Text)}, nil
}
