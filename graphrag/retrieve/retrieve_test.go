// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// fixedList is a retriever of fixed chunks, each with a score one below the one before, that counts its calls.
type fixedList struct {
	names string
	asked int
}

func (l *fixedList) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	l.asked++
	found := graphrag.Found{Ranked: []graphrag.Hit{}, Usage: graphrag.Usage{Calls: 1}}
	for i, name := range strings.Fields(l.names) {
		if len(found.Ranked) < q.Want() {
			found.Ranked = append(found.Ranked, graphrag.Hit{Chunk: chunkOf(name), Score: float64(100 - i)})
		}
	}
	return found, ctx.Err()
}

// chunk returns a chunk from a text such as "a1:ten": document, number and words.
func chunkOf(name string) graphrag.Chunk {
	id, words, _ := strings.Cut(name, ":")
	text := strings.ReplaceAll(words, "_", " ")
	return graphrag.Chunk{ID: id, Doc: id[:1], Text: text, Start: 100, End: 100 + len(text)}
}

func words(s string) int { return len(strings.Fields(s)) }

func TestPerDoc(t *testing.T) {
	long := strings.Repeat("a1 ", 30) + "b1 b2 c1"
	for _, tt := range []struct {
		n, k  int
		want  string
		asked int
	}{
		{1, 2, "a1 b1", 2}, {2, 4, "a1 a1 b1 b2", 2}, {0, 2, "a1 a1", 1}, {1, 9, "a1 b1 c1", 1}, {1, graphrag.Off, "", 1}, {1, 0, "a1 b1 c1", 2},
	} {
		l := &fixedList{names: long}
		r := check.Of(retrieve.PerDoc(l, tt.n)).OK(t)
		if got := strings.Join(ids(ranked(t, r, "q", tt.k)), " "); got != tt.want || l.asked != tt.asked {
			t.Errorf("%d of a document, k %d: %q after %d questions, want %q after %d", tt.n, tt.k, got, l.asked, tt.want, tt.asked)
		}
	}
}

func TestFuse(t *testing.T) {
	a, b := &fixedList{names: "a1 b1 c1"}, &fixedList{names: "b1 d1"}
	r := check.Of(retrieve.Fuse(a, b)).OK(t)
	found, err := r.Retrieve(t.Context(), graphrag.Question{Text: "q", K: 3})
	check.Must(t, err == nil && found.Usage.Calls == 2, "%+v, %v", found, err)
	// b1 has 1/62 + 1/61, a1 1/61, d1 1/62.
	got := strings.Join(ids(found.Ranked), " ")
	check.True(t, got == "b1 a1 d1" && math.Abs(found.Ranked[0].Score-(1./62+1./61)) <= 1e-12, "%s, %v", got, found.Ranked)
	for _, rs := range [][]graphrag.Retriever{nil, {a, nil}} {
		check.True(t, check.Err(retrieve.Fuse(rs...)) != nil, "%v is fused", rs)
	}
	// With a weight of 3 and the constant 1: a1 has 3/2, b1 3/3 + 1/2, c1 3/4, d1 1/3.
	r = check.Of(retrieve.FuseOptions{K: 1, Weights: []float64{3, 1}}.Fuse(a, b)).OK(t)
	hits := ranked(t, r, "q", 4)
	check.True(t, strings.Join(ids(hits), " ") == "a1 b1 c1 d1" && hits[1].Score == 1.5, "%v", hits)
	for _, o := range []retrieve.FuseOptions{{K: -1}, {K: math.NaN()}, {Weights: []float64{1}}, {Weights: []float64{1, -1}}} {
		r, err := o.Fuse(a, b)
		check.True(t, err != nil && r == nil, "%+v is taken", o)
	}
	broken := errors.New("no server")
	r, _ = retrieve.Fuse(a, graphrag.RetrieverFunc(func(context.Context, graphrag.Question) (graphrag.Found, error) { return graphrag.Found{}, broken }))
	check.Is(t, check.Err(r.Retrieve(t.Context(), graphrag.Question{K: 1})), broken)
}

