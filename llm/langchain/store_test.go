// SPDX-License-Identifier: Apache-2.0

package langchain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/llm/langchain"
)

// letters embeds a text by how often it has each of a few letters.
type letters struct{}

func (letters) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	var rows [][]float32
	for _, t := range texts {
		row, _ := letters{}.EmbedQuery(ctx, t)
		rows = append(rows, row)
	}
	return rows, ctx.Err()
}

func (letters) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	row := make([]float32, 4)
	for i, letter := range []string{"o", "w", "f", "x"} {
		row[i] = float32(strings.Count(text, letter))
	}
	return row, ctx.Err()
}

func opened(t *testing.T) vectorstores.VectorStore {
	t.Helper()
	s, err := disk.Open(t.TempDir(), disk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	table := store.TableSchema{Text: true, Dim: 4, Fields: map[string]store.Kind{"year": store.Number}}
	c, err := s.Create(t.Context(), "corpus", store.Schema{Tables: map[string]store.TableSchema{"docs": table}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Write(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	v, err := langchain.Vectors(g, "docs", table, letters{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := langchain.Vectors(g, "nothing", table, letters{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no table: %v", err)
	}
	return v
}

// A store of ours is a vector store of langchaingo, which is a retriever of ours, which
// is a retriever of langchaingo.
func TestThereAndBack(t *testing.T) {
	ctx := t.Context()
	v := opened(t)
	ids, err := v.AddDocuments(ctx, []schema.Document{
		{PageContent: "woooo", Metadata: map[string]any{"id": "owl", "source": "owls.md", "title": "Owls", "year": 1958, "tags": []any{"bird"}}},
		{PageContent: "foxfox", Metadata: map[string]any{"source": "foxes.md", "year": 1960}},
		{PageContent: "ffff"},
	})
	if err != nil || len(ids) != 3 || ids[0] != "owl" || ids[1] == ids[2] {
		t.Fatal(ids, err)
	}
	docs, err := v.SimilaritySearch(ctx, "ow", 2)
	if err != nil || len(docs) != 2 || docs[0].PageContent != "woooo" || docs[0].Score < docs[1].Score {
		t.Fatalf("%+v, %v", docs, err)
	}
	if diff := cmp.Diff(map[string]any{"id": "owl", "source": "owls.md", "title": "Owls", "year": 1958., "tags": []any{"bird"}}, docs[0].Metadata); diff != "" {
		t.Error(diff)
	}
	docs, err = v.SimilaritySearch(ctx, "ow", 3, vectorstores.WithFilters(map[string]any{"year": 1960}))
	if err != nil || len(docs) != 1 || docs[0].PageContent != "foxfox" {
		t.Errorf("a map of filters: %+v, %v", docs, err)
	}
	docs, err = v.SimilaritySearch(ctx, "ow", 3, vectorstores.WithFilters(store.Range("year", 1900, 1959)))
	if err != nil || len(docs) != 1 || docs[0].PageContent != "woooo" {
		t.Errorf("a filter: %+v, %v", docs, err)
	}
	if docs, err = v.SimilaritySearch(ctx, "ow", 3, vectorstores.WithScoreThreshold(.7)); err != nil || len(docs) != 1 {
		t.Errorf("a threshold: %+v, %v", docs, err)
	}
	if _, err := v.SimilaritySearch(ctx, "ow", 3, vectorstores.WithFilters(7)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("filters of another kind: %v", err)
	}
	if _, err := v.AddDocuments(ctx, nil, vectorstores.WithNameSpace("x")); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a name space: %v", err)
	}

	ours := langchain.Dense(v)
	found, err := ours.Retrieve(ctx, graphrag.Question{Text: "ow", K: 2})
	if err != nil || len(found.Ranked) != 2 || found.Ranked[0].Chunk.ID != "owl" || found.Ranked[0].Chunk.Doc != "owls.md" || found.Ranked[0].Chunk.Title != "Owls" {
		t.Fatalf("%+v, %v", found, err)
	}
	theirs, err := langchain.Retriever(ours, 1).GetRelevantDocuments(ctx, "ow")
	if err != nil || len(theirs) != 1 || theirs[0].PageContent != "woooo" || theirs[0].Metadata["id"] != "owl" {
		t.Errorf("%+v, %v", theirs, err)
	}
	// Put again, a document takes the place of the one before.
	if again, err := v.AddDocuments(ctx, []schema.Document{{PageContent: "ffff"}, {PageContent: "xx", Metadata: map[string]any{"id": "owl"}}}); err != nil || again[0] != ids[2] {
		t.Errorf("%v, %v", again, err)
	}
	if docs, err = v.SimilaritySearch(ctx, "ow", 9); err != nil || len(docs) != 3 {
		t.Errorf("%+v, %v", docs, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ours.Retrieve(cancelled, graphrag.Question{Text: "ow", K: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
