// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

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
		{"no stop words", text.Options{NoStopWords: true}, "The running islands", "the run island"},
		{"none", text.Options{Language: text.None}, "The running islands 东京都", "the running islands 东京 京都"},
		{"no bigrams", text.Options{NoBigrams: true}, "东京都", "东京都"},
		{"french", text.Options{Language: text.French}, "L'homme qu'il a continué d'aimer", "homm continu aim"},
		{"spanish", text.Options{Language: text.Spanish}, "Las ciudades y los pueblos", "ciudad puebl"},
		{"russian", text.Options{Language: text.Russian}, "Война и мир в городах", "войн мир город"},
		{"both spellings of ё", text.Options{Language: text.Russian}, "актёр актёры актер объём ребёнок", "актер актер актер объ ребенок"},
		{"swedish", text.Options{Language: text.Swedish}, "Husen och vägarna", "hus väg"},
		{"norwegian", text.Options{Language: text.Norwegian}, "Husene og bilene", "hus bil"},
		{"digits are not stemmed", text.Options{}, "covid19s 1990s", "covid19s 1990s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := text.New(c.options)
			texttest.OK(t, err)
			if got := strings.Join(a.Terms(c.in), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
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
		if got, ok := a.Term(c.word); got != c.want || ok != c.ok {
			t.Errorf("Term(%q) = %q, %v; want %q, %v", c.word, got, ok, c.want, c.ok)
		}
	}
}

func TestNewRefusesUnknownLanguage(t *testing.T) {
	if _, err := text.New(text.Options{Language: "klingon"}); err == nil || !strings.Contains(err.Error(), "klingon") {
		t.Errorf("error %v, want one naming klingon", err)
	}
	if _, err := text.New(text.Options{Language: text.Each, Otherwise: text.Each}); err == nil || !strings.Contains(err.Error(), "each") {
		t.Errorf("error %v, want one naming each: a text that tells no language is in one", err)
	}
}

func TestNames(t *testing.T) {
	bare, err := text.New(text.Options{Language: text.French, NoStems: true, NoStopWords: true})
	texttest.OK(t, err)
	for a, want := range map[*text.Standard]string{
		text.Default(): "english", text.Plain(): "none, no bigrams, no marks", bare: "french, no stems, no stop words",
	} {
		if got := a.Name(); got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
	if first, again := text.Plain(), text.Plain(); first != again {
		t.Error("another plain analyzer each time")
	}
}

// No word, however odd, may break a stemmer.
func FuzzTerm(f *testing.F) {
	for _, s := range []string{"running", "yyyy", "ing", "'", "ñoñerías", "городами", "brødrenes", "oui-même", "a\xffs", "ies", "eed"} {
		f.Add(s)
	}
	var all []*text.Standard
	for _, l := range text.Languages() {
		a, err := text.New(text.Options{Language: l})
		texttest.OK(f, err)
		all = append(all, a)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range all {
			for _, term := range a.Terms(s) {
				if term == "" {
					t.Fatalf("%s: %q has an empty term", a.Name(), s)
				}
			}
			a.Term(s)
		}
	})
}

func BenchmarkTerm(b *testing.B) {
	a := text.Default()
	b.ReportAllocs()
	for b.Loop() {
		a.Term("generalizations")
	}
}

// Full and half width, composed and decomposed, and the zero of Chinese dates.
func TestFormsOfWordsMeet(t *testing.T) {
	for s, want := range map[string]string{
		"二〇〇八年": "二〇 〇〇 〇八 八年", "Ａｐｐｌｅ": "apple", "ｶﾀｶﾅ": "カタ タカ カナ", "ｶﾞｲﾄﾞ": "ガイ イド", "cafe\u0301 CAFE\u0301": "café café", "Å \u212b A\u030a": "å å å",
	} {
		if got := strings.Join(words(text.Default(), s), " "); got != want {
			t.Errorf("%q has the words %q, want %q", s, got, want)
		}
	}
	if a, b := text.FoldName("ｶﾞｲﾄﾞ"), text.FoldName("ガイド"); a != b {
		t.Errorf("names %q and %q", a, b)
	}
}