// A chunk has the highest of its scores.
func TestHighest(t *testing.T) {
	found, err := retrieve.Highest([]graphrag.Found{
		{Ranked: []graphrag.Hit{{Chunk: chunkOf("a1"), Score: 5}, {Chunk: chunkOf("b1"), Score: 1}}, Usage: graphrag.Usage{Calls: 1}},
		{Ranked: []graphrag.Hit{{Chunk: chunkOf("c1"), Score: 4}, {Chunk: chunkOf("b1"), Score: 3}}, Usage: graphrag.Usage{Calls: 2}},
	}, 3)
	got := strings.Join(ids(found.Ranked), " ")
	check.True(t, err == nil && got == "a1 c1 b1" && found.Ranked[2].Score == 3 && found.Usage.Calls == 3, "%s: %+v, %v", got, found, err)
}

// Half of a budget, or what the evidence leaves, is for derived texts, the rest for chunks with their titles;
// the first chunk is cut if nothing fits.
func TestFit(t *testing.T) {
	ten := "one two three four five six seven eight nine ten"
	hits := func(n int) (out []graphrag.Hit) {
		for range n {
			out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{Title: "The title here", Text: ten, Start: 100, End: 100 + len(ten)}})
		}
		return out
	}
	note := graphrag.Derived{Text: "five words are in here"}
	for _, tt := range []struct{ budget, hits, notes, wantHits, wantNotes int }{
		{26, 3, 0, 2, 0}, {26, 2, 3, 1, 2}, {11, 0, 3, 0, 2}, {8, 2, 0, 1, 0}, {1, 1, 0, 1, 0}, {9, 1, 9, 1, 0}, {10, 1, 9, 0, 1}, {40, 1, 9, 1, 5},
	} {
		derived := make([]graphrag.Derived, tt.notes)
		for i := range derived {
			derived[i] = note
		}
		e, d := retrieve.Fit(hits(tt.hits), derived, tt.budget, words)
		check.True(t, len(e) == tt.wantHits && len(d) == tt.wantNotes && e != nil, "%+v: %d chunks and %d notes", tt, len(e), len(d))
	}
	e, _ := retrieve.Fit(hits(2), nil, 8, words)
	c := e[0].Chunk
	check.True(t, c.Text == "one two three four five" && c.End == 100+len(c.Text), "cut to 8 words: %+v", c)
}

// Words are scored against a text of average length that contains every word of the query once, vectors by the
// cosine.
func TestTexts(t *testing.T) {
	texts := text.Strings([]string{"aa bb", "aa cc", "dd ee", ""})
	w := check.Of(retrieve.NewWords(t.Context(), texts)).OK(t)
	scores, err := w.Scores(t.Context(), "aa bb", nil)
	check.Must(t, err == nil && len(scores) == 4 && (scores[0] > scores[1] && scores[1] > 0) && scores[2] == 0,
		"%v, %v", scores, err)
	// By hand: lengths 2 2 2 0, mean 1.5; tf 1 in a text of 2 words gives 2.2/(1+1.2(.25+.75·2/1.5)).
	want := 2.2 / (1 + 1.2*(.25+.75*2/1.5))
	check.True(t, math.Abs(scores[0]-want) <= 1e-6, "a text with both words has %v, want %v", scores[0], want)
	best, err := w.Best(t.Context(), "aa bb", 9)
	check.True(t, err == nil && len(best) == 2 && best[0].ID == 0 && math.Abs(best[0].Score-scores[0]) <= 1e-9, "%v, %v", best, err)
	v := check.Of(retrieve.NewVectors(t.Context(), letters, texts)).OK(t)
	cosines, err := v.Scores(t.Context(), "ab", nil)
	check.True(t, err == nil && math.Abs(cosines[0]-1) <= 1e-6 && math.Abs(cosines[1]-.5) <= 1e-6 && cosines[2] == 0, "%v, %v", cosines, err)
	none, err := v.Scores(t.Context(), "zz", cosines)
	check.True(t, err == nil && cmp.Diff([]float64{0, 0, 0, 0}, none) == "", "nothing known: %v, %v", none, err)
	for _, texts := range []retrieve.Texts{w, v} {
		scaled, err := retrieve.Scaled(t.Context(), texts, "aa bb", 2)
		check.True(t, err == nil && len(scaled) == 2 && scaled[0] == (rank.Scored[int32]{ID: 0, Score: 1}) &&
			scaled[1].Score < 1, "%T: %v, %v", texts, scaled, err)
	}
}

