// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Statistics tell the recall of searches that compare a part of the vectors, also after a change and when the index is
// opened; they tell nothing where all vectors are compared.
func TestRecall(t *testing.T) {
	defer func(n int) { exactly = n }(exactly)
	exactly = 1000
	e := embed.Func(func(_ context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, text := range texts {
			n, _ := strconv.Atoi(text[strings.LastIndexByte(text, ' ')+1:])
			r := rand.New(rand.NewPCG(uint64(n), 1))
			for range 16 {
				out[i] = append(out[i], float32(r.NormFloat64()))
			}
		}
		return out, nil
	})
	k := check.Of(Offline(OfflineOptions{})).OK(t)
	f := Frame{Name: "vectors", Kit: k.WithEmbedder(e), Vectors: true}
	st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	defer st.Close()
	docs := func(n int) (list []graphrag.Document) {
		for i := range n {
			list = append(list, graphrag.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("Note %d", i)})
		}
		return list
	}
	s := check.Of(Open(t.Context(), f, st, "notes")).OK(t)
	few := check.Of(s.Index(t.Context(), graphrag.Documents(docs(1000)...))).OK(t)
	check.True(t, few.Recall == 0 && few.Notes() == nil, "all of 1,000 are compared: %v", few.Notes())
	many := check.Of(s.Index(t.Context(), graphrag.Documents(docs(4000)...))).OK(t)
	check.Equal(t, many.Recall, 1.0, "recall of 4,000, where a search compares more")
	check.Equal(t, many.Notes(), []string{fmt.Sprintf("searches by vectors are approximate: they find %.1f %% of the ten nearest", 100*many.Recall)}, "notes")
	fewer := check.Of(s.Delete(t.Context(), "0")).OK(t)
	check.Equal(t, fewer.Recall, many.Recall, "recall after a deletion")
	p := s.now.Load().pinned
	worse := &pinned{generation: notFlushed{p.generation}, chunks: worseTable{p.chunks}, contents: contents{Chunks: 3999}}
	check.OK(t, s.measure(t.Context(), worse))
	check.Equal(t, worse.contents.Recall, .7, "recall of seven of ten")
	check.OK(t, s.Close())
	s = check.Of(Open(t.Context(), f, st, "notes")).OK(t)
	opened := check.Of(s.Delete(t.Context(), "1")).OK(t)
	check.Equal(t, opened.Recall, many.Recall, "recall of the opened index")
	check.OK(t, s.Close())
}

type notFlushed struct{ store.Generation }

func (notFlushed) Flush(context.Context) error { return nil }

// worseTable finds seven of the ten nearest unless it compares all.
type worseTable struct{ store.Table }

func (w worseTable) SearchVectors(ctx context.Context, qs ...store.VectorQuery) ([][]store.Hit, error) {
	lists, err := w.Table.SearchVectors(ctx, qs...)
	for i, q := range qs {
		if q.Effort != 1 {
			lists[i] = lists[i][:7]
		}
	}
	return lists, err
}
