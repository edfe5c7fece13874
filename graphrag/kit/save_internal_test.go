// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"context"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// FuzzSaved reads files that somebody else may have written: they are refused, or
// hold chunks, extractions, replies and vectors of one length.
func FuzzSaved(f *testing.F) {
	k, err := Offline(OfflineOptions{})
	if err != nil {
		f.Fatal(err)
	}
	x, err := k.Triples()
	if err != nil {
		f.Fatal(err)
	}
	s, err := New(Frame{Name: "saved", Kit: k, Extract: Extraction{Extractor: x.Extractor},
		Build: func(context.Context, *Corpus) (graphrag.Retriever, error) { return nil, nil }})
	if err != nil {
		f.Fatal(err)
	}
	base, err := kg.NewBase(kg.Options{})
	if err == nil {
		err = base.Insert(kg.Extraction{Chunk: "a#0", Doc: "a", Mentions: []kg.Mention{{Name: "Ann"}}})
	}
	if err != nil {
		f.Fatal(err)
	}
	s.paid.texts[replyKey{1}] = llm.Reply{Text: "yes"}
	s.paid.dim, s.paid.vectors[replyKey{2}] = 2, []float32{1, 2}
	var file bytes.Buffer
	if err := s.write(context.Background(), &file, &state{docs: map[string][]graphrag.Chunk{"a": {{ID: "a#0", Doc: "a", Text: "Ann"}}}, base: base}); err != nil {
		f.Fatal(err)
	}
	if c, err := s.read(context.Background(), bytes.NewReader(file.Bytes())); err != nil || len(c.docs) != 1 || len(c.extracted) != 1 || len(c.replies.texts) != 1 || len(c.replies.vectors) != 1 {
		f.Fatalf("%+v, %v", c, err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(fileKind + "\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := s.read(t.Context(), bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, v := range c.replies.vectors {
			if len(v) != c.replies.dim {
				t.Errorf("a vector of %d numbers among those of %d", len(v), c.replies.dim)
			}
		}
	})
}
