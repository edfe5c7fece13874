// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

// How much is read for a question that does not say, and which limits are exact.
func TestAmount(t *testing.T) {
	var read graphrag.Question
	passages := 0
	parts := func(kind string) kit.Kit {
		k := offline(t)
		k.Answer = kind
		k.Read = reader.Func(func(_ context.Context, q graphrag.Question, evidence []graphrag.Hit, _ []graphrag.Derived) (graphrag.Answer, error) {
			read, passages = q, len(evidence)
			return graphrag.Answer{Text: "yes"}, nil
		})
		return k
	}
	var notes, pages []graphrag.Document
	for i := range 60 {
		notes = append(notes, graphrag.Document{ID: fmt.Sprintf("note%02d", i), Text: fmt.Sprintf("The ferry sailed to harbour %d.", i) + strings.Repeat(" It was cold.", 14)})
		pages = append(pages, graphrag.Document{ID: fmt.Sprintf("page%02d", i), Text: fmt.Sprintf("The ferry sailed to harbour %d.", i) + strings.Repeat(" It was cold on that day.", 180)})
	}
	for _, tt := range []struct {
		name, kind string
		docs       []graphrag.Document
		q          graphrag.Question
		form       graphrag.Form
		passages   int
	}{
		{"short notes", kit.NameModel, notes, graphrag.Question{Text: "Where did the ferry sail?"}, "", 31},
		{"long pages", kit.NameModel, pages, graphrag.Question{Text: "Where did the ferry sail?"}, "", 5},
		{"an overview", kit.NameModel, notes, graphrag.Question{Text: "Summarize the voyages of the ferry."}, graphrag.Overview, 60},
		{"an overview of long pages", kit.NameModel, pages, graphrag.Question{Text: "Summarize the voyages of the ferry."}, graphrag.Overview, 10},
		{"a K", kit.NameModel, notes, graphrag.Question{Text: "Summarize the voyages of the ferry.", K: 3}, graphrag.Overview, 3},
		{"a form", kit.NameModel, notes, graphrag.Question{Text: "Summarize the voyages of the ferry.", Form: graphrag.Short, K: 3}, graphrag.Short, 3},
		{"nothing to read", kit.NameModel, notes, graphrag.Question{Text: "Where did the ferry sail?", K: -1}, "", 0},
		{"offline", kit.NameOffline, notes, graphrag.Question{Text: "Summarize the voyages of the ferry."}, "", 5},
	} {
		s := flat(t, parts(tt.kind), kit.Common{})
		index(t, s, tt.docs...)
		check.OK(t, check.Err(s.Answer(t.Context(), tt.q)))
		check.True(t, read.Form == tt.form && passages == tt.passages,
			"%s: %d passages and the form %q are read, want %d and %q", tt.name, passages, read.Form, tt.passages, tt.form)
	}
}

// A cited fact leads to the passage that it was made from.
func TestSourced(t *testing.T) {
	k := offline(t)
	k.Read = reader.Func(func(_ context.Context, _ graphrag.Question, _ []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
		return graphrag.Answer{Text: "Holmvik built it in 1931. It sank.", Found: graphrag.Found{Derived: derived}, Citations: []graphrag.Citation{
			{Start: 0, End: 25, Of: graphrag.OfDerived}, {Start: 26, End: 34, Of: graphrag.OfDerived},
		}}, nil
	})
	s, err := kit.New(kit.Frame{Name: "facts", Kit: k, Build: func(_ context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return graphrag.RetrieverFunc(func(context.Context, graphrag.Question) (graphrag.Found, error) {
			found := graphrag.Nothing()
			found.Derived = []graphrag.Derived{graphrag.Row("fact", "Marit Dalen", "built and lost", c.Provenance([]int32{0, 1}))}
			return found, nil
		}), nil
	}})
	check.OK(t, err)
	index(t, s, graphrag.Document{ID: "lost.md", Text: "The ferry sank off Grip."}, graphrag.Document{ID: "yard.md", Text: "The yard at Holmvik built the ferry in 1931."}, graphrag.Document{ID: "zoo.md", Text: "Holmvik built a zoo in 1931. It sank."})
	a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who built the ferry?"})).OK(t)
	var got []string
	for _, c := range a.Citations {
		if from, ok := a.Passage(c); ok {
			got = append(got, a.Text[c.Start:c.End]+" "+from.Doc)
		}
	}
	check.Equal(t, got, []string{"Holmvik built it in 1931. yard.md", "It sank. lost.md"}, "sources")
}

// A system of the caller: what a recipe builds over a corpus is its retriever. Documents are inserted and
// deleted.
func Example() {
	ctx := context.Background()
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := kit.New(kit.Frame{
		Name: "words", Kit: parts,
		Common: kit.Common{Progress: func(s graphrag.IndexStats) { fmt.Println(s.Documents, "documents,", s.Chunks, "chunks") }},
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			return retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := system.Index(ctx, graphrag.Documents(
		graphrag.Document{ID: "fram.md", Text: "Colin Archer built the Fram."},
		graphrag.Document{ID: "gjoa.md", Text: "Amundsen sailed the Gjoa."},
	)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(system.List(ctx))
	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(answer.Text, err)
	_, err = system.Insert(ctx, graphrag.Documents(graphrag.Document{ID: "belgica.md", Text: "The Belgica was built in Svelvik."}))
	fmt.Println(err)
	_, err = system.Delete(ctx, "fram.md")
	fmt.Println(err)
	fmt.Println(system.List(ctx))
	// Output:
	// 2 documents, 2 chunks
	// [fram.md gjoa.md] <nil>
	// Colin Archer built the Fram. <nil>
	// 3 documents, 3 chunks
	// <nil>
	// 2 documents, 2 chunks
	// <nil>
	// [belgica.md gjoa.md] <nil>
}
