// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
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
			if d := cmp.Diff(alone, all[i]); d != "" || err != nil {
				t.Errorf("%q among others: %s %v", q.Text, d, err)
			}
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
