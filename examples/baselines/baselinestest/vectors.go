// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Vectors checks that a system with an embedder compares texts by it: a question
// without a word or a name of the pages finds the page that it means.
func Vectors(t *testing.T, make Maker) {
	t.Helper()
	s := make.over(t, OfflineKit(t).WithEmbedder(latin{}), Pages...)
	a, err := s.Answer(t.Context(), graphrag.Question{Text: "quis navem aedificavit?", K: 1, Depth: 5})
	if err != nil || len(a.Ranked) == 0 || a.Ranked[0].Chunk.Doc != "fram.md" {
		t.Errorf("%+v, %v; want fram.md first", a.Ranked, err)
	}
}

// latin embeds texts by their words, and knows what three Latin ones mean.
type latin struct{}

var translated = strings.NewReplacer("quis", "colin archer", "navem", "the fram, ship of fridtjof nansen,", "aedificavit", "built in larvik")

func (latin) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return sharedWords{}.EmbedDocuments(ctx, texts)
}

func (latin) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return llmtest.HashVector(translated.Replace(strings.ToLower(text)), 256), ctx.Err()
}
