// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func ExampleStripLinks() {
	s := "The [war](https://a.org/w) ended in 1945.[[7]](https://a.org/#n7)"
	clean, m := text.StripLinks(s)
	fmt.Println(clean)
	word := strings.Index(clean, "ended")
	fmt.Println(m.Source(word), s[m.Source(word):][:5])
	// Output:
	// The war ended in 1945.
	// 27 ended
}

func TestStripLinks(t *testing.T) {
	for _, c := range table(t, "links.txt") {
		if got, _ := text.StripLinks(c[0]); got != c[1] {
			t.Errorf("StripLinks(%q) = %q, want %q", c[0], got, c[1])
		}
		checkStrip(t, c[0])
	}
}

// checkStrip holds what must be true of every text.
func checkStrip(t *testing.T, s string) {
	t.Helper()
	clean, m := text.StripLinks(s)
	check.Must(t, len(clean) <= len(s), "%q became longer: %q", s, clean)
	last := -1
	for i := range len(clean) {
		at := m.Source(i)
		check.Must(t, at > last && at < len(s) && s[at] == clean[i], "%q: clean byte %d maps to %d after %d", s, i, at, last)
		last = at
	}
	p := m.Span(text.Span{Start: 0, End: len(clean)})
	check.Must(t, p.Start >= 0 && p.End <= len(s) && p.End-p.Start >= len(clean), "%q: the whole maps to %v", s, p)
}

func checkIdempotent(t *testing.T, s string) {
	t.Helper()
	clean, _ := text.StripLinks(s)
	again, _ := text.StripLinks(clean)
	check.Must(t, again == clean, "%q: stripped to %q, then to %q", s, clean, again)
}

func TestStripLinksProperties(t *testing.T) {
	pieces := []string{"[", "]", "(", ")", "](", "![", "<", ">", "http://", "www.", "a", "b", " ", "\n", "\\", "\"", "[1]", "(x)", "。", "\xff"}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var b strings.Builder
		for range rng.IntN(25) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		checkStrip(t, b.String())
		checkIdempotent(t, b.String())
	}
}

// Hostile text must not take quadratic time: these end in a blink or
// never.
func TestStripLinksHostile(t *testing.T) {
	for _, piece := range []string{"[", "]", "![", "[](", "[](<", "[a](u \"", "[a](u '", "[a](u (", "[a](u\\\"", "[a]( ", "](a", "<http://", "http://(", "www.", "\\", "[[1]](", "[a](b)"} {
		s := strings.Repeat(piece, 200_000)
		clean, m := text.StripLinks(s)
		n := len(clean)
		check.True(t, n <= 0 || m.Source(n-1) < len(s), "%q: last byte maps to %d", piece, m.Source(n-1))
	}
	deep := strings.Repeat("[", 100_000) + "x" + strings.Repeat("](u)", 100_000)
	clean, _ := text.StripLinks(deep)
	check.Equal(t, clean, "x", "nested links became")
}

func FuzzStripLinks(f *testing.F) {
	for _, s := range []string{"", "a [b](c) ![d](e) [[1]](f) <http://g> https://h", `[a](b "c") \[d](e`, "htt[p](x)://y"} {
		f.Add(s)
	}
	f.Fuzz(checkStrip)
}

func TestStripLinksOfPages(t *testing.T) {
	before, after := 0, 0
	for _, s := range check.Pages(t, 14) {
		checkStrip(t, s)
		checkIdempotent(t, s)
		clean, _ := text.StripLinks(s)
		before, after = before+len(s), after+len(clean)
	}
	share := 1 - float64(after)/float64(before)
	t.Logf("%.1f %% of %d bytes are links", 100*share, before)
	check.True(t, share >= 0.2 && share <= 0.5,
		"%.1f %% were stripped; about 36 %% of the pages sit in link targets", 100*share)
}

