// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestBuildRefusesOptions(t *testing.T) {
	_, err := bm25.BuildTexts(t.Context(), nil, bm25.Options{K1: -1, B: 1.5, TitleWeight: -2})
	for _, want := range []string{"K1 is -1", "B is 1.5", "TitleWeight is -2"} {
		check.True(t, err != nil && strings.Contains(err.Error(), want), "error %v does not say %q", err, want)
	}
	for _, o := range []bm25.Options{{K1: math.NaN()}, {K1: math.Inf(1)}, {B: math.NaN()}, {B: -1}, {TitleWeight: 1 << 30}} {
		check.True(t, check.Err(bm25.BuildTexts(t.Context(), nil, o)) != nil, "no error for %+v", o)
	}
}

func TestBuildStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, texts := range [][]string{nil, {"a", "b"}} {
		_, err := bm25.BuildTexts(ctx, texts, bm25.Options{})
		check.Is(t, err, context.Canceled, "%d texts: error %v, want context.Canceled", len(texts), err)
	}
}

func TestTitleCountsAsText(t *testing.T) {
	titled := []graphrag.Chunk{{Title: "Typhoon list", Text: "some words"}, {Text: "other words of a longer text"}}
	written := []string{"some words typhoon list typhoon list", "other words of a longer text"}
	o := bm25.Plain()
	b := check.Of(bm25.BuildTexts(t.Context(), written, o)).OK(t)
	o.TitleWeight = 2
	a := check.Of(bm25.Build(t.Context(), titled, o)).OK(t)
	for _, q := range []string{"typhoon", "words", "text list"} {
		ra, rb := a.Search(q, 5, nil), b.Search(q, 5, nil)
		check.True(t, len(ra) == len(rb) && ra[0] == rb[0], "%s: titled %v, written out %v", q, ra, rb)
	}
}

func TestHostileTexts(t *testing.T) {
	texts := []string{"", "\x00\xff\xfe", strings.Repeat("a", 110_000), strings.Repeat("spam ", 400_000), "東京都", "needle in text"}
	for _, o := range []bm25.Options{{}, bm25.Plain()} {
		ix := check.Of(bm25.BuildTexts(t.Context(), texts, o)).OK(t)
		for q, want := range map[string]int32{"needle": 5, "spam": 3, texts[2]: 2, "東京都": 4} {
			if got := ix.Search(q, 10, nil); len(got) != 1 || got[0].ID != want {
				t.Errorf("search of %.20q: %v, want document %d", q, got, want)
			}
		}
		for _, q := range []string{"", "\x00", "\xff\xfe", "unknown"} {
			got := ix.Search(q, 10, nil)
			check.True(t, len(got) == 0, "search of %q: %v, want nothing", q, got)
		}
	}
}

// counted counts the words that are read.
type counted struct {
	*text.Standard
	read *atomic.Int64
}

func (c counted) Words(s string, yield func([]byte) bool) {
	c.Standard.Words(s, func(word []byte) bool { c.read.Add(1); return yield(word) })
}

// One long text is not read to its end when the work is cancelled, nor are those
// after it.
func TestBuildLooksAtTheContext(t *testing.T) {
	const wordsOfOne = 1 << 18
	long := strings.Repeat("tidal basin ", wordsOfOne/2)
	for name, texts := range map[string][]string{"one": {long}, "two": {long, long}} {
		words := counted{text.Default(), new(atomic.Int64)}
		check.Is(t, check.Err(bm25.BuildTexts(check.NewCountdown(6), texts, bm25.Options{Analyzer: words})), context.Canceled, "%s", name)
		n := words.read.Load()
		check.True(t, n <= wordsOfOne/2, "%s: %d words were read", name, n)
	}
}

func Example() {
	ctx := context.Background()
	texts := []string{
		"Typhoon Bolaven crossed the islands in August.",
		"Few buildings were damaged by the typhoon.",
		"The World Cup was played in Qatar.",
	}
	ix, err := bm25.BuildTexts(ctx, texts, bm25.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, found := range ix.Search("Which building did a typhoon damage?", 2, nil) {
		fmt.Printf("%.2f %s\n", found.Score, texts[found.ID])
	}
	// Output:
	// 2.71 Few buildings were damaged by the typhoon.
	// 0.43 Typhoon Bolaven crossed the islands in August.
}

// syllables is an analyzer of one's own, for a language whose words are written
// with a dot between the syllables.
type syllables struct{}

func (syllables) Words(s string, yield func(word []byte) bool) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == '·' || r == ' ' }) {
		if !yield([]byte(w)) {
			return
		}
	}
}

func (syllables) Term(word string) (term string, ok bool) { return word, word != "na" }

func (syllables) Name() string { return "syllables" }

// Any text.Analyzer makes the words of texts and queries.
func ExampleOptions_analyzer() {
	ix, err := bm25.BuildTexts(context.Background(), []string{"lo·mi·na", "ka·na"}, bm25.Options{Analyzer: syllables{}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range ix.Search("mi·ka·na mi", 2, nil) {
		fmt.Println("document", r.ID)
	}
	// Output:
	// document 0
	// document 1
}

// Indexes that are searched as one give the scores of one index. What is replaced is
// hidden until the indexes are merged.
func ExampleCollection() {
	ctx := context.Background()
	old, err := bm25.BuildTexts(ctx, []string{"The Fram lies in Oslo.", "Oslo has a harbour."}, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fresh, err := bm25.BuildTexts(ctx, []string{"The Fram lies in a museum in Oslo."}, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	all, err := bm25.NewCollection(old, fresh)
	if err != nil {
		log.Fatal(err)
	}
	valid := func(part int, doc int32) bool { return part != 0 || doc != 0 }
	for _, f := range all.Search("Where in Oslo is the Fram?", 3, valid, nil) {
		fmt.Printf("document %d of index %d: %.2f\n", f.Doc, f.Part, f.Score)
	}
	// Output:
	// document 0 of index 1: 0.53
	// document 1 of index 0: 0.15
}
