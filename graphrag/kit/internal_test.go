// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// Under a memo LSA is fitted once to a corpus, for each seed.
func TestLSAIsFittedOnce(t *testing.T) {
	corpus := []string{"The Fram sailed to Antarctica.", "The Gjøa sailed the Northwest Passage."}
	fit := func(ctx context.Context, seed uint64, corpus []string) embed.Embedder {
		t.Helper()
		e := check.Of(lsa(seed)(ctx, corpus)).OK(t)
		return e
	}
	under := memo.With(t.Context())
	first := fit(under, 1, corpus)
	check.True(t, fit(under, 1, corpus) == first, "the same corpus was fitted twice")
	if fit(t.Context(), 1, corpus) == first || fit(under, 2, corpus) == first || fit(under, 1, corpus[:1]) == first {
		t.Error("shared without a memo, with another seed or of another corpus")
	}
}

// FuzzSaved reads files that somebody else may have written: they are refused, or
// hold chunks, extractions, replies and vectors of one length.
func FuzzSaved(f *testing.F) {
	k, err := Offline(OfflineOptions{})
	check.OK(f, err)
	x := check.Of(k.Triples()).OK(f)
	s, err := New(Frame{Name: "saved", Kit: k, Extract: Extraction{Extractor: x.Extractor},
		Build: func(context.Context, *Corpus) (graphrag.Retriever, error) { return nil, nil }})
	check.OK(f, err)
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
	f.Add(lines[:len(lines)-65]) // before the sum
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

// The chunks of a document are kept in its order and without room for more: a corpus of
// 155 MB has 23,388 of 136 bytes.
func TestChunksAreKeptWithoutRoom(t *testing.T) {
	d, err := newDraft(Frame{})
	check.OK(t, err)
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
