// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// table is a table that searches like other retrievers, and stores its queries.
type table struct {
	store.Table
	records       map[string]store.Record
	sparse, dense graphrag.Retriever
	err           error
	calls         int
}

func (t *table) SearchText(ctx context.Context, qs ...store.TextQuery) (out [][]store.Hit, err error) {
	t.calls++
	for _, q := range qs {
		hits, err := t.search(ctx, t.sparse, graphrag.Question{Text: q.Text, K: q.K})
		if err != nil {
			return nil, err
		}
		out = append(out, hits)
	}
	return out, nil
}

// SearchVectors recovers the text whose vector the embedder made.
func (t *table) SearchVectors(ctx context.Context, qs ...store.VectorQuery) (out [][]store.Hit, err error) {
	t.calls++
	for _, q := range qs {
		question := strings.Repeat("typhoon ", int(q.Vector[0])) + strings.Repeat("rain ", int(q.Vector[1]))
		hits, err := t.search(ctx, t.dense, graphrag.Question{Text: question, K: q.K})
		if err != nil {
			return nil, err
		}
		out = append(out, hits)
	}
	return out, nil
}

func (t *table) search(ctx context.Context, r graphrag.Retriever, q graphrag.Question) ([]store.Hit, error) {
	found, err := r.Retrieve(ctx, q)
	hits := make([]store.Hit, len(found.Ranked))
	for i, h := range found.Ranked {
		hits[i] = store.Hit{ID: h.Chunk.ID, Score: h.Score}
	}
	return hits, err
}

func (t *table) Get(_ context.Context, ids ...string) (out []store.Record, _ error) {
	t.calls++
	for _, id := range ids {
		if r, ok := t.records[id]; ok {
			out = append(out, r)
		}
	}
	return out, t.err
}

// A store gives the same results as memory.
func TestStored(t *testing.T) {
	chunks := pages(3, 4)
	sparse, err1 := retrieve.NewSparse(t.Context(), chunks, bm25.Options{})
	dense, err2 := retrieve.NewDense(t.Context(), chunks, weather)
	check.OK(t, errors.Join(err1, err2))
	tab := &table{sparse: sparse, dense: dense, records: map[string]store.Record{}}
	for _, c := range chunks {
		tab.records[c.ID] = store.RecordOf(c)
	}
	stored := retrieve.Stored{Table: tab}
	for _, question := range []string{"typhoon", "rain", "typhoon rain rain", "", "unknown"} {
		for _, k := range []int{0, 3, 100} {
			for _, c := range []struct{ got, want graphrag.Retriever }{{stored.Sparse(), sparse}, {stored.Dense(weather), dense}} {
				check.Equal(t, ranked(t, c.got, question, k), ranked(t, c.want, question, k), "%q, k %d", question, k)
			}
		}
	}

	for _, r := range []graphrag.Retriever{stored.Sparse(), stored.Dense(weather)} {
		var qs []graphrag.Question
		for i, text := range []string{"typhoon", "", "rain typhoon", "unknown", "rain"} {
			qs = append(qs, graphrag.Question{Text: text, K: 3 * i})
		}
		tab.calls = 0
		all, err := retrieve.All(t.Context(), r, qs)
		check.Must(t, err == nil && tab.calls == 2, "%d calls of the table for %d questions, %v", tab.calls, len(qs), err)
		for i, q := range qs {
			alone, err := r.Retrieve(t.Context(), q)
			d := cmp.Diff(alone, all[i])
			check.True(t, d == "" && err == nil, "%q among others: %s %v", q.Text, d, err)
		}
	}

	delete(tab.records, "p0#0001")
	got := strings.Join(ids(ranked(t, stored.Sparse(), "typhoon", 3)), " ")
	check.Equal(t, got, "p0#0000 p0#0002", "found %s, although p0#0001 was deleted meanwhile", got)
	tab.records["p0#0002"] = store.Record{ID: "p0#0002", Data: []byte("a thesis")}
	_, err := stored.Sparse().Retrieve(t.Context(), graphrag.Question{Text: "typhoon", K: 3})
	check.Fails(t, err, `"p0#0002"`, "data that is not of a chunk")
	tab.err = store.ErrNotFound
	_, err = stored.Dense(weather).Retrieve(t.Context(), graphrag.Question{Text: "rain", K: 3})
	check.Is(t, err, store.ErrNotFound, "error %v does not wrap that of the table", err)
}

func TestRecords(t *testing.T) {
	for _, c := range []graphrag.Chunk{
		{ID: "a#0001", Doc: "a", Title: "A", Text: "text"},
		{ID: "a#0002", Doc: "a", Title: "A", Text: "text", Index: 2, Start: 10, End: 14, Tokens: 1},
	} {
		r := store.RecordOf(c)
		check.True(t, r.Scope == "a" && (r.Data == nil) == (c.Index == 0), "record %+v", r)
		got, err := r.Chunk()
		check.True(t, err == nil && reflect.DeepEqual(got, c), "%+v came back as %+v, error %v", c, got, err)
	}
}

