// SPDX-License-Identifier: Apache-2.0

package find_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// pages returns pages with the given texts, named a, b and so on.
func pages(texts ...string) *find.Pages {
	var chunks []graphrag.Chunk
	for i, t := range texts {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("%c#0", 'a'+i), Doc: string(rune('a' + i)), Text: t, End: len(t)})
	}
	return find.New(chunks)
}

// Lines are divided among the pages, with their places and the number of lines not shown.
func TestFind(t *testing.T) {
	p := pages("Fram\nno\nthe fram sails\nFRAM again", "nothing", "one Fram", "Fram 1\nFram 2\nFram 3\nFram 4\nFram 5")
	r := check.Of(p.Find(t.Context(), "fram", 5)).OK(t)
	var got []string
	for _, l := range r.Lines {
		got = append(got, fmt.Sprintf("%s:%d:%d-%d %s", l.Doc, l.Number, l.Start, l.End, l.Text))
	}
	want := []string{"d:1:0-6 Fram 1", "d:2:7-13 Fram 2", "a:1:0-4 Fram", "a:3:8-22 the fram sails", "c:1:0-8 one Fram"}
	diff := cmp.Diff(want, got)
	check.True(t, diff == "" && r.Matching == 9 && r.Pages == 3, "%d lines on %d pages\n%s", r.Matching, r.Pages, diff)
}

func TestPatterns(t *testing.T) {
	p := pages("a", "b")
	for _, tt := range []struct{ pattern, want string }{
		{"", "is empty"}, {"  ", "is empty"}, {"a(", "missing closing )"}, {"x*", "matches every line"}, {"(?:)", "matches every line"},
		{strings.Repeat("a", 1001), "1001 bytes"}, {"\xff", "invalid UTF-8"}, {`(a{1000}){1000}`, "repeat count"}, {"*", "missing argument"},
	} {
		_, err := p.Find(t.Context(), tt.pattern, 5)
		check.True(t, errors.Is(err, find.ErrPattern) && strings.Contains(err.Error(), tt.want), "%q: %v, want %q", tt.pattern, err, tt.want)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(p.Find(cancelled, "a", 1)), context.Canceled)
}

// Whatever text is searched first to skip pages, the result is that of the pattern alone, line by line: in
// words with letters that have three forms, in other scripts, in alternatives.
func TestFindIsRegexp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "A", "k", "K", "\u212a", "s", "S", "ſ", "é", "É", "и", "И", "京", "1", " ", "b", "\n", "\xff", "z", ".", "İ", "i"}
	patterns := []string{"ak", "ss", "a", "zb", "é", "Иb", "京1", `a.b`, `(ab|zk)`, `a+b?`, `\d`, `^a`, `b$`, `(?-i:A)b`, `[ab]z`, "a{2,3}", "1", "İ", "bi", "skz", "ks|zz", `1\.`, `(a|b|z|1|é|k|s|京|и)b`, "a\nb", `z(ab)+`, ".", `.ab\d`, `\wab[^b]`, "abz", "b1z", `1bz+`, `.?abz.`, "\\xff"}
	for range 300 {
		var text strings.Builder
		for range rng.IntN(80) {
			text.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		p := pages(text.String())
		for _, pattern := range patterns {
			re := regexp.MustCompile("(?i)" + pattern)
			var want []int
			for i, line := range strings.Split(text.String(), "\n") {
				if re.MatchString(line) && (line != "" || i < strings.Count(text.String(), "\n")) {
					want = append(want, i+1)
				}
			}
			r := check.Of(p.Find(t.Context(), pattern, 100)).OK(t)
			var got []int
			for _, l := range r.Lines {
				got = append(got, l.Number)
			}
			diff := cmp.Diff(want, got)
			check.Must(t, diff == "" && r.Matching == len(want), "%q in %q\n%s", pattern, text.String(), diff)
		}
	}
}

