// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

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