// hashed is an embedder of hashes, so that many texts have equal similarities to a question.
func hashed(_ context.Context, texts []string) (rows [][]float32, err error) {
	for _, s := range texts {
		rows = append(rows, llmtest.HashVector(s, 8))
	}
	return rows, nil
}

// A changed retriever, and a limited one, find bit for bit what a new one over the same chunks finds.
func TestUpdate(t *testing.T) {
	for name, make := range map[string]func([]graphrag.Chunk) (retrieve.Limiter, error){
		"sparse": func(c []graphrag.Chunk) (retrieve.Limiter, error) {
			return retrieve.NewSparse(t.Context(), c, bm25.Options{TitleWeight: 2})
		},
		"capped": func(c []graphrag.Chunk) (retrieve.Limiter, error) {
			r, err := retrieve.NewSparse(t.Context(), c, bm25.Options{})
			if err != nil {
				return nil, err
			}
			capped, err := retrieve.PerDoc(r, 1)
			return capped.(retrieve.Limiter), err
		},
		"dense": func(c []graphrag.Chunk) (retrieve.Limiter, error) {
			return retrieve.NewDense(t.Context(), c, embed.Func(hashed))
		},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		now := map[string]graphrag.Chunk{}
		next, made := 0, 0
		chunk := func(id int) graphrag.Chunk {
			made++
			text := ""
			for range 1 + r.IntN(9) {
				text += fmt.Sprintf("w%d ", int(1/(r.Float64()+.01)))
			}
			return graphrag.Chunk{ID: fmt.Sprintf("d%05d#0", id), Doc: fmt.Sprintf("d%05d", id), Title: "w7", Text: text, Fields: graphrag.Fields{"n": float64(made % 7), "tags": []string{"t1", fmt.Sprintf("t%d", made%3)}}}
		}
		updated := check.Of(make(nil)).OK(t)
		for step := range 120 {
			var added, gone []graphrag.Chunk
			ids := slices.Sorted(maps.Keys(now))
			r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			few := r.IntN(4)
			if step%30 == 29 {
				few = len(ids) * 3 / 4
			}
			for _, id := range ids[:min(few, len(ids))] {
				gone = append(gone, now[id])
				delete(now, id)
				if r.IntN(2) == 0 { // replaces documents
					c := now[id]
					_, _ = fmt.Sscanf(id, "d%05d", &c.Index)
					added = append(added, chunk(c.Index))
				}
			}
			for range []int{1, 1, 2, 100}[r.IntN(4)] {
				next += 1 + r.IntN(3)
				added = append(added, chunk(next*7919%100000))
			}
			for _, c := range added {
				now[c.ID] = c
			}
			next := check.Of(updated.Update(t.Context(), added, gone)).OK(t)
			updated = next.(retrieve.Limiter)
			limit := graphrag.And(graphrag.Between("n", nil, step%9), graphrag.Not(graphrag.Or(graphrag.Has("tags", "t2"), graphrag.Equal("odd", "x"))))
			share := limit.Compile()
			var permitted []graphrag.Chunk
			for _, c := range now {
				if share(c.Fields) {
					permitted = append(permitted, c)
				}
			}
			fresh, err1 := make(slices.Collect(maps.Values(now)))
			alone, err2 := make(permitted)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			q := graphrag.Question{Text: fmt.Sprintf("w1 w%d w7 w%d", r.IntN(9), r.IntN(50)), K: 1 + r.IntN(40)}
			for what, pair := range map[string][2]graphrag.Retriever{"changed": {fresh, updated}, "limited": {alone, updated.Limit(fmt.Sprint(step%9), limit)}} {
				want, err1 := pair[0].Retrieve(t.Context(), q)
				got, err2 := pair[1].Retrieve(t.Context(), q)
				if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
					t.Fatalf("%s, step %d, %d chunks, %s, %q (-made anew +%s):\n%.2000s %v %v", name, step, len(now), what, q.Text, what, diff, err1, err2)
				}
			}
		}
	}
}

// counts embeds a text as the numbers of occurrences of some words.
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
	// The chunks are given unsorted; the vectors of z#1 and x#3 have the same direction.
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

// pages returns n chunks of each of some documents. The first document is the best for "typhoon", and texts
// within a document are equal.
func pages(documents, n int) (chunks []graphrag.Chunk) {
	for c := n - 1; c >= 0; c-- { // not sorted by ID
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

// byLength prefers long passages.
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
