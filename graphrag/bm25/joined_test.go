// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Groups of documents score as an index of the texts that they make: terms that are
// listed and in columns, more often than a byte holds, or in no group; documents that
// are in several groups, or twice in one; groups of none, and none at all.
func TestJoined(t *testing.T) {
	words := strings.Fields("the of ship ships sailed Antarctica Gjøa Nansen's 漢字 漢字かな 東 U.S. 1911 frozen ice e\u0301te\u0301")
	rnd := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 9000 { // two windows
		var b []string
		for range rnd.IntN(12) {
			b = append(b, words[min(rnd.IntN(len(words)), rnd.IntN(len(words)))])
		}
		texts = append(texts, strings.Join(b, " "))
	}
	texts[7] = strings.Repeat("ice ", 300)
	queries := []string{"", "the ice of the ships", "漢字 ship nowhere", "frozen Antarctica 1911 the ice U.S.A. 字か", "été", "nowhere"}
	for _, o := range []bm25.Options{{}, {K1: 4, B: .3, Analyzer: text.Plain()}, {B: bm25.Zero}} {
		ix, err := bm25.BuildTexts(t.Context(), texts, o)
		texttest.OK(t, err)
		for size := range 60 {
			var groups [][]int32
			var joined []string
			for range size {
				var group []int32
				var parts []string
				for range rnd.IntN(4) {
					doc := int32(rnd.IntN(len(texts)))
					if rnd.IntN(9) == 0 {
						doc = 7
					}
					group, parts = append(group, doc), append(parts, texts[doc])
				}
				groups, joined = append(groups, group), append(joined, strings.Join(parts, " "))
			}
			alone, err := bm25.BuildTexts(t.Context(), joined, o)
			texttest.OK(t, err)
			for _, q := range queries {
				got, whole := ix.Joined(q, groups, nil)
				if want := alone.Scores(q, nil); !slices.Equal(got, want) || whole != alone.Whole(q) {
					t.Fatalf("%d groups, %q: %v of %v, want %v of %v", size, q, got, whole, want, alone.Whole(q))
				}
			}
		}
	}
}

func TestLike(t *testing.T) {
	index := func(o bm25.Options, texts ...string) *bm25.Index {
		ix, err := bm25.BuildTexts(t.Context(), texts, o)
		texttest.OK(t, err)
		return ix
	}
	ix := index(bm25.Options{}, "ice")
	for _, c := range []struct {
		o    bm25.Options
		like bool
	}{{bm25.Options{}, true}, {bm25.Options{K1: 2}, false}, {bm25.Options{Analyzer: text.Plain()}, false}} {
		if like := ix.Like(index(c.o, "frozen", "ships")); like != c.like {
			t.Errorf("%+v: %v", c.o, like)
		}
	}
}
