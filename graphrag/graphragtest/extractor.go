// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Texts are chunks an extractor must take: plain and hostile.
var Texts = []string{
	"",
	" \n\t ",
	"Ada Lovelace wrote to Charles Babbage in July 1843. He answered from London.",
	"The World Health Organization (WHO) was founded in Geneva in 1948.",
	"台风韦森特今晨登陆广东。 Владимир встретился с Анной. وقال الرئيس",
	"Broken \xff\xfe bytes, \x00 control \x1b characters and a na\u0308me.",
	"A name of many letters: " + strings.Repeat("Aa", 5000) + ".",
}

// Extractor checks the extractor on [Texts]: one extraction for each chunk in order, spans within the chunk and on the
// boundaries of runes, ends of facts among the mentions, the same result twice, and an error that wraps the error
// of a cancelled context. A model behind the extractor must answer the same to the same prompt.
func Extractor(t *testing.T, x extract.Extractor) {
	t.Helper()
	var chunks []graphrag.Chunk
	for i, s := range Texts {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("doc%d#000000", i), Doc: fmt.Sprintf("doc%d", i), End: len(s), Text: s})
	}
	found, err := x.Extract(context.Background(), chunks)
	if err != nil {
		t.Fatalf("Extract: %v", err)
	}
	if len(found) != len(chunks) {
		t.Fatalf("%d extractions of %d chunks", len(found), len(chunks))
	}
	for i, e := range found {
		checkExtraction(t, chunks[i], e)
	}
	again, err := x.Extract(context.Background(), chunks)
	if err != nil || !reflect.DeepEqual(found, again) {
		t.Errorf("a second Extract of the same chunks differs (error %v)", err)
	}
	if none, err := x.Extract(context.Background(), nil); err != nil || len(none) != 0 {
		t.Errorf("no chunks: %d extractions and error %v", len(none), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Extract(ctx, chunks); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Extract returns %v, want an error that wraps context.Canceled", err)
	}
}

func checkExtraction(t *testing.T, c graphrag.Chunk, e kg.Extraction) {
	t.Helper()
	if e.Chunk != c.ID || e.Doc != c.Doc {
		t.Errorf("chunk %q of %q: the extraction says %q of %q", c.ID, c.Doc, e.Chunk, e.Doc)
	}
	known := map[string]bool{}
	for _, m := range e.Mentions {
		known[m.Name] = true
		if m.Name == "" {
			t.Errorf("chunk %q: a mention without a name", c.ID)
		}
		checkSpan(t, c, m.Span)
	}
	for _, f := range e.Facts {
		if !known[f.Head] || !known[f.Tail] {
			t.Errorf("chunk %q: an end of (%s; %s; %s) is not among the mentions", c.ID, f.Head, f.Relation, f.Tail)
		}
		checkSpan(t, c, f.Span)
	}
	for _, a := range e.Attributes {
		if !known[a.Entity] {
			t.Errorf("chunk %q: attribute %s of %q, which is not among the mentions", c.ID, a.Key, a.Entity)
		}
		checkSpan(t, c, a.Span)
	}
}

// checkSpan takes the zero span for a place that is not known.
func checkSpan(t *testing.T, c graphrag.Chunk, s kg.Span) {
	t.Helper()
	switch {
	case s == kg.Span{}:
	case s.Start < 0 || s.Start >= s.End || s.End > len(c.Text):
		t.Errorf("chunk %q: span %v is not within 0..%d", c.ID, s, len(c.Text))
	case !boundary(c.Text, s.Start), !boundary(c.Text, s.End):
		t.Errorf("chunk %q: span %v cuts a character", c.ID, s)
	}
}

func boundary(s string, i int) bool {
	return i == len(s) || utf8.RuneStart(s[i]) || !utf8.ValidString(s)
}
