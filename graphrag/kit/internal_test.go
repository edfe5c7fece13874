// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// With a memo LSA is fitted once to a corpus, for each seed.
func TestLSAIsFittedOnce(t *testing.T) {
	corpus := []string{"The Fram sailed to Antarctica.", "The Gjøa sailed the Northwest Passage."}
	fit := func(ctx context.Context, seed uint64, corpus []string) embed.Embedder {
		t.Helper()
		return check.Of(lsa(seed)(ctx, corpus)).OK(t)
	}
	under := memo.With(t.Context())
	first := fit(under, 1, corpus)
	check.True(t, fit(under, 1, corpus) == first, "the same corpus was fitted twice")
	check.True(t, fit(t.Context(), 1, corpus) != first && fit(under, 2, corpus) != first &&
		fit(under, 1, corpus[:1]) != first, "shared without a memo, with another seed or of another corpus")
}

// FuzzSaved reads files from outside: they are refused, or have valid chunks, extractions, replies, and vectors
// of one length.
func FuzzSaved(f *testing.F) {
	k := check.Of(Offline(OfflineOptions{})).OK(f)
	x := check.Of(k.Triples()).OK(f)
	s := check.Of(New(Frame{Name: "saved", Kit: k, Extract: Extraction{Extractor: x.Extractor},
		Build: func(context.Context, *Corpus) (graphrag.Retriever, error) { return nil, nil }})).OK(f)
	base, err := kg.NewBase(kg.Options{})
	if err == nil {
		err = base.Insert(kg.Extraction{Chunk: "a#0", Doc: "a", Mentions: []kg.Mention{{Name: "Ann"}}})
	}
	check.OK(f, err)
	s.paid.dim, s.paid.all = 2, map[replyKey]entry{{1}: {reply: &llm.Reply{Text: "yes"}}, {2}: {vector: []float32{1, 2}}}
	docs := newLibrary()
	docs.put("a", []graphrag.Chunk{{ID: "a#0", Doc: "a", Text: "Ann"}})
	var file bytes.Buffer
	_, _, err = s.write(context.Background(), &file, &state{docs: docs, base: base}, nil, "")
	check.OK(f, err)
	lines := file.Bytes()
	if c, err := s.read(context.Background(), bytes.NewReader(lines)); err != nil || c.docs.chunks != 1 || len(c.extracted) != 1 || len(c.replies.all) != 2 {
		f.Fatalf("%+v, %v", c, err)
	}
	f.Add(lines[:len(lines)-65]) // without the checksum
	f.Add(bytes.Replace(bytes.Replace(lines[:len(lines)-65], []byte(`"reply"`), []byte(`"other"`), 1), []byte(`"dim"`), []byte(`"mid"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := s.read(t.Context(), strings.NewReader(fmt.Sprintf("%s%x\n", data, sha256.Sum256(data))))
		if err != nil {
			return
		}
		for _, e := range c.replies.all {
			check.True(t, e.reply != nil || len(e.vector) == c.replies.dim, "a vector of %d numbers among those of %d", len(e.vector), c.replies.dim)
		}
	})
}

// The chunks of a document are stored in its order and without spare capacity: a corpus of 155 MB has 23,388
// chunks of 136 bytes.
func TestChunksAreKeptWithoutRoom(t *testing.T) {
	d := check.Of(newDraft(Frame{})).OK(t)
	long := strings.Repeat("The mill stands by the river and was built of stone. ", 9000)
	u, err := Frame{}.update(t.Context(), func(yield func(graphrag.Document, error) bool) {
		_ = yield(graphrag.Document{ID: "a", Text: long}, nil) && yield(graphrag.Document{ID: "b"}, nil) && yield(graphrag.Document{ID: "c", Text: "A mill."}, nil)
	}, nil)
	check.OK(t, err)
	d.take(u)
	a, _ := d.docs.docs.Get("a")
	c, _ := d.docs.docs.Get("c")
	check.True(t, len(a) >= 50 && cap(a) <= len(a)*9/8 && len(c) == 1, "%d chunks in room for %d, and %d", len(a), cap(a), len(c))
	b, ok := d.docs.docs.Get("b")
	check.True(t, ok && len(b) == 0, "a document without text: %v, %v", b, ok)
	for i, c := range a {
		check.True(t, c.Index == i && c.Doc == "a", "chunk %d of %s at place %d", c.Index, c.Doc, i)
	}
}

// Statistics report the recall of searches that compare a part of the vectors, also after a change and when the
// index is opened; if all vectors are compared they report nothing.
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
	check.True(t, many.Recall == 1 && many.Notes() == nil, "4,000, where a search compares more: %v, %v", many.Recall, many.Notes())
	fewer := check.Of(s.Delete(t.Context(), "0")).OK(t)
	check.Equal(t, fewer.Recall, many.Recall, "recall after a deletion")
	p := s.now.Load().pinned
	worse := &pinned{generation: notFlushed{p.generation}, chunks: worseTable{p.chunks}, contents: contents{Chunks: 3999}}
	check.OK(t, s.measure(t.Context(), worse))
	check.Equal(t, worse.contents.Recall, .7, "recall of seven of ten")
	check.Contains(t, graphrag.IndexStats{Recall: .7}.Notes()[0], "find 70.0 % of the ten nearest")
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
