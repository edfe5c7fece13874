// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"context"
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
			if got := ix.Search(q, 10, nil); len(got) != 0 {
				t.Errorf("search of %q: %v, want nothing", q, got)
			}
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
