// SPDX-License-Identifier: Apache-2.0

package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/langchain"
)

// shelf is a vector store that finds what it holds.
type shelf []schema.Document

func (shelf) AddDocuments(context.Context, []schema.Document, ...vectorstores.Option) ([]string, error) {
	return nil, errors.ErrUnsupported
}

func (s shelf) SimilaritySearch(_ context.Context, query string, _ int, _ ...vectorstores.Option) ([]schema.Document, error) {
	if query == "" {
		return nil, errors.ErrUnsupported
	}
	return s, nil
}

// A vector store of langchaingo is a retriever of ours, which is one of langchaingo.
func TestThereAndBack(t *testing.T) {
	ours := langchain.Dense(shelf{
		{PageContent: "woooo", Score: .9, Metadata: map[string]any{"id": "owl", "source": "owls.md", "title": "Owls", "year": 1958}},
		{PageContent: "woooo", Score: .8, Metadata: map[string]any{"id": "owl"}},
		{PageContent: "foxfox", Score: .7, Metadata: map[string]any{"source": "foxes.md"}},
		{PageContent: "foxfox", Score: .6},
		{PageContent: "one too many"},
	})
	found, err := ours.Retrieve(t.Context(), graphrag.Question{Text: "ow", K: 3})
	check.Must(t, err == nil && len(found.Ranked) == 3 && found.Ranked[2].Chunk.ID != found.Ranked[1].Chunk.ID, "%+v, %v", found, err)
	if h := found.Ranked[0]; !reflect.DeepEqual(h.Chunk, graphrag.Chunk{ID: "owl", Doc: "owls.md", Title: "Owls", Text: "woooo", End: 5}) || h.Source != "dense" || h.Score < .89 {
		t.Errorf("%+v", h)
	}
	theirs, err := langchain.Retriever(ours, 1).GetRelevantDocuments(t.Context(), "ow")
	check.True(t, err == nil && len(theirs) == 1 && theirs[0].PageContent == "woooo" && theirs[0].Metadata["id"] == "owl", "%+v, %v", theirs, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(ours.Retrieve(cancelled, graphrag.Question{Text: "ow", K: 2})), context.Canceled, "cancelled")
	check.Is(t, check.Err(ours.Retrieve(t.Context(), graphrag.Question{K: 2})), errors.ErrUnsupported, "a store that fails")
}

// Any langchaingo model serves; this one comes with langchaingo.
func ExampleFrom() {
	model, err := langchain.From(fake.NewFakeLLM([]string{"forty-two"}), langchain.FromOptions{Name: "fake"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("What is six times seven?"))
	fmt.Println(reply.Text, reply.Usage.Estimated, err)
	// Output: forty-two true <nil>
}
