// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func words(a *text.Standard, s string) []string {
	var w []string
	a.Words(s, func(b []byte) bool { w = append(w, string(b)); return true })
	return w
}

func TestWords(t *testing.T) {
	for _, c := range table(t, "words.txt") {
		name, in, plain, want := c[0], c[1], c[2], c[3]
		t.Run(name, func(t *testing.T) {
			check.Equal(t, strings.Join(words(text.Plain(), in), " "), plain, "plain: got")
			if want == "=" {
				want = plain
			}
			check.Equal(t, strings.Join(words(text.Default(), in), " "), want, "default: got")
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
	check.Equal(t, got, want)
}

// Words of a language must survive being read again, or the terms of an index
// would not be found by its own words.
func TestLowerCaseIsStable(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			continue
		}
		first := words(text.Plain(), string(r))
		check.Must(t, len(first) == 1, "%U: %d words, want 1", r, len(first))
		again := words(text.Plain(), first[0])
		check.Must(t, cmp.Equal(first, again), "%U: %q read again is %q", r, first, again)
	}
}

func TestWordsAllocateNothing(t *testing.T) {
	a := text.Default()
	page := strings.Repeat("The quick brown Füchse jump 东京都 over it. ", 50)
	n := 0
	count := func([]byte) bool { n++; return true }
	a.Words(page, count)
	least := math.Inf(1) // the least of several runs: under the race detector pools lose values at random
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() { a.Words(page, count) }))
	}
	check.True(t, least <= 0, "%v allocations per scan", least)
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
			again := words(plain, w)
			check.Must(t, len(again) == 1 && again[0] == w, "word %q read again is %q", w, again)
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
	got := words(a, s)
	check.Must(t, cmp.Equal(got, spelt), "Words %q and Spans %q differ", got, spelt)
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name    string
		options text.Options
		in      string
		want    string
	}{
		{"default", text.Options{}, "Which typhoons were passing over the islands in 2012?", "typhoon pass island 2012"},
		{"contractions", text.Options{}, "Don't say it's O'Neill's", "say o neill"},
		{"no stems", text.Options{NoStems: true}, "The running islands", "running islands"},
		{"none", text.Options{Language: text.None}, "The running islands 东京都", "the running islands 东京 京都"},
		{"french", text.Options{Language: text.French}, "L'homme qu'il a continué d'aimer", "homm continu aim"},
		{"spanish", text.Options{Language: text.Spanish}, "Las ciudades y los pueblos", "ciudad puebl"},
		{"russian", text.Options{Language: text.Russian}, "Война и мир в городах", "войн мир город"},
		{"both spellings of ё", text.Options{Language: text.Russian}, "актёр актёры актер объём ребёнок", "актер актер актер объ ребенок"},
		{"swedish", text.Options{Language: text.Swedish}, "Husen och vägarna", "hus väg"},
		{"norwegian", text.Options{Language: text.Norwegian}, "Husene og bilene", "hus bil"},
		{"three letters keep their double", text.Options{}, "add adds added adding egged erring inning", "add add add add egg err inning"},
		{"digits are not stemmed", text.Options{}, "covid19s 1990s", "covid19s 1990s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check.Equal(t, strings.Join(check.Of(text.New(c.options)).OK(t).Terms(c.in), " "), c.want)
		})
	}
}

func TestTerm(t *testing.T) {
	a := text.Default()
	long := strings.Repeat("running", 20)
	for _, c := range []struct {
		word, want string
		ok         bool
	}{
		{"running", "run", true}, {"the", "", false}, {"", "", false}, {"don", "", false}, {long, long, true}, {"東京", "東京", true},
	} {
		got, ok := a.Term(c.word)
		check.True(t, got == c.want && ok == c.ok, "Term(%q) = %q, %v; want %q, %v", c.word, got, ok, c.want, c.ok)
	}
}

func TestNewRefusesUnknownLanguage(t *testing.T) {
	_, err := text.New(text.Options{Language: "klingon"})
	check.True(t, err != nil && strings.Contains(err.Error(), "klingon"), "error %v, want one naming klingon", err)
	_, err = text.New(text.Options{Language: text.Each, Otherwise: text.Each})
	check.True(t, err != nil && strings.Contains(err.Error(), "each"), "error %v, want one naming each: a text that tells no language is in one", err)
}

func TestNames(t *testing.T) {
	bare := check.Of(text.New(text.Options{Language: text.French, NoStems: true})).OK(t)
	for a, want := range map[*text.Standard]string{
		text.Default(): "english", text.Plain(): "none, no bigrams, no marks", bare: "french, no stems",
	} {
		check.Equal(t, a.Name(), want, "name")
	}
	first, again := text.Plain(), text.Plain()
	check.True(t, first == again, "another plain analyzer each time")
}

// No word, however strange, makes a stemmer fail.
func FuzzTerm(f *testing.F) {
	for _, s := range []string{"running", "yyyy", "ing", "'", "ñoñerías", "городами", "brødrenes", "oui-même", "a\xffs", "ies", "eed"} {
		f.Add(s)
	}
	var all []*text.Standard
	for _, l := range []text.Language{text.English, text.German, text.French, text.Spanish, text.Italian, text.Portuguese, text.Dutch, text.Swedish,
		text.Norwegian, text.Russian, text.Chinese, text.Japanese, text.None} {
		a := check.Of(text.New(text.Options{Language: l})).OK(f)
		all = append(all, a)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range all {
			for _, term := range a.Terms(s) {
				check.Must(t, term != "", "%s: %q has an empty term", a.Name(), s)
			}
			a.Term(s)
		}
	})
}

// Full and half width, composed and decomposed letters, and the zero in Chinese dates.
func TestFormsOfWordsMeet(t *testing.T) {
	for s, want := range map[string]string{
		"二〇〇八年": "二〇 〇〇 〇八 八年", "Ａｐｐｌｅ": "apple", "ｶﾀｶﾅ": "カタ タカ カナ", "ｶﾞｲﾄﾞ": "ガイ イド", "cafe\u0301 CAFE\u0301": "café café", "Å \u212b A\u030a": "å å å",
	} {
		check.Equal(t, strings.Join(words(text.Default(), s), " "), want, "%q has the words", s)
	}
	a, b := text.FoldName("ｶﾞｲﾄﾞ"), text.FoldName("ガイド")
	check.Equal(t, a, b, "names %q and %q", a, b)
}

// Stems are the same whoever asked before, and for what.
func TestStemsAreRemembered(t *testing.T) {
	a := text.Default()
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 30_000 {
				word := fmt.Sprintf("%cun%cingly", 'a'+rune((i*g)%26), 'a'+rune(i/26%26))
				env := snowballstem.NewEnv(word)
				english.Stem(env)
				if got, _ := a.Term(word); got != env.Current() {
					t.Errorf("the stem of %s is %s", word, got)
					return
				}
			}
		})
	}
	wait.Wait()
}

// Sentences of about eight words, questions, and texts that belong to no language.
func TestLanguageOf(t *testing.T) {
	for _, row := range check.Rows(t, "testdata/languages.txt") {
		check.Equal(t, string(text.LanguageOf(row[0])), row[1], "%q", row[0])
	}
}
