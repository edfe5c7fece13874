// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/internal/check"
)

// must unwraps a splitter that cannot fail.
func must[T any](s T, err error) T {
	if err != nil {
		panic(err)
	}
	return s
}

// splitters are all kinds, in sizes small enough to cut a short text.
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

// checkSpans holds the promises of the package comment.
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

// TestWindows compares with windows written down directly from the definition.
func TestWindows(t *testing.T) {
	for n := 1; n <= 26; n++ {
		units := strings.Split("abcdefghijklmnopqrstuvwxyz"[:n], "") // each letter and the blank before it are one token
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
	// 3,000 words of one token each: windows begin at 0, 1100, 2200.
	s := "go" + strings.Repeat(" the", 2999)
	got := checkSpans(t, "tokens", must(Tokens(TokenOptions{})), s)
	want := []Span{{0, 2 + 4*1199, 1200}, {2 + 4*1099, 2 + 4*2299, 1200}, {2 + 4*2199, len(s), 800}}
	check.Equal(t, want, got, "windows %v, want", got)
	// A rune of several tokens is never cut, and no window is empty.
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
			return // what is cut into single tokens is counted span by span
		}
		for name, split := range all {
			checkSpans(t, name, split, s)
		}
	})
}

// One long text is not cut to its end when the work is cancelled.
func TestSplitLooksAtTheContext(t *testing.T) {
	long := strings.Repeat("a word, and another one. ", 1<<18)
	for name, s := range map[string]Splitter{"tokens": must(Tokens(TokenOptions{})), "sentences": must(Sentences(SentenceOptions{}))} {
		ctx := check.NewCountdown(2)
		check.Is(t, check.Err(s.Split(ctx, long)), context.Canceled, "%s", name)
		n := ctx.Looks()
		check.Equal(t, n, 1, "%s: %d looks after the end of the context", name, n)
	}
}
