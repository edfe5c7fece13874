// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
)

// letters embeds a text as the counts of a, b and c in it.
type letters struct{ err error }

func (l letters) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		v, err := l.EmbedQuery(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (l letters) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v := make([]float32, 3)
	for i, letter := range []string{"a", "b", "c"} {
		v[i] = float32(strings.Count(text, letter))
	}
	return v, errors.Join(l.err, ctx.Err())
}

func corpusOf(texts ...string) []graphrag.Chunk {
	var out []graphrag.Chunk
	for i, t := range texts {
		doc, text, _ := strings.Cut(t, ":")
		out = append(out, graphrag.Chunk{ID: doc + "#" + string(rune('0'+i)), Doc: doc, Text: text})
	}
	return out
}

func ids(hits []graphrag.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Chunk.ID)
	}
	return out
}

func TestRetriever(t *testing.T) {
	// The chunks come out of order; z#1 and x#3 point the same way.
	chunks := corpusOf("z:b", "z:a", "y:aab", "x:aa", "y:c")
	for _, tt := range []struct {
		name, question string
		k, perDoc      int
		want           []string
	}{
		{"best first, equal scores by ID", "a", 3, 0, []string{"x#3", "z#1", "y#2"}},
		{"all of them", "a", 100, 0, []string{"x#3", "z#1", "y#2", "y#4", "z#0"}},
		{"one of each document", "a", 3, 1, []string{"x#3", "z#1", "y#2"}},
		{"the limit looks deeper", "ab", 3, 1, []string{"y#2", "x#3", "z#0"}},
		{"fewer documents than asked for", "a", 5, 1, []string{"x#3", "z#1", "y#2"}},
		{"none", "a", 0, 0, nil},
		{"nothing known in the question", "q", 3, 0, nil},
		{"empty question", "", 3, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := embed.NewRetriever(t.Context(), chunks, letters{}, embed.RetrieverOptions{MaxPerDoc: tt.perDoc})
			if err != nil {
				t.Fatal(err)
			}
			hits, err := r.Retrieve(t.Context(), tt.question, tt.k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, ids(hits)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, h := range hits {
				if h.Source != embed.Source {
					t.Errorf("source %q", h.Source)
				}
			}
		})
	}
}

func TestRetrieverEdges(t *testing.T) {
	r, err := embed.NewRetriever(t.Context(), nil, letters{}, embed.RetrieverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if hits, err := r.Retrieve(t.Context(), "a", 3); err != nil || len(hits) != 0 {
		t.Errorf("empty corpus: %v, %v", hits, err)
	}
	broken := errors.New("no server")
	if _, err := embed.NewRetriever(t.Context(), corpusOf("x:a"), letters{broken}, embed.RetrieverOptions{}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "x#0") {
		t.Errorf("a failing embedder: %v", err)
	}
	if _, err := embed.NewRetriever(t.Context(), nil, letters{}, embed.RetrieverOptions{MaxPerDoc: -1}); err == nil {
		t.Error("MaxPerDoc -1 is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embed.NewRetriever(ctx, corpusOf("x:a"), letters{}, embed.RetrieverOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled build: %v", err)
	}
	if _, err := r.Retrieve(ctx, "a", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled question: %v", err)
	}
	var seen int
	titled := func(c graphrag.Chunk) string { seen++; return embed.TitledText(c) }
	chunks := []graphrag.Chunk{{ID: "t#0", Doc: "t", Title: "aaa", Text: "c"}, {ID: "u#0", Doc: "u", Text: "cc"}}
	r, err = embed.NewRetriever(t.Context(), chunks, letters{}, embed.RetrieverOptions{Text: titled})
	if err != nil || seen != 2 {
		t.Fatalf("%d texts, %v", seen, err)
	}
	hits, err := r.Retrieve(t.Context(), "a", 1)
	if err != nil || len(hits) != 1 || hits[0].Chunk.ID != "t#0" {
		t.Errorf("the title is not embedded: %v, %v", hits, err)
	}
}
