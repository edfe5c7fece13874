// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A model that knows no pieces gives its reply in one, or its error.
func TestPiecesOfAPlainModel(t *testing.T) {
	m := llm.Metered(llmtest.NewScript("m").Fail(llmtest.Contains("bad"), &llm.Error{Kind: llm.ErrAuth}).Reply(llmtest.Any, "a b"))
	ctx, meter := llm.WithMeter(t.Context())
	var got []string
	for text, err := range llm.Pieces(ctx, m, llm.Prompt("x")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if len(got) != 1 || got[0] != "a b" || meter.Usage().Calls != 1 {
		t.Errorf("%q, %+v", got, meter.Usage())
	}
	n := 0
	for text, err := range llm.Pieces(ctx, m, llm.Prompt("bad")) {
		if n++; text != "" || !errors.Is(err, llm.ErrAuth) {
			t.Errorf("%q, %v", text, err)
		}
	}
	if n != 1 {
		t.Errorf("%d pieces of an error", n)
	}
	for range llm.Pieces(ctx, m, llm.Prompt("x")) {
		break
	}
}

type hashes struct{}

func (hashes) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), nil
}
func (hashes) EmbedQuery(context.Context, string) ([]float32, error) { return nil, nil }

// A meter counts what happens under its context, and so do those around it;
// failed calls count what they cost.
func TestMeter(t *testing.T) {
	usage := llm.Usage{Calls: 1, PromptTokens: 3, CompletionTokens: 2}
	m := llm.Metered(llmtest.NewScript("m").
		Fail(llmtest.Contains("cut"), &llm.Error{Kind: llm.ErrTruncated, Usage: usage}).
		Handle(llmtest.Any, func(llm.Request) llm.Reply { return llm.Reply{Text: "x", Usage: usage} }))
	e := llm.MeteredEmbedder(hashes{}, func(s string) int { return len(s) })
	outerCtx, outer := llm.WithMeter(t.Context())
	for _, text := range []string{"fine", "cut"} {
		_, _ = m.Generate(outerCtx, llm.Prompt(text))
	}
	ctx, inner := llm.WithMeter(outerCtx)
	if _, err := e.EmbedDocuments(ctx, []string{"ab", "c"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedQuery(ctx, "d"); err != nil {
		t.Fatal(err)
	}
	embedded := llm.Usage{EmbeddedTokens: 4, Estimated: true}
	if inner.Usage() != embedded || outer.Usage() != usage.Add(usage).Add(embedded) {
		t.Errorf("inner %+v, outer %+v", inner.Usage(), outer.Usage())
	}
	if _, err := m.Generate(t.Context(), llm.Prompt("without a meter")); err != nil {
		t.Error(err)
	}
}
