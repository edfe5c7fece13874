// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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

// words is a splitter of the caller: spans of a number of words each, with the white space after them.
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
	if limit := float64(len(chunks) + 20); allocs > limit { // one allocation for the ID of each chunk, and the slices
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
		check.Equal(t, got, want, "%d workers", workers)
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

// A cleaner of the caller describes with text.NewMapping what it kept: offsets can be mapped to the source.
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

// The context that a piece needs to be understood is requested for its beginning in the cleaned text.
func TestLead(t *testing.T) {
	c := check.Of(New(Options{Splitter: words(2), Clean: text.StripLinks, Lead: func(s string, at int) string { return s[:at] }})).OK(t)
	chunks := check.Of(c.Document(t.Context(), graphrag.Document{ID: "a", Text: "[one](http://a.org) two three four"})).OK(t)
	check.True(t, len(chunks) == 2 && chunks[0].Lead == "" && chunks[1].Lead == "one two " && chunks[1].Text == "three four", "%+v", chunks)
}

// counting counts its calls.
type counting struct {
	Splitter
	n *int
}

func (c counting) Split(ctx context.Context, s string) ([]Span, error) {
	*c.n++
	return c.Splitter.Split(ctx, s)
}

// Chunkers of one name cut a document once, and one caller's changes and fields do not affect another's.
func TestCutOnce(t *testing.T) {
	n := 0
	ctx := memo.With(t.Context())
	splitter := must(Tokens(TokenOptions{Size: 5, Overlap: -1}))
	doc := graphrag.Document{ID: "fram.md", Text: strings.Repeat("The Fram sailed. ", 20)}
	var all [][]graphrag.Chunk
	for i, name := range []string{"a", "a", "b", "", ""} {
		c := check.Of(New(Options{Splitter: counting{splitter, &n}, Name: name})).OK(t)
		all = append(all, check.Of(c.Document(ctx, doc)).OK(t))
		check.Equal(t, all[i][1:], all[0][1:])
		all[i][0].Text = "mine"
	}
	check.Equal(t, n, 4, "cut %d times, want once for a, for b, and for each without a name", n)
	doc.Title = "Fram"
	c := check.Of(New(Options{Splitter: counting{splitter, &n}, Name: "a"})).OK(t)
	chunks := check.Of(c.Document(ctx, doc)).OK(t)
	check.True(t, n == 5 && chunks[0].Title == "Fram" && chunks[0].Text != "mine", "another title is another document: %d, %+v", n, chunks[0])
	doc.Fields = graphrag.Fields{"team": "ops"}
	check.Equal(t, check.Of(c.Document(ctx, doc)).OK(t)[1].Fields, doc.Fields)
}

// must unwraps the result of a splitter that cannot fail.
func must[T any](s T, err error) T {
	if err != nil {
		panic(err)
	}
	return s
}

// splitters are splitters of all kinds, with sizes small enough to cut a short text.
func splitters() map[string]Splitter {
	return map[string]Splitter{
		"tokens":        must(Tokens(TokenOptions{Size: 7, Overlap: 2})),
		"few tokens":    must(Tokens(TokenOptions{Size: 3, Overlap: -1})),
		"single tokens": must(Tokens(TokenOptions{Size: 1, Overlap: -1})),
		"tokens 1200":   must(Tokens(TokenOptions{})),
		"sentences":     must(Sentences(SentenceOptions{MaxTokens: 12})),
		"one token":     must(Sentences(SentenceOptions{MaxTokens: 1})),
	}
}

// checkSpans checks the promises of the package comment.
func checkSpans(t *testing.T, name string, split Splitter, s string) []Span {
	t.Helper()
	spans := check.Of(split.Split(context.Background(), s)).OK(t, "%s: %q", name, s)
	blank := strings.TrimSpace(s) == ""
	check.Must(t, blank == (len(spans) == 0), "%s: %d spans of %q", name, len(spans), s)
	valid, end := utf8.ValidString(s), 0
	for i, p := range spans {
		check.Must(t, p.Start < p.End && p.Start <= end && p.End > end && p.End <= len(s) &&
			(i != 0 || p.Start == 0), "%s: %q: span %v after one that ends at %d", name, s, p, end)
		check.Must(t, p.Tokens >= 1, "%s: %q: %d tokens in %v", name, s, p.Tokens, p)
		check.Must(t, !valid || utf8.ValidString(s[p.Start:p.End]), "%s: %q: %v cuts a rune", name, s, p)
		end = p.End
	}
	check.Must(t, len(spans) == 0 || end == len(s), "%s: %q: the last span ends at %d", name, s, end)
	return spans
}

func TestSplittersCover(t *testing.T) {
	all := splitters()
	rng := rand.New(rand.NewPCG(9, 10))
	pieces := []string{"word", " ", "\n\n", "猫", "🏳️‍🌈", "e\u0301", "<|endoftext|>", "\x00", "\xff", "\xe7\x8c", "Dr. ", "end. ", "1234567", "...", "xyzzyqwv"}
	for name, split := range all {
		for _, s := range check.Tricky {
			checkSpans(t, name, split, s)
		}
		for range 400 {
			var b strings.Builder
			for range rng.IntN(40) {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			checkSpans(t, name, split, b.String())
		}
		checkSpans(t, name, split, strings.Repeat("a", 50_000))
		checkSpans(t, name, split, strings.Repeat("line without end ", 6_500))
		checkSpans(t, name, split, strings.Repeat(" ", 100_000)+"x"+strings.Repeat("\n", 100_000))
		checkSpans(t, name, split, strings.Repeat("\xff", 3_000))
	}
}

// TestWindows compares with windows computed from the definition.
func TestWindows(t *testing.T) {
	for n := 1; n <= 26; n++ {
		units := strings.Split("abcdefghijklmnopqrstuvwxyz"[:n], "") // a letter and the blank before it are one token
		s := strings.Join(units, " ")
		for size := 1; size <= 9; size++ {
			for overlap := range size {
				var want []string
				for i := 0; i == 0 || i+overlap < n; i += size - overlap {
					want = append(want, strings.Join(units[i:min(i+size, n)], " "))
				}
				var got []string
				split := must(Tokens(TokenOptions{Size: size, Overlap: cmp.Or(overlap, -1)}))
				for _, p := range checkSpans(t, "tokens", split, s) {
					got = append(got, strings.TrimSpace(s[p.Start:p.End]))
					check.Must(t, p.Tokens == len(strings.Fields(s[p.Start:p.End])),
						"%d tokens counted in %q", p.Tokens, s[p.Start:p.End])
				}
				check.Must(t, slices.Equal(want, got),
					"%d tokens, size %d, overlap %d: %q, want %q", n, size, overlap, got, want)
			}
		}
	}
}

func TestTokenWindows(t *testing.T) {
	// 3,000 words of one token each: windows begin at tokens 0, 1100 and 2200.
	s := "go" + strings.Repeat(" the", 2999)
	got := checkSpans(t, "tokens", must(Tokens(TokenOptions{})), s)
	want := []Span{{0, 2 + 4*1199, 1200}, {2 + 4*1099, 2 + 4*2299, 1200}, {2 + 4*2199, len(s), 800}}
	check.Equal(t, want, got, "windows %v, want", got)
	// A character of several tokens is never cut, and no window is empty.
	for _, p := range checkSpans(t, "runes", must(Tokens(TokenOptions{Size: 2, Overlap: 1})), "🦤🦤🦤") {
		check.True(t, p.Start%4 == 0 && p.End%4 == 0, "span %v cuts a dodo", p)
	}
}

func TestSentencePacking(t *testing.T) {
	s := "One two three. Four five six seven. Eight.\n\n# Heading\n\n" + strings.Repeat("long ", 30) + "end. Last one."
	var got []string
	for _, p := range checkSpans(t, "sentences", must(Sentences(SentenceOptions{MaxTokens: 12})), s) {
		check.True(t, p.Tokens <= 12, "%d tokens in %q", p.Tokens, s[p.Start:p.End])
		got = append(got, strings.TrimSpace(s[p.Start:p.End]))
	}
	want := []string{
		"One two three. Four five six seven. Eight.", "# Heading",
		strings.TrimSpace(strings.Repeat("long ", 12)), strings.TrimSpace(strings.Repeat("long ", 12)),
		"long long long long long long end. Last one.",
	}
	check.Equal(t, want, got, "sentences %q, want", got)
}

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		make func() (Splitter, error)
		want []string
	}{
		{func() (Splitter, error) { return Tokens(TokenOptions{Size: -5, Overlap: 3}) }, []string{"size is -5", "overlap is 3"}},
		{func() (Splitter, error) { return Tokens(TokenOptions{Size: 10, Overlap: 20}) }, []string{"overlap is 20", "size of 10"}},
		{func() (Splitter, error) { return Sentences(SentenceOptions{MaxTokens: -1}) }, []string{"MaxTokens is -1"}},
	} {
		split, err := tt.make()
		check.Must(t, err != nil && split == nil, "%v was accepted", tt.want)
		for _, part := range tt.want {
			check.Contains(t, err.Error(), part, "error %q does not name", err)
		}
	}
	check.True(t, check.Err(New(Options{Workers: -1})) != nil, "-1 workers were accepted")
}

func FuzzSplit(f *testing.F) {
	for _, s := range check.Tricky {
		f.Add(s)
	}
	all := splitters()
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 400 {
			return // a text cut into single tokens is counted span by span
		}
		for name, split := range all {
			checkSpans(t, name, split, s)
		}
	})
}

// A long text is not split to its end when the context is cancelled.
func TestSplitLooksAtTheContext(t *testing.T) {
	long := strings.Repeat("a word, and another one. ", 1<<18)
	for name, s := range map[string]Splitter{"tokens": must(Tokens(TokenOptions{})), "sentences": must(Sentences(SentenceOptions{}))} {
		ctx := check.NewCountdown(2)
		check.Is(t, check.Err(s.Split(ctx, long)), context.Canceled, "%s", name)
		n := ctx.Looks()
		check.Equal(t, n, 1, "%s: %d looks after the end of the context", name, n)
	}
}
