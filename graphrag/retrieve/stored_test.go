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

// table is a table that searches as other retrievers do, and remembers what it was
// asked.
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

// SearchVectors finds the text again of which the embedder made a vector.
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

// What is stored is found as what is in memory.
func TestStored(t *testing.T) {
	chunks := pages(3, 4)
	sparse, err1 := retrieve.NewSparse(t.Context(), chunks, bm25.Options{})
	dense, err2 := retrieve.NewDense(t.Context(), chunks, weather)
	check.OK(t, errors.Join(err1, err2))
	tab := &table{sparse: sparse, dense: dense, records: map[string]store.Record{}}
	for _, c := range chunks {
		tab.records[c.ID] = retrieve.ToRecord(c)
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
		r := retrieve.ToRecord(c)
		check.True(t, r.Scope == "a" && (r.Data == nil) == (c.Index == 0), "record %+v", r)
		got, err := retrieve.FromRecord(r)
		check.True(t, err == nil && reflect.DeepEqual(got, c), "%+v came back as %+v, error %v", c, got, err)
	}
}

// hashed is an embedder of hashes, so that many texts are as similar to a question as others.
func hashed(_ context.Context, texts []string) (rows [][]float32, err error) {
	for _, s := range texts {
		rows = append(rows, llmtest.HashVector(s, 8))
	}
	return rows, nil
}

// A retriever that was changed, and one that is limited, find to the bit what one finds that was
// made anew of the same chunks.
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
				if r.IntN(2) == 0 { // replaced
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
