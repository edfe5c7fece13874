// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"
)

var encodings = []Encoding{Cl100k, O200k}

// oracle returns where the tokens of s end according to the library.
func oracle(tb testing.TB, codec tokenizer.Codec, s string) []int32 {
	tb.Helper()
	_, tokens, err := codec.Encode(s)
	if err != nil {
		tb.Fatalf("%q: %v", s, err)
	}
	var ends []int32
	at := 0
	for _, token := range tokens {
		at += len(token)
		ends = append(ends, int32(at))
	}
	return ends
}

func differ(tb testing.TB, c *Counter, codec tokenizer.Codec, s string) {
	tb.Helper()
	want := oracle(tb, codec, s)
	if diff := cmp.Diff(want, c.appendEnds(nil, validated(s))); diff != "" {
		tb.Fatalf("%s: ends of the tokens of %.200q (-library +ours):\n%.2000s", codec.GetName(), s, diff)
	}
	if got := c.Count(s); got != len(want) {
		tb.Fatalf("%s: Count(%.200q) = %d, want %d", codec.GetName(), s, got, len(want))
	}
}

// tricky are texts at the edges of the split patterns.
var tricky = []string{
	"", " ", "  ", "\n", " \n", "\n ", " \n ", "a  b", "a \n b", "a\n\n  b", "\t\tx", "\r\n\r\nx", "x   ", "x \t\n\n\t y", "\u00a0\u00a0x", "\u2003 x", "\u0085\u0085y",
	"I'm he's WE'LL they'Ve 'S 'x 're'", "'s", "''s", "x'", "'ſ", "don't'd", "İ'S", "ǅungla", "ʰa", "ªº",
	"1234567", "12 345 6", "٣٤٥٦", "½ ²³", "Ⅷ", "3.14", "$1,000.00/year",
	"!!!\n\n", " !?\r\n/", "//\n//x", "a/b/c", "--- | --- |", "```go\nx := 1\n```", "#include <a>", "a_b __init__",
	"CamelCaseWord XMLHttpRequest iPhone McDonald ABCdef ABc", "HELLO'S World'S", "日本語テスト。カタカナ", "中文字符，标点！", "한국어 텍스트", "русский Текст", "Ελληνικά", "עברית", "العربية", "हिन्दी पाठ", "ไทย",
	"e\u0301a\u0301 \u0301x \u0301\u0301 A\u0301B !\u0301 1\u0301", "ÀÉÎ àéî ÀàÉé", "ﬁ ﬀ", "👨‍👩‍👧 🇩🇪 👍🏽", "𝒜𝓫𝟙 𐐀𐐨 \U00020000",
	"<|endoftext|> <|fim_prefix|> <|endofprompt|>", "\x00\x01\x7f", "\u200b\u200dx", "\ufeffbom", "\ufffd",
	"https://en.wikipedia.org/wiki/World_War_II?a=b&c=%20#d", "[x](https://a.b/c)\n\n* y", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"a\xffb", "\xff\xfe", "\xe4\xb8", "x\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80y",
	"antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis Donaudampfschifffahrtsgesellschaftskapitän",
	"QmFzZTY0IGVuY29kZWQgc3RyaW5nIHdpdGggbm8gc3BhY2VzIGF0IGFsbCwgd2hpY2ggaXMgbG9uZ2VyIHRoYW4gc2l4dHkgZm91ciBieXRlcw==",
}

func TestCounterEqualsLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	// Characters near the borders of the classes, and any at all.
	alphabet := []rune("aAbBsStTlLrRvVeEdDmM'’ \t\r\n\v\f/.,!?-_09½é\u0301Éßǅʰ中の\u00a0\u2003\u0085\u200b😀🏽\U00020000\ufffd")
	random := func(n int) string {
		var b strings.Builder
		for range n {
			if rng.IntN(8) == 0 {
				b.WriteRune(rune(rng.IntN(0x30000)))
			} else {
				b.WriteRune(alphabet[rng.IntN(len(alphabet))])
			}
		}
		return b.String()
	}
	for _, e := range encodings {
		c, err := NewCounter(e)
		if err != nil {
			t.Fatal(err)
		}
		codec, err := tokenizer.Get(tokenizer.Encoding(e))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tricky {
			differ(t, c, codec, s)
			differ(t, c, codec, strings.ToUpper(s)+" x "+s+s)
		}
		for range 1500 {
			differ(t, c, codec, random(rng.IntN(40)))
		}
		// Long pieces go through the heap.
		for _, unit := range []string{"a", "ab", "=", "-=", "é", "中", "0x", "xyzzy", "Aa", " ", "\n"} {
			differ(t, c, codec, strings.Repeat(unit, 700))
		}
		for range 30 {
			letters := make([]byte, 65+rng.IntN(300))
			for i := range letters {
				letters[i] = "abcdeiorstn"[rng.IntN(11)]
			}
			differ(t, c, codec, string(letters))
		}
	}
}

