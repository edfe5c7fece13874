// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// stream yields n documents of different lengths.
func stream(n int) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for i := range n {
			doc := graphrag.Document{ID: fmt.Sprintf("doc%03d", i), Title: fmt.Sprint("title ", i), Text: strings.Repeat(fmt.Sprintf("word%d [x](http://y/%d) ", i, i), 1+i*7%40)}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// words is a splitter of one's own: so many words each, with the white space behind them.
type words int

func (n words) Split(_ context.Context, s string) (spans []Span, err error) {
	for end := 0; end < len(s); {
		span := Span{Start: end}
		for ; span.Tokens < int(n) && end < len(s); span.Tokens++ {
			end += len(s[end:]) - len(strings.TrimLeft(strings.TrimLeftFunc(s[end:], func(r rune) bool { return r > ' ' }), " \n"))
		}
		span.End = end
		spans = append(spans, span)
	}
	return spans, nil
}

func TestDocument(t *testing.T) {
	c, err := New(Options{Splitter: words(3), Clean: text.StripLinks})
	check.OK(t, err)
	doc := graphrag.Document{ID: "a.txt", Title: "A", Text: "one [two](http://x/y) three https://z four"}
	got := check.Of(c.Document(context.Background(), doc)).OK(t)
	want := []graphrag.Chunk{
		{ID: "a.txt#000000", Doc: "a.txt", Title: "A", Index: 0, Start: 0, End: 38, Text: "one two three  ", Tokens: 3},
		{ID: "a.txt#000001", Doc: "a.txt", Title: "A", Index: 1, Start: 38, End: 42, Text: "four", Tokens: 1},
	}
	check.Equal(t, got, want, "chunks")
	_, err = c.Document(context.Background(), graphrag.Document{Title: "nameless", Text: "x"})
	check.Fails(t, err, "nameless", "a document without an ID gave")
	got, err = c.Document(context.Background(), graphrag.Document{ID: "empty"})
	check.True(t, err == nil && len(got) == 0, "an empty document gave %v, %v", got, err)
}

func TestChunkID(t *testing.T) {
	for n, want := range map[int]string{0: "d#000000", 7: "d#000007", 10: "d#000010", 99_999: "d#099999", 100_000: "d#100000", 1_234_567: "d#1234567"} {
		check.Equal(t, ID("d", n), want, "chunk %d", n)
	}
}

func TestDocumentSharesMemory(t *testing.T) {
	c := check.Of(New(Options{})).OK(t)
	doc := graphrag.Document{ID: "d", Text: check.Generated(200_000)}
	chunks := check.Of(c.Document(context.Background(), doc)).OK(t)
	for _, k := range chunks {
		check.Must(t, k.Text == doc.Text[k.Start:k.End], "%s is not its source span", k.ID)
	}
	allocs := testing.AllocsPerRun(5, func() {
		check.OK(t, check.Err(c.Document(context.Background(), doc)))
	})
	if limit := float64(len(chunks) + 20); allocs > limit { // an ID each, and the slices
		t.Errorf("%.0f allocations for %d chunks", allocs, len(chunks))
	}
}

func TestAllIsOrderedAtAnyConcurrency(t *testing.T) {
	var want []graphrag.Chunk
	for _, workers := range []int{1, 2, 7} {
		c := check.Of(New(Options{Splitter: must(Tokens(TokenOptions{Size: 10, Overlap: 2})), Clean: text.StripLinks, Workers: workers})).OK(t)
		got := check.Of(c.All(context.Background(), stream(100))).OK(t)
		if want == nil {
			for doc := range stream(100) {
				chunks := check.Of(c.Document(context.Background(), doc)).OK(t)
				want = append(want, chunks...)
			}
		}
		diff := cmp.Diff(want, got)
		check.Must(t, diff == "", "%d workers (-want +got):\n%s", workers, diff)
	}
}

func TestAllStops(t *testing.T) {
	c, err := New(Options{Splitter: must(Tokens(TokenOptions{Size: 10, Overlap: 2})), Workers: 3})
	check.OK(t, err)
	broken := errors.New("disk on fire")
	with := func(at int, doc graphrag.Document, err error) iter.Seq2[graphrag.Document, error] {
		return func(yield func(graphrag.Document, error) bool) {
			i := 0
			for d := range stream(20) {
				if i == at {
					if !yield(doc, err) {
						return
					}
				}
				if i++; !yield(d, nil) {
					return
				}
			}
		}
	}
	check.Is(t, check.Err(c.All(context.Background(), with(5, graphrag.Document{}, broken))), broken, "a broken stream gave")
	_, err = c.All(context.Background(), with(5, graphrag.Document{ID: "doc002"}, nil))
	check.Fails(t, err, `"doc002" comes twice`, "a document that comes twice gave")
	_, err = c.All(context.Background(), with(0, graphrag.Document{Title: "nameless"}, nil))
	check.Fails(t, err, "no ID", "a document without an ID gave")
	ctx, cancel := context.WithCancel(context.Background())
	endless := func(yield func(graphrag.Document, error) bool) {
		for i := 0; ; i++ {
			if i == 10 {
				cancel()
			}
			if !yield(graphrag.Document{ID: fmt.Sprint(i), Text: "x"}, nil) {
				return
			}
		}
	}
	check.Is(t, check.Err(c.All(ctx, endless)), context.Canceled, "a cancelled call gave")
}

// A cleaner of one's own tells by text.NewMapping what it kept: offsets lead back
// into the source.
func TestCleanerOfOnesOwn(t *testing.T) {
	clean := func(s string) (string, text.Mapping) {
		var kept []text.Span
		var b strings.Builder
		for at := 0; at < len(s); {
			end := at + 1
			if s[at] == '#' {
				end = at + strings.IndexByte(s[at:]+"\n", '\n') + 1
			} else {
				kept = append(kept, text.Span{Start: at, End: end})
				b.WriteByte(s[at])
			}
			at = end
		}
		return b.String(), text.NewMapping(kept)
	}
	chunker := check.Of(New(Options{Splitter: words(2), Clean: clean})).OK(t)
	doc := graphrag.Document{ID: "d", Text: "one # a note\ntwo three"}
	chunks, err := chunker.Document(context.Background(), doc)
	check.Must(t, err == nil && len(chunks) == 2, "%d chunks, %v", len(chunks), err)
	c := chunks[0]
	check.True(t, c.Text == "one two " && doc.Text[c.Start:c.End] == "one # a note\ntwo ", "%q comes from %q", c.Text, doc.Text[c.Start:c.End])
	c = chunks[1]
	check.Equal(t, doc.Text[c.Start:c.End], "three", "%q comes from", c.Text)
}

// What a piece needs to be understood is asked for at its beginning in the cleaned text.
func TestLead(t *testing.T) {
	c := check.Of(New(Options{Splitter: words(2), Clean: text.StripLinks, Lead: func(s string, at int) string { return s[:at] }})).OK(t)
	chunks := check.Of(c.Document(t.Context(), graphrag.Document{ID: "a", Text: "[one](http://a.org) two three four"})).OK(t)
	check.True(t, len(chunks) == 2 && chunks[0].Lead == "" && chunks[1].Lead == "one two " && chunks[1].Text == "three four", "%+v", chunks)
}

// counting counts how often it cuts.
type counting struct {
	Splitter
	n *int
}

func (c counting) Split(ctx context.Context, s string) ([]Span, error) {
	*c.n++
	return c.Splitter.Split(ctx, s)
}

// Chunkers of one name cut a document once, and what one caller does to its chunks
// another does not see.
func TestCutOnce(t *testing.T) {
	n := 0
	ctx := memo.With(t.Context())
	splitter := must(Tokens(TokenOptions{Size: 5, Overlap: -1}))
	doc := graphrag.Document{ID: "fram.md", Text: strings.Repeat("The Fram sailed. ", 20)}
	var all [][]graphrag.Chunk
	for _, name := range []string{"a", "a", "b", "", ""} {
		c := check.Of(New(Options{Splitter: counting{splitter, &n}, Name: name})).OK(t)
		chunks := check.Of(c.Document(ctx, doc)).OK(t)
		all = append(all, chunks)
		check.Equal(t, chunks[1:], all[0][1:])
		chunks[0].Text = "mine"
	}
	check.Equal(t, n, 4, "cut %d times, want once for a, for b, and for each without a name", n)
	doc.Title = "Fram"
	if c, _ := New(Options{Splitter: counting{splitter, &n}, Name: "a"}); c != nil {
		chunks, _ := c.Document(ctx, doc)
		check.True(t, n == 5 && chunks[0].Title == "Fram" && chunks[0].Text != "mine", "another title is another document: %d, %+v", n, chunks[0])
	}
}