// Of a page that is one line of ten megabytes a part is shown, in linear time.
func TestOneLongLine(t *testing.T) {
	long := strings.Repeat("lorem ipsum ", 500_000) + "the Fram é" + strings.Repeat("日本", 700_000)
	p := pages(long)
	began := time.Now()
	r, err := p.Find(t.Context(), `f.am`, 5)
	check.Must(t, err == nil && r.Matching == 1, "%+v, %v", r, err)
	shown := r.Lines[0].Text
	check.True(t, len(shown) <= find.MaxLine && strings.Contains(strings.Trim(shown, "…"), "Fram"), "%q", shown)
	check.True(t, strings.HasPrefix(shown, "…") && strings.HasSuffix(shown, "…"), "no ellipses: %q", shown)
	row, err := pages("# Ships\n\n| Ship | Year |\n|---|---|\n| Fram | 1892 |\n").Find(t.Context(), "1892", 5)
	check.True(t, err == nil && row.Lines[0].Text == "| Ship | Year |\n| Fram | 1892 |", "a row of a table is shown as %+v, %v", row, err)
	read, n, err := p.Read("a", r.Lines[0].Index)
	check.True(t, err == nil && strings.Contains(read[0].Text, "the Fram") && len(read[0].Text) <= 1200 &&
		n >= 5000, "%q of %d passages, %v", read[0].Text, n, err)
	r, err = pages(strings.Repeat("OH H", 500_000)).Find(t.Context(), "hhh", 5)
	check.True(t, err == nil && r.Matching == 0, "in capitals: %+v, %v", r, err)
	took := time.Since(began)
	check.True(t, took <= 30*time.Second, "took %v", took)
}

// Pages are read by name, never by a path, and every passage can be read.
func TestRead(t *testing.T) {
	text := strings.Repeat("A sentence about the ice. ", 200) + strings.Repeat("Another line.\n", 300) + strings.Repeat("日本", 2000)
	p := pages(text, "")
	for _, name := range []string{"../a", "/etc/passwd", "a/../a", "", "A", "./a"} {
		_, _, err := p.Read(name, 0)
		check.Fails(t, err, "there is no page", "%q", name)
	}
	var all strings.Builder
	_, n, err := p.Read("a", 0)
	check.OK(t, err)
	for i := range n {
		read, _, err := p.Read("a", i)
		check.OK(t, err)
		var places []int
		for _, c := range read {
			places = append(places, c.Index)
			if text[c.Start:c.End] != c.Text || p.At("a", c.Start) != c.Index || p.At("a", c.End-1) != c.Index || !utf8.ValidString(c.Text) {
				t.Errorf("passage %d: %d to %d, passages %d and %d", c.Index, c.Start, c.End, p.At("a", c.Start), p.At("a", c.End-1))
			}
		}
		want := []int{i, i + 1, i - 1}
		if i == 0 {
			want = []int{0, 1}
		} else if i == n-1 {
			want = []int{i, i - 1}
		}
		check.Equal(t, places, want, "passage %d", i)
		all.WriteString(read[0].Text)
	}
	check.True(t, all.String() == text && n >= 15, "%d passages do not put the page together", n)
	for _, i := range []int{-5, 1 << 30} {
		read, _, err := p.Read("a", i)
		check.True(t, err == nil && len(read) == 2, "passage %d: %+v, %v", i, read, err)
	}
	read, n, err := p.Read("b", 0)
	check.True(t, err == nil && len(read) == 1 && read[0].Text == "" && n == 1, "%+v %d %v", read, n, err)
}

// Pages are restored from chunks that overlap and were cleaned.
func TestNew(t *testing.T) {
	page := strings.Repeat("The ship [Fram](http://x.org/fram) sailed in 1893 to the north.\n", 90)
	for name, clean := range map[string]func(string) (string, text.Mapping){"as it came": nil, "cleaned": text.StripLinks} {
		splitter := check.Of(chunk.Tokens(chunk.TokenOptions{Size: 60, Overlap: 15})).OK(t)
		o := chunk.Options{Splitter: splitter, Name: "test", Clean: clean}
		want := page
		if clean != nil {
			want, _ = clean(page)
		}
		c := check.Of(chunk.New(o)).OK(t)
		chunks, err := c.All(t.Context(), graphrag.Documents(graphrag.Document{ID: "fram", Text: page}))
		check.Must(t, err == nil && len(chunks) >= 10, "%d chunks, %v", len(chunks), err)
		if got := find.Text(find.New(chunks), 0); len(got) < len(want)*95/100 || len(got) > len(want)*105/100 || clean == nil && got != want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
		r, err := find.New(chunks).Find(t.Context(), "sailed in 1893", 5)
		check.True(t, err == nil && r.Matching >= 85 && r.Matching <= 95, "%s: %d lines of 90, %v", name, r.Matching, err)
	}
}
