// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.txt"))

// ModelOptions of [ByModel].
type ModelOptions struct {
	// Model writes. It is required.
	Model llm.Model
	// Tokens is the length that is asked for; 0 means [DefaultTokens]. Models
	// count badly, so this is no bound.
	Tokens int
	// MaxTokens bounds the reply, and Temperature is passed on; zero values
	// leave both to the server. A reply that reaches MaxTokens is an error, so
	// it should be well above Tokens.
	MaxTokens   int
	Temperature *float64
}

// wordsPerToken is the rule of thumb for English.
const wordsPerToken = 0.75

// ByModel returns a summarizer that asks a language model. Errors are those of
// the model, wrapped. Texts that are blank cost no call.
func ByModel(o ModelOptions) (Summarizer, error) {
	var errs []error
	if o.Model == nil {
		errs = append(errs, errors.New("summary: Model is missing"))
	}
	if o.Tokens < 0 {
		errs = append(errs, fmt.Errorf("summary: Tokens is %d, want 0 or more", o.Tokens))
	}
	if o.MaxTokens < 0 {
		errs = append(errs, fmt.Errorf("summary: MaxTokens is %d, want 0 or more", o.MaxTokens))
	}
	if o.Tokens == 0 {
		o.Tokens = DefaultTokens
	}
	if o.MaxTokens > 0 && o.MaxTokens < o.Tokens {
		errs = append(errs, fmt.Errorf("summary: MaxTokens %d is less than Tokens %d: the reply would be cut off", o.MaxTokens, o.Tokens))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

// Name implements [Summarizer].
func (m *byModel) Name() string { return fmt.Sprintf("model/%d/%s", m.o.Tokens, m.o.Model.Name()) }

// Summarize implements [Summarizer].
func (m *byModel) Summarize(ctx context.Context, texts []string) (Summary, error) {
	var pieces []string
	for _, t := range texts {
		if t = strings.TrimSpace(llm.Printable(t)); t != "" {
			pieces = append(pieces, t)
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	if len(pieces) == 0 {
		return Summary{}, nil
	}
	req, err := m.request(pieces)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: prompt: %w", err)
	}
	reply, err := m.o.Model.Generate(ctx, req)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	return Summary{Text: strings.TrimSpace(reply.Text)}, nil
}

// request writes the prompt. Equal pieces give equal bytes.
func (m *byModel) request(pieces []string) (llm.Request, error) {
	fence := llm.NewFence(pieces...)
	values := struct {
		Nonce        string
		Count, Words int
		Pieces       []string
	}{Nonce: fence.Nonce(), Count: len(pieces), Words: max(1, int(wordsPerToken*float64(m.o.Tokens)))}
	for i, p := range pieces {
		values.Pieces = append(values.Pieces, fence.Wrap(fmt.Sprintf("piece %d", i+1), p))
	}
	var system, user strings.Builder
	if err := prompts.ExecuteTemplate(&system, "system.txt", values); err != nil {
		return llm.Request{}, err
	}
	if err := prompts.ExecuteTemplate(&user, "user.txt", values); err != nil {
		return llm.Request{}, err
	}
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: strings.TrimSpace(system.String())},
			{Role: llm.User, Text: strings.TrimSpace(user.String())},
		},
		MaxTokens:   m.o.MaxTokens,
		Temperature: m.o.Temperature,
		Stage:       "summarise",
	}, nil
}