func TestCounterOnLongRuns(t *testing.T) {
	for _, e := range encodings {
		c, err := NewCounter(e)
		if err != nil {
			t.Fatal(err)
		}
		// The library needs quadratic time here; 8 letters are one token.
		if got, want := c.Count(strings.Repeat("a", 80_000)), 80_000/8; got != want {
			t.Errorf("%s: %d tokens in 80,000 letters, want %d", e, got, want)
		}
		for _, unit := range []string{" ", "\n", "!", "'s", " \n", "1"} {
			if got := c.Count(strings.Repeat(unit, 50_000)); got == 0 {
				t.Errorf("%s: no token in a run of %q", e, unit)
			}
		}
	}
}

func TestVocabularySizes(t *testing.T) {
	// Ranks without the special tokens, as published with tiktoken.
	for e, want := range map[Encoding]int{Cl100k: 100256, O200k: 199998} {
		v, err := vocabularyOf(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(v.at) - 1; got != want {
			t.Errorf("%s has %d tokens, want %d", e, got, want)
		}
	}
}

func FuzzCounter(f *testing.F) {
	for _, s := range tricky {
		f.Add(s)
	}
	var counters []*Counter
	var codecs []tokenizer.Codec
	for _, e := range encodings {
		codec, err := tokenizer.Get(tokenizer.Encoding(e))
		if err != nil {
			f.Fatal(err)
		}
		counters, codecs = append(counters, must(NewCounter(e))), append(codecs, codec)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 400 {
			return // the library is quadratic
		}
		for i, c := range counters {
			differ(t, c, codecs[i], s)
		}
	})
}

// realPages returns every n-th page of a WildGraphBench checkout.
func realPages(tb testing.TB, n int) []string {
	tb.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		tb.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "corpus", "*", "*", "reference_pages", "*.txt"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no pages in WILDGRAPHBENCH_DIR=%s: %v", dir, err)
	}
	slices.Sort(files)
	var pages []string
	for i := 0; i < len(files); i += n {
		b, err := os.ReadFile(files[i])
		if err != nil {
			tb.Fatal(err)
		}
		pages = append(pages, string(b))
	}
	return pages
}

func size(pages []string) (n int64) {
	for _, s := range pages {
		n += int64(len(s))
	}
	return n
}

// generated is prose with the letter statistics of nothing in particular: the
// text of benchmarks that need no data set.
func generated(n int) string {
	rng := rand.New(rand.NewPCG(7, 8))
	words := strings.Fields("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years much where your way down should because long each just state those people too mr how little good world make very year still see own work men day get here between both life being under three never know same last another while us might great go come since against right came take used himself few house use place during high without again home around small however found mrs part school thought went say general once upon war every don't does got united left number until always away something fact water less public put think almost hand enough far took head yet better government system 1945 2022 xylophonist Bloemfontein https://example.org/wiki/Page_1")
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[min(rng.IntN(len(words)), rng.IntN(len(words)))])
		if rng.IntN(12) == 0 {
			b.WriteString(".\n\n"[:1+rng.IntN(3)])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func TestCounterEqualsLibraryOnPages(t *testing.T) {
	step := 40
	if os.Getenv("WILDGRAPHBENCH_ALL") != "" {
		step = 1 // all pages: some seconds a megabyte
	}
	pages := realPages(t, step)
	for _, e := range encodings {
		c, err := NewCounter(e)
		if err != nil {
			t.Fatal(err)
		}
		codec, err := tokenizer.Get(tokenizer.Encoding(e))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range pages {
			differ(t, c, codec, s)
		}
	}
	t.Logf("%d pages, %d bytes", len(pages), size(pages))
}

func BenchmarkCount(b *testing.B) {
	run := func(b *testing.B, pages []string, count func(string) int) {
		b.SetBytes(size(pages))
		b.ReportAllocs()
		for b.Loop() {
			for _, s := range pages {
				count(s)
			}
		}
	}
	for _, e := range encodings {
		c, err := NewCounter(e)
		if err != nil {
			b.Fatal(err)
		}
		codec, err := tokenizer.Get(tokenizer.Encoding(e))
		if err != nil {
			b.Fatal(err)
		}
		text := []string{generated(1 << 20)}
		b.Run(string(e)+"/generated", func(b *testing.B) { run(b, text, c.Count) })
		b.Run(string(e)+"/pages", func(b *testing.B) { run(b, realPages(b, 30), c.Count) })
		b.Run(string(e)+"/library", func(b *testing.B) {
			run(b, realPages(b, 30), func(s string) int { n, _ := codec.Count(s); return n })
		})
	}
}
