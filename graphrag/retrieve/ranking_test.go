// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

// counts embeds a text as how often each of some words is in it.
type counts []string

func (c counts) EmbedDocuments(ctx context.Context, texts []string) (out [][]float32, err error) {
	for _, t := range texts {
		v, _ := c.EmbedQuery(ctx, t)
		out = append(out, v)
	}
	return out, ctx.Err()
}

func (c counts) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v := make([]float32, len(c))
	for i, word := range c {
		v[i] = float32(strings.Count(text, word))
	}
	return v, ctx.Err()
}

var letters, weather = counts{"a", "b", "c"}, counts{"typhoon", "rain"}

func corpusOf(texts ...string) []graphrag.Chunk {
	var out []graphrag.Chunk
	for i, t := range texts {
		doc, text, _ := strings.Cut(t, ":")
		out = append(out, graphrag.Chunk{ID: doc + "#" + string(rune('0'+i)), Doc: doc, Text: text})
	}
	return out
}

func TestDense(t *testing.T) {
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
		{"none", "a", graphrag.Off, 0, nil},
		{"the usual number", "a", 0, 0, []string{"x#3", "z#1", "y#2", "y#4", "z#0"}},
		{"nothing known in the question", "q", 3, 0, nil},
		{"empty question", "", 3, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dense := check.Of(retrieve.NewDense(t.Context(), chunks, letters)).OK(t)
			r := check.Of(retrieve.PerDoc(dense, tt.perDoc)).OK(t)
			hits := ranked(t, r, tt.question, tt.k)
			check.Equal(t, ids(hits), tt.want, "(-want +got)")
			for _, h := range hits {
				check.Equal(t, h.Source, "dense", "source")
			}
		})
	}
}

func TestDenseEdges(t *testing.T) {
	r, err := retrieve.NewDense(t.Context(), nil, letters)
	check.OK(t, err)
	hits := ranked(t, r, "a", 3)
	check.Equal(t, len(hits), 0, "empty corpus: %v", hits)
	broken := errors.New("no server")
	_, err = retrieve.NewDense(t.Context(), corpusOf("x:a"), embed.Func(func(context.Context, []string) ([][]float32, error) { return nil, broken }))
	check.True(t, errors.Is(err, broken) && strings.Contains(err.Error(), "x#0"), "a failing embedder: %v", err)
	check.True(t, check.Err(retrieve.PerDoc(r, -1)) != nil, "-1 chunks of one document are accepted")
	check.True(t, check.Err(retrieve.NewDense(t.Context(), nil, nil)) != nil, "no embedder is accepted")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(retrieve.NewDense(ctx, corpusOf("x:a"), letters)), context.Canceled, "cancelled build")
	check.Is(t, check.Err(r.Retrieve(ctx, graphrag.Question{Text: "a", K: 1})), context.Canceled, "cancelled question")
	chunks := []graphrag.Chunk{{ID: "t#0", Doc: "t", Title: "aaa", Text: "c"}, {ID: "u#0", Doc: "u", Text: "cc"}}
	r = check.Of(retrieve.NewDense(t.Context(), chunks, letters)).OK(t)
	hits = ranked(t, r, "a", 1)
	check.True(t, len(hits) == 1 && hits[0].Chunk.ID == "t#0", "the title is not embedded: %v", hits)
}

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
	found := check.Of(r.Retrieve(t.Context(), graphrag.Question{Text: question, K: k})).OK(t)
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
		{0, 0, "typhoon", "p0#0000 p0#0001 p0#0002 p0#0003 p0#0004"},
		{1, 0, "typhoon", "p0#0000 p1#0000 p2#0000"},
		{1, -1, "typhoon", ""},
		{0, 3, "", ""},
		{2, 3, "unknown \x00", ""},
	} {
		sparse := check.Of(retrieve.NewSparse(t.Context(), pages(3, 40), bm25.Options{})).OK(t)
		r := check.Of(retrieve.PerDoc(sparse, c.maxPerDoc)).OK(t)
		hits := ranked(t, r, c.question, c.k)
		check.Equal(t, strings.Join(ids(hits), " "), c.want, "%q, k %d, %d per document: got", c.question, c.k, c.maxPerDoc)
		for _, h := range hits {
			check.True(t, h.Source == "bm25" && h.Score > 0 && h.Chunk.Text != "", "hit %+v", h)
		}
	}
}

func TestSparseStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := check.Of(retrieve.NewSparse(ctx, pages(2, 2), bm25.Options{})).OK(t)
	cancel()
	check.Is(t, check.Err(r.Retrieve(ctx, graphrag.Question{Text: "typhoon", K: 3})), context.Canceled, "retrieve")
	check.Is(t, check.Err(retrieve.NewSparse(ctx, pages(2, 2), bm25.Options{})), context.Canceled, "new")
}

// byLength likes long passages.
type byLength struct {
	short int
	asked *int
}

func (b byLength) Scores(_ context.Context, question string, passages []string) ([]float64, error) {
	if question == "" {
		return nil, errors.New("nothing was asked")
	}
	scores := []float64{}
	if b.asked != nil {
		*b.asked += len(passages)
	}
	for _, p := range passages[b.short:] {
		scores = append(scores, float64(len(p)))
	}
	return scores, nil
}

func hitsOf(texts ...string) (out []graphrag.Hit) {
	for i, t := range texts {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{ID: fmt.Sprint(i), Text: t}, Score: 1 / float64(i+1)})
	}
	return out
}

func textsOf(hits []graphrag.Hit) string {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.Chunk.Text
	}
	return strings.Join(texts, " ")
}

func TestRerank(t *testing.T) {
	ranked, asked := hitsOf("a", "bbb", "cc", "dd"), 0
	found := graphrag.Found{Ranked: ranked, Evidence: ranked[:2]}
	of := graphrag.RetrieverFunc(func(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
		asked = q.Depth
		return found, nil
	})
	scored := 0
	got, err := retrieve.Rerank(of, byLength{asked: &scored}).Retrieve(t.Context(), graphrag.Question{Text: "which?", K: 3})
	check.Equal(t, scored, len(ranked), "%d passages were scored, want each of %d once", scored, len(ranked))
	if err != nil || textsOf(got.Ranked) != "bbb cc dd a" || textsOf(got.Evidence) != "bbb a" || got.Ranked[0].Score != 3 {
		t.Errorf("ranked %s, evidence %s, error %v", textsOf(got.Ranked), textsOf(got.Evidence), err)
	}
	check.True(t, textsOf(ranked) == "a bbb cc dd" && asked >= 3, "the retriever's own list is %s, it was asked for %d", textsOf(ranked), asked)
	for _, tt := range []struct {
		by   byLength
		q    string
		want string
	}{{byLength{}, "", "retrieve: rerank: nothing was asked"}, {byLength{short: 1}, "which?", "3 scores for 4 passages"}} {
		check.Fails(t, check.Err(retrieve.Rerank(of, tt.by).Retrieve(t.Context(), graphrag.Question{Text: tt.q})), tt.want)
	}
	found = graphrag.Nothing()
	got, err = retrieve.Rerank(of, byLength{}).Retrieve(t.Context(), graphrag.Question{})
	check.True(t, err == nil && got.Ranked != nil && got.Evidence == nil, "of nothing: %+v, error %v", got, err)
}
