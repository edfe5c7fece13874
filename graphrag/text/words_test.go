// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func words(a *text.Standard, s string) []string {
	var w []string
	a.Words(s, func(b []byte) bool { w = append(w, string(b)); return true })
	return w
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, in, plain, bigrams string }{
		{"empty", "", "", ""},
		{"separators only", " \t\n\x00.,_-–\u200b", "", ""},
		{"ascii", "The 2nd WORLD-war, snake_case!", "the 2nd world war snake case", "="},
		{"apostrophes", "O'Neill don't Trump’s", "o neill don t trump s", "="},
		{"accents", "ÉCOLE naïve Straße", "école naïve straße", "école naïve strasse"},
		{"sharp s in upper case", "STRASSE STRAẞE", "strasse straße", "strasse strasse"},
		{"sigma at the end", "ΟΔΟΣ οδος", "οδοσ οδος", "οδοσ οδοσ"},
		{"full width", "Ｔｏｋｙｏ２０２０", "ｔｏｋｙｏ２０２０", "tokyo2020"},
		{"composed and not", "Café CAFE\u0301", "café cafe", "café café"},
		{"compatible but not the same", "x² ½ ﬁ", "x² ½ ﬁ", "="},
		{"decomposed accent", "cafe\u0301s", "cafe s", "cafés"},
		{"devanagari", "हिन्दी में", "ह न द म", "हिन्दी में"},
		{"cyrillic", "Война и МИР", "война и мир", "="},
		{"arabic with marks", "السَّلامُ عليكم", "الس لام عليكم", "السَّلامُ عليكم"},
		{"kelvin sign", "300\u212a", "300k", "="},
		{"soft hyphen and joiners", "infor\u00admation می\u200cخواهم", "infor mation می خواهم", "information میخواهم"},
		{"lone marks and joiners", "\u0301 \u00ad a", "a", "="},
		{"invalid UTF-8", "ab\xffcd \xc3(", "ab cd", "="},
		{"replacement character", "ab\ufffdcd", "ab cd", "="},
		{"NUL", "ab\x00cd", "ab cd", "="},
		{"beyond the basic plane", "𐐀𐐁 x😀y", "𐐨𐐩 x y", "="},
		{"han", "东京都", "东京都", "东京 京都"},
		{"one han", "年", "年", "年"},
		{"two runs of han", "年。东京", "年 东京", "="},
		{"han beyond the basic plane", "𠀀𠀁𠀂", "𠀀𠀁𠀂", "𠀀𠀁 𠀁𠀂"},
		{"scripts mixed", "iPhone版2012年东京", "iphone版2012年东京", "iphone 版 2012 年东 东京"},
		{"katakana with long vowel", "コーヒー", "コーヒー", "コー ーヒ ヒー"},
		{"hangul", "서울은", "서울은", "서울 울은"},
		{"thai keeps marks with their base", "ที่นี่", "ท น", "ที่นี่"},
		{"thai", "กรุง", "กร ง", "กรุ รุง"},
		{"mark after a blank in thai", "ก ิข", "ก ข", "="},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(words(text.Plain(), c.in), " "); got != c.plain {
				t.Errorf("plain: got %q, want %q", got, c.plain)
			}
			want := c.bigrams
			if want == "=" {
				want = c.plain
			}
			if got := strings.Join(words(text.Default(), c.in), " "); got != want {
				t.Errorf("default: got %q, want %q", got, want)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	const in = "«Été» 东京都 don't"
	var got []string
	text.Default().Spans(in, func(w []byte, start, end int) {
		got = append(got, string(w)+"="+in[start:end])
	})
	want := []string{"été=Été", "东京=东京", "京都=京都", "don=don", "t=t"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Words of a language must survive being read again, or the terms of an index
// would not be found by its own words.
func TestLowerCaseIsStable(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			continue
		}
		first := words(text.Plain(), string(r))
		if len(first) != 1 {
			t.Fatalf("%U: %d words, want 1", r, len(first))
		}
		if again := words(text.Plain(), first[0]); !cmp.Equal(first, again) {
			t.Fatalf("%U: %q read again is %q", r, first, again)
		}
	}
}

func TestWordsAllocateNothing(t *testing.T) {
	a := text.Default()
	page := strings.Repeat("The quick brown Füchse jump 东京都 over it. ", 50)
	n := 0
	count := func([]byte) bool { n++; return true }
	a.Words(page, count)
	least := math.Inf(1) // under the race detector, pools lose things at random
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() { a.Words(page, count) }))
	}
	if least > 0 {
		t.Errorf("%v allocations per scan", least)
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"", "The quick, brown fox's 2nd_jump", "東京都のiPhone版2012年", "ที่นี่ กรุงเทพ", "a\xffb\x00c\xc3", "e\u0301\u00ad\u200d x",
		"हिन्दी\u200cमें", "𠀀𠀁\u0301𠀂𐐀", "\u0e34\u0e34ก", "İıſK",
	} {
		f.Add(s)
	}
	plain, bigrams := text.Plain(), text.Default()
	f.Fuzz(func(t *testing.T, s string) {
		checkSpans(t, plain, s, false)
		checkSpans(t, bigrams, s, true)
		for _, w := range words(plain, s) {
			if again := words(plain, w); len(again) != 1 || again[0] != w {
				t.Fatalf("word %q read again is %q", w, again)
			}
		}
	})
}

func checkSpans(t *testing.T, a *text.Standard, s string, overlap bool) {
	t.Helper()
	var spelt []string
	lastStart, lastEnd := -1, 0
	a.Spans(s, func(w []byte, start, end int) {
		spelt = append(spelt, string(w))
		switch {
		case start < 0 || end > len(s) || start >= end:
			t.Fatalf("span %d:%d outside %d bytes", start, end, len(s))
		case start <= lastStart || end <= lastEnd:
			t.Fatalf("span %d:%d does not follow %d:%d", start, end, lastStart, lastEnd)
		case start < lastEnd && !overlap:
			t.Fatalf("span %d:%d overlaps %d:%d", start, end, lastStart, lastEnd)
		case len(w) == 0 || !utf8.Valid(w):
			t.Fatalf("word %q", w)
		}
		if got := words(a, s[start:end]); len(got) != 1 || got[0] != string(w) {
			t.Fatalf("span %q alone gives %q, not %q", s[start:end], got, w)
		}
		lastStart, lastEnd = start, end
	})
	if got := words(a, s); !cmp.Equal(got, spelt) {
		t.Fatalf("Words %q and Spans %q differ", got, spelt)
	}
}

func BenchmarkWords(b *testing.B) {
	english := strings.Repeat("The Typhoon's eye-wall passed over 2 islands, said (again) the agency. ", 1000)
	mixed := strings.Repeat("Naïve cafés près de Zürich; Война и мир, 東京都 2012年. ", 1000)
	for _, in := range []struct{ name, s string }{{"english", english}, {"mixed", mixed}} {
		b.Run(in.name, func(b *testing.B) {
			a := text.Default()
			n := 0
			count := func([]byte) bool { n++; return true }
			b.SetBytes(int64(len(in.s)))
			b.ReportAllocs()
			for b.Loop() {
				a.Words(in.s, count)
			}
		})
	}
}
