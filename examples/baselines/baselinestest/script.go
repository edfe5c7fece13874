// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// ModelKit asks a model, and has an embedder for which texts are alike that
// share words.
func ModelKit(t testing.TB, m llm.Model) kit.Kit {
	t.Helper()
	k, err := kit.ByModel(kit.ModelOptions{Model: m, Embedder: sharedWords{}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

type sharedWords struct{}

func (sharedWords) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(strings.ToLower(t), 256)
	}
	return out, ctx.Err()
}

func (sharedWords) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return llmtest.HashVector(strings.ToLower(text), 256), ctx.Err()
}

// Stages counts the requests of a script by stage.
func Stages(s *llmtest.Script) map[string]int {
	out := make(map[string]int)
	for _, r := range s.Requests() {
		out[r.Stage]++
	}
	return out
}
