// SPDX-License-Identifier: Apache-2.0

// Package graphragtest is for tests of parts of your own: [Embedder], [Extractor] and [Store] check every
// promise of their interfaces, [FullStore] tests a server whose disk is full, [WriteBERT] makes a small model, and
// there are graphs to test and measure algorithms on: small ones with known properties, and recipes for large
// ones, which give the same edges on every machine.
package graphragtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
)

// Embedder runs the conformance suite on e, which must embed locally or from a fake: it is called some dozen
// times, with hostile texts among others. If e is also an [embed.Model], Dim is checked too.
func Embedder(t *testing.T, e embed.Embedder) {
	t.Helper()
	texts := []string{
		"the quick brown fox jumps over the lazy dog",
		"",
		"Marie Curie discovered polonium and radium in Paris.",
		"\x00\xff\xfe broken \xc3\x28",
		"東京都 हिन्दी العربية 🦊",
		strings.Repeat("long ", 20_000) + strings.Repeat("x", 110_000),
		"the quick brown fox jumps over the lazy dog",
	}
	given := slices.Clone(texts)
	whole, err := e.EmbedDocuments(t.Context(), given)
	if err != nil || !slices.Equal(given, texts) {
		t.Fatalf("EmbedDocuments: %v, or it changed the texts", err)
	}
	t.Run("shape", func(t *testing.T) { checkShape(t, e, texts, whole) })
	t.Run("no texts", func(t *testing.T) {
		if got, err := e.EmbedDocuments(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("%d vectors, error %v; want none of both", len(got), err)
		}
	})
	t.Run("batch", func(t *testing.T) {
		for i, text := range texts {
			one, err := e.EmbedDocuments(t.Context(), []string{text})
			if err != nil || len(one) != 1 || !slices.Equal(one[0], whole[i]) {
				t.Errorf("text %d alone has another vector than among others (error %v)", i, err)
			}
		}
	})
	t.Run("concurrent", func(t *testing.T) { concurrent(t, e, texts, whole) })
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.EmbedDocuments(ctx, []string{"never seen before"}); !errors.Is(err, context.Canceled) {
			t.Errorf("EmbedDocuments: %v, want context.Canceled", err)
		}
		if _, err := e.EmbedQuery(ctx, "never seen before"); !errors.Is(err, context.Canceled) {
			t.Errorf("EmbedQuery: %v, want context.Canceled", err)
		}
	})
}

func checkShape(t *testing.T, e embed.Embedder, texts []string, vectors [][]float32) {
	if len(vectors) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(vectors), len(texts))
	}
	components := len(vectors[0])
	if m, ok := e.(embed.Model); ok {
		if m.Dim() != components {
			t.Errorf("Dim is %d, vectors have %d components", m.Dim(), components)
		}
		if m.Name() == "" {
			t.Error("Name is empty")
		}
	}
	for i, text := range texts {
		query, err := e.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatalf("EmbedQuery of text %d: %v", i, err)
		}
		for _, v := range [][]float32{vectors[i], query} {
			if len(v) != components {
				t.Errorf("text %d: %d components, want %d", i, len(v), components)
			}
			for j, c := range v {
				if c-c != 0 {
					t.Errorf("text %d: component %d is %v", i, j, c)
				}
			}
		}
	}
	if !slices.Equal(vectors[0], vectors[len(vectors)-1]) {
		t.Error("equal texts have different vectors")
	}
}

func concurrent(t *testing.T, e embed.Embedder, texts []string, whole [][]float32) {
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range cap(errs) {
		wg.Go(func() {
			got, err := e.EmbedDocuments(t.Context(), texts)
			if err == nil && !slices.EqualFunc(got, whole, slices.Equal) {
				err = fmt.Errorf("vectors differ from those of a single caller")
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}
