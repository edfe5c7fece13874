// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// pages returns n chunks of each of some documents, the first document the
// best for "typhoon", equal texts within a document.
func pages(documents, n int) (chunks []graphrag.Chunk) {
	for c := n - 1; c >= 0; c-- { // not in the order of IDs
		for d := range documents {
			doc := fmt.Sprintf("p%d", d)
			chunks = append(chunks, graphrag.Chunk{
				ID: fmt.Sprintf("%s#%04d", doc, c), Doc: doc, Index: c,
				Text: strings.Repeat("typhoon ", documents-d) + strings.Repeat("rain ", d),
			})
		}
	}
	return chunks
}

func ids(hits []graphrag.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Chunk.ID)
	}
	return out
}

func ranked(t *testing.T, r graphrag.Retriever, question string, k int) []graphrag.Hit {
	t.Helper()
	found, err := r.Retrieve(t.Context(), graphrag.Question{Text: question, K: k})
	if err != nil {
		t.Fatal(err)
	}
	return found.Ranked
}

func TestSparse(t *testing.T) {
	for _, c := range []struct {
		maxPerDoc, k int
		question     string
		want         string
	}{
		{0, 3, "typhoon", "p0#0000 p0#0001 p0#0002"},
		{1, 3, "typhoon", "p0#0000 p1#0000 p2#0000"},
		{2, 5, "typhoon", "p0#0000 p0#0001 p1#0000 p1#0001 p2#0000"},
		{1, 9, "typhoon", "p0#0000 p1#0000 p2#0000"},
		{1, 2, "rain", "p2#0000 p1#0000"},
		{0, 0, "typhoon", ""},
		{1, 0, "typhoon", ""},
		{1, -1, "typhoon", ""},
		{0, 3, "", ""},
		{2, 3, "unknown \x00", ""},
	} {
		sparse, err := retrieve.NewSparse(t.Context(), pages(3, 40), bm25.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := retrieve.PerDoc(sparse, c.maxPerDoc)
		if err != nil {
			t.Fatal(err)
		}
		hits := ranked(t, r, c.question, c.k)
		if got := strings.Join(ids(hits), " "); got != c.want {
			t.Errorf("%q, k %d, %d per document: got %s, want %s", c.question, c.k, c.maxPerDoc, got, c.want)
		}
		for _, h := range hits {
			if h.Source != "bm25" || h.Score <= 0 || h.Chunk.Text == "" {
				t.Errorf("hit %+v", h)
			}
		}
	}
}

func TestSparseOf(t *testing.T) {
	r, err := retrieve.NewSparse(t.Context(), pages(3, 4), bm25.Options{})
	if err != nil {
		t.Fatal(err)
	}
	chunks := pages(3, 4)
	if _, err := retrieve.SparseOf(r.Index(), chunks[1:]); err == nil ||
		!strings.Contains(err.Error(), "12 chunks, not 11") || !strings.Contains(err.Error(), "order") {
		t.Errorf("error %v does not name both problems", err)
	}
	all := ranked(t, r, "typhoon", 100)
	sorted := make([]graphrag.Chunk, 0, len(chunks))
	for d := range 3 { // the ranking of pages is the order of IDs
		for _, h := range all {
			if h.Chunk.Doc == fmt.Sprintf("p%d", d) {
				sorted = append(sorted, h.Chunk)
			}
		}
	}
	again, err := retrieve.SparseOf(r.Index(), sorted)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(all, ranked(t, again, "typhoon", 100)); d != "" {
		t.Error(d)
	}
}

func TestSparseStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := retrieve.NewSparse(ctx, pages(2, 2), bm25.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Retrieve(ctx, graphrag.Question{Text: "typhoon", K: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("retrieve: %v", err)
	}
	if _, err := retrieve.NewSparse(ctx, pages(2, 2), bm25.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("new: %v", err)
	}
}
