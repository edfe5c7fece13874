// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// checkStrip checks what must be true of every text.
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

// Hostile texts that would take quadratic time are read in linear time.
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

// A cleaner of the caller describes what it kept.
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

// table reads test cases: each line has texts as quoted Go strings.
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

func TestVocabulary(t *testing.T) {
	v := new(text.Vocabulary)
	for round := range 2 {
		for i := range 5000 {
			id, added := v.Add(fmt.Appendf(nil, "word%d", i))
			check.Must(t, id == i && added == (round == 0), "Add(word%d) = %d, %v", i, id, added)
		}
	}
	check.Equal(t, v.Find([]byte("word77")), 77, "Find(word77)")
	id := v.Find([]byte("word"))
	check.Equal(t, id, -1, "Find(word) = %d, which was not added", id)
	check.Equal(t, string(v.At(77)), "word77", "At(77)")
	id, added := v.Add(nil)
	check.True(t, id == 5000 && added && v.Len() == 5001, "Add of the empty word = %d, %v", id, added)
}

// Words that differ in one byte, or in zeros at their ends, are different, whatever their length and whatever
// follows them.
func TestVocabularyTellsApart(t *testing.T) {
	v := new(text.Vocabulary)
	seen := map[string]int{}
	for n := range 40 {
		for at := range n + 1 {
			for _, c := range []byte{0, 1, 'b'} {
				room := bytes.Repeat([]byte("abcdefgh"), 6)
				if word := room[:n]; at < n {
					word[at] = c
				}
				word := room[:n:min(len(room), n+at)]
				want, known := seen[string(word)]
				if !known {
					want = len(seen)
					seen[string(word)] = want
				}
				if got := v.Find(word); known && got != want || !known && got != -1 {
					t.Fatalf("%q is found as %d, want %d", word, got, want)
				}
				if got, added := v.Add(word); got != want || added == known || string(v.At(got)) != string(word) {
					t.Fatalf("%q is added as %d, want %d", word, got, want)
				}
			}
		}
	}
}

func TestAddAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	word := func() []byte {
		w := make([]byte, rng.IntN(20))
		for i := range w {
			w[i] = "ab"[rng.IntN(2)]
		}
		return w
	}
	for _, size := range []int{0, 1, 40, 5000} {
		one, both, other := new(text.Vocabulary), new(text.Vocabulary), new(text.Vocabulary)
		for range 1000 {
			w := word()
			one.Add(w)
			both.Add(w)
		}
		for range size {
			other.Add(word())
		}
		for i, number := range both.AddAll(other) {
			if want, _ := one.Add(other.At(i)); int(number) != want {
				t.Fatalf("%q got the number %d, want %d", other.At(i), number, want)
			}
		}
		var mapped text.Vocabulary
		mapped.Map([]byte("aback"), []int{1, 5})
		number, want := both.AddAll(&mapped), []int{one.Find([]byte("a")), one.Len()}
		check.True(t, int(number[0]) == want[0] && int(number[1]) == want[1], "of a sorted vocabulary: %d, want %d", number, want)
		one.Add([]byte("back"))
		check.Equal(t, one.Len(), both.Len(), "%d strings, want", both.Len())
		for i := range one.Len() {
			if string(both.At(i)) != string(one.At(i)) || both.Find(one.At(i)) != i {
				t.Fatalf("string %d is %q, want %q", i, both.At(i), one.At(i))
			}
		}
	}
}

func numbers(n *text.Numbering, s string) (out []int32) {
	for _, w := range strings.Fields(s) {
		out = append(out, n.Number([]byte(w)))
	}
	return out
}

func TestNumbering(t *testing.T) {
	n := new(text.Vocabulary).Numbering(text.Default())
	check.Equal(t, fmt.Sprint(numbers(n, "the islands of island people run running the")), "[-1 0 -1 0 1 2 2 -1]", "numbers")
	check.True(t, n.Terms().Len() == 3 && string(n.Terms().At(1)) == "peopl", "%d terms, the second %q", n.Terms().Len(), n.Terms().At(1))
	lookup := n.Terms().Lookup(text.Default())
	for range 2 {
		check.Equal(t, fmt.Sprint(numbers(lookup, "runs the unknown islands unknown")), "[2 -1 -1 0 -1]", "looked up")
		lookup.Trim(1)
	}
	n.Trim(7)
	check.Equal(t, n.Terms().Len(), 3, "trimmed although it is small enough")
	n.Trim(6)
	got := fmt.Sprint(numbers(n, "people people"))
	check.True(t, got == "[0 0]" && n.Terms().Len() == 1, "after it was trimmed: %v", got)
}

// other is an analyzer other than the package's.
type other struct{ *text.Standard }

// A text gets the same word numbers as its words one by one, whatever their lengths and number.
func TestNumberingOfTexts(t *testing.T) {
	var long strings.Builder
	for i := range 700 {
		fmt.Fprintf(&long, "The word%d of %s, Čapek’s naïve %s; 東京都 runs ", i*i%97, strings.Repeat("ab", i%9), strings.Repeat("x", i%40))
	}
	for _, a := range []text.Analyzer{text.Default(), text.Plain(), other{text.Default()}} {
		one, all := new(text.Vocabulary).Numbering(a), new(text.Vocabulary).Numbering(a)
		for _, s := range []string{"", "a", long.String()[:900], long.String(), "the islands run", long.String()[200:]} {
			var want, got []int32
			a.Words(s, func(word []byte) bool {
				want = append(want, one.Number(word))
				return true
			})
			all.Text(s, func(numbers []int32) bool {
				got = append(got, numbers...)
				return true
			})
			check.Must(t, slices.Equal(got, want), "%s: %d words: %v, want %v", a.Name(), len(want), got, want)
			if one.Terms().Len() != all.Terms().Len() {
				t.Fatalf("%s: %d terms, want %d", a.Name(), all.Terms().Len(), one.Terms().Len())
			}
		}
		calls := 0
		all.Text(long.String(), func([]int32) bool {
			calls++
			return calls < 3
		})
		check.True(t, calls == 3, "%s: it went on %d times", a.Name(), calls-3)
		all.Text("islands", func(numbers []int32) bool {
			check.True(t, len(numbers) == 1,
				"%s: %d words of one, after a text that was not read to its end", a.Name(), len(numbers))
			return true
		})
	}
}

func TestList(t *testing.T) {
	want := []string{"a", "b", "c"}
	made := text.NewList(len(want), func(i int) string { return string(rune('a' + i)) })
	for _, l := range []text.List{text.Strings(want), made} {
		got := slices.Collect(l.All())
		check.True(t, l.Len() == 3 && l.At(2) == "c" && slices.Equal(got, want), "%d texts, %v", l.Len(), got)
		for range l.All() {
			break
		}
	}
	none := (text.List{})
	check.True(t, none.Len() == 0 && slices.Collect(none.All()) == nil, "texts in an empty list")
}