func TestRanking(t *testing.T) {
	r := retrieve.NewRanking([]graphrag.Chunk{chunkOf("a1"), chunkOf("a2"), chunkOf("b1"), chunkOf("c1")})
	r.PerDoc = 1
	if got, err := r.ByScore(t.Context(), []float64{1, 2, 1, 0}, 9, "x"); strings.Join(ids(got), " ") != "a2 b1" || err != nil {
		t.Error(got, err)
	}
	in, err := r.InOrder(t.Context(), []int32{3, 1, 0, 2}, 2, "x")
	check.True(t, err == nil && strings.Join(ids(in), " ") == "c1 a2" && in[1].Score == .5 &&
		in[1].Source == "x", "%v", in)
	got, err := r.ByScore(t.Context(), nil, 3, "x")
	check.True(t, got != nil && len(got) == 0 && err == nil, "a search that found nothing is no search")
}

func Example() {
	ctx := context.Background()
	chunks := []graphrag.Chunk{
		{ID: "a#0", Doc: "a", Text: "Typhoon Bolaven crossed the islands in August."},
		{ID: "a#1", Doc: "a", Text: "The typhoon then crossed Korea."},
		{ID: "b#0", Doc: "b", Text: "Few buildings were damaged by the typhoon."},
	}
	sparse, err := retrieve.NewSparse(ctx, chunks, bm25.Options{})
	if err != nil {
		panic(err)
	}
	perDoc, err := retrieve.PerDoc(sparse, 1)
	if err != nil {
		panic(err)
	}
	found, err := perDoc.Retrieve(ctx, graphrag.Question{Text: "Which islands did the typhoon cross?", K: 2})
	if err != nil {
		panic(err)
	}
	for _, h := range found.Ranked {
		fmt.Println(h.Chunk.ID, h.Chunk.Text)
	}
	// Output:
	// a#0 Typhoon Bolaven crossed the islands in August.
	// b#0 Few buildings were damaged by the typhoon.
}

// Words find the chunk that names the ship, vectors the chunk that is similar to it; the fusion ranks by both.
func ExampleFuse() {
	ctx := context.Background()
	texts := []string{"The Fram was built in Larvik by Colin Archer.", "The ship drifted through the polar ice.", "Barn owls hear a mouse."}
	var chunks []graphrag.Chunk
	for i, t := range texts {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprint("c", i), Doc: fmt.Sprint("d", i), Text: t})
	}
	words, err1 := retrieve.NewSparse(ctx, chunks, bm25.Options{})
	model, err2 := embed.FitLSA(ctx, texts, embed.LSAOptions{Seed: 1})
	meaning, err3 := retrieve.NewDense(ctx, chunks, model)
	both, err4 := retrieve.Fuse(words, meaning)
	found, err5 := both.Retrieve(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(found.Ranked[0].Chunk.Text, errors.Join(err1, err2, err3, err4, err5))
	// Output: The Fram was built in Larvik by Colin Archer. <nil>
}

// batched counts its calls.
type batched struct {
	graphrag.Retriever
	calls *int
	short bool
}

func (b batched) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	*b.calls++
	found, err := retrieve.All(ctx, b.Retriever, qs)
	if b.short {
		return found[1:], err
	}
	return found, err
}

// Many questions together get the results of single ones, in one call if the retriever accepts many.
func TestAll(t *testing.T) {
	sparse, err := retrieve.NewSparse(t.Context(), corpusOf("x:red apple", "y:green pear", "z:red pear tree"), bm25.Options{})
	check.OK(t, err)
	calls := 0
	both := check.Of(retrieve.Fuse(batched{sparse, &calls, false}, sparse)).OK(t)
	var qs []graphrag.Question
	for i, text := range []string{"red", "pear", "tree apple", "none", "red pear"} {
		qs = append(qs, graphrag.Question{Text: text, K: i})
	}
	got, err := retrieve.All(t.Context(), both, qs)
	check.Must(t, err == nil && calls == 1, "%d calls, %v", calls, err)
	for i, q := range qs {
		check.Equal(t, got[i], check.Of(both.Retrieve(t.Context(), q)).OK(t), "%q", q.Text)
	}
	_, err = retrieve.All(t.Context(), batched{sparse, &calls, true}, qs)
	check.Fails(t, err, "returned 4 results for 5 questions", "missing results")
}