// A cleaner of one's own says what it kept.
func ExampleNewMapping() {
	source := "The <b>Moon</b> is small."
	kept := []text.Span{{0, 4}, {7, 11}, {15, 25}}
	var clean string
	for _, p := range kept {
		clean += p.In(source)
	}
	m := text.NewMapping(kept)
	at := strings.Index(clean, "Moon is")
	p := m.Span(text.Span{Start: at, End: at + len("Moon is")})
	fmt.Println(clean)
	fmt.Println(p.In(source))
	// Output:
	// The Moon is small.
	// Moon</b> is
}

// table reads the cases of a test: the texts of a line, as Go quotes them.
func table(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	for line := range strings.Lines(string(data)) {
		var row []string
		for _, quoted := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			in, fault := strconv.Unquote(quoted)
			row, err = append(row, in), errors.Join(err, fault)
		}
		rows = append(rows, row)
	}
	check.OK(t, err)
	return rows
}

func TestFoldName(t *testing.T) {
	for _, c := range table(t, "fold.txt") {
		if got := text.FoldName(c[0]); got != c[1] {
			t.Errorf("FoldName(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func FuzzFoldName(f *testing.F) {
	for _, s := range []string{"", "((a))", "( [x] )", "O’Neill\xff", "İstanbul", "J\u030C\u0301", "e\u0301\u0327", "\u212b\u1100\u1161", "a\u037e\u1fef", "\u200b\"q\"", "(()", "-(x)-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := text.FoldName(s)
		check.Must(t, utf8.ValidString(once), "FoldName(%q) = %q is not UTF-8", s, once)
		twice := text.FoldName(once)
		check.Must(t, twice == once, "FoldName(%q) = %q, folded again %q", s, once, twice)
	})
}

func TestPrintable(t *testing.T) {
	for _, c := range table(t, "printable.txt") {
		if got := text.Printable(c[0]); got != c[1] {
			t.Errorf("Printable(%q) = %q, want %q", c[0], got, c[1])
		}
		if got := text.OneLine(c[0]); got != c[2] {
			t.Errorf("OneLine(%q) = %q, want %q", c[0], got, c[2])
		}
	}
}

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		in    string
		bytes int
		want  string
	}{
		{"a whole title", 13, "a whole title"}, {"a whole title", 12, "a whole"}, {"a whole title", 7, "a whole"},
		{"unbroken", 4, ""}, {"", 0, ""}, {"é é é", 4, "é"}, {"中文　标题", 9, "中文"},
	} {
		check.Equal(t, text.Head(tt.in, tt.bytes), tt.want, "Head(%q, %d)", tt.in, tt.bytes)
	}
}

// What is encoded means what it meant, and shows nothing hidden.
func TestJSON(t *testing.T) {
	in := map[string]string{"a\u202eb": "\u009b2J\U000e0041 é\x1b\u2028 \u200d <中>"}
	var out strings.Builder
	check.OK(t, text.JSON(&out).Encode(in))
	want := `{"a\u202eb":"\u009b2J\udb40\udc41 é\u001b\u2028 ` + "\u200d" + ` <中>"}` + "\n"
	check.Equal(t, out.String(), want)
	var back map[string]string
	err := json.Unmarshal([]byte(out.String()), &back)
	check.True(t, err == nil && back["a\u202eb"] == in["a\u202eb"], "%q, %v", back, err)
}

func ExampleStandard_Terms() {
	const s = "Which islands did the typhoons cross in 2012?"
	fmt.Println(text.Default().Terms(s))
	fmt.Println(text.Plain().Terms(s))
	// Output:
	// [island typhoon cross 2012]
	// [which islands did the typhoons cross in 2012]
}

func ExampleStandard_Spans() {
	const s = "Typhoon Bolaven (2012)"
	text.Plain().Spans(s, func(word []byte, start, end int) {
		fmt.Printf("%s %d:%d %s\n", word, start, end, s[start:end])
	})
	// Output:
	// typhoon 0:7 Typhoon
	// bolaven 8:15 Bolaven
	// 2012 17:21 2012
}

func ExampleFoldName() {
	fmt.Println(text.FoldName("“The  Avengers”,"))
	fmt.Println(text.FoldName("the avengers"))
	// Output:
	// the avengers
	// the avengers
}
