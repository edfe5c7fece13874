// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// OK ends a test if there is an error.
func OK(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Index indexes documents, or ends a test.
func Index(t testing.TB, s *kit.System, docs ...graphrag.Document) {
	t.Helper()
	var seq iter.Seq2[graphrag.Document, error] // nil for a system without documents
	if len(docs) > 0 {
		seq = graphrag.Documents(docs...)
	}
	_, err := s.Index(t.Context(), seq)
	OK(t, err)
}

// ModelKit returns the kit of a model, with an embedder by which texts that share words are similar.
func ModelKit(t testing.TB, m llm.Model) kit.Kit {
	t.Helper()
	k, err := kit.ByModel(kit.ModelOptions{Model: m, Embedder: sharedWords})
	OK(t, err)
	return k
}

// Filled returns options with the defaults of their tags.
func Filled[O any](o O) O {
	new(kit.Checks).Fill(&o)
	return o
}

// sharedWords embeds texts by their words.
var sharedWords = embed.Func(func(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(strings.ToLower(t), 256)
	}
	return out, ctx.Err()
})

// Alike implements retrieve.Texts with fixed similarities, for every query.
type Alike []float64

// Len implements retrieve.Texts.
func (a Alike) Len() int { return len(a) }

// Best implements retrieve.Texts.
func (a Alike) Best(ctx context.Context, _ string, k int) ([]rank.Scored[int32], error) {
	var all []rank.Scored[int32]
	for i, score := range a {
		if score > 0 {
			all = append(all, rank.Scored[int32]{ID: int32(i), Score: score})
		}
	}
	return rank.Best(all, k), ctx.Err()
}

// Scores implements retrieve.Texts.
func (a Alike) Scores(ctx context.Context, _ string, dst []float64) ([]float64, error) {
	return append(dst[:0], a...), ctx.Err()
}

// Stages counts the requests of a script by stage.
func Stages(s *llmtest.Script) map[string]int {
	out := make(map[string]int)
	for _, r := range s.Requests() {
		out[r.Stage]++
	}
	return out
}
