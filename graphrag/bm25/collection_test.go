// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// uneven are the texts of parts that differ in number and in length, some of them in
// several parts.
func uneven(rng *rand.Rand, sizes []int) (parts [][]string) {
	same := randomWords(rng, 12, 500, 0)
	for i, n := range sizes {
		texts := make([]string, n)
		for d := range texts {
			if texts[d] = same; rng.IntN(30) > 0 {
				texts[d] = randomWords(rng, rng.IntN(4+40*(i%3)), 6000, rng.IntN(60))
			}
		}
		if n > 40 {
			texts[33] += strings.Repeat(" w3", 260+i)
		}
		parts = append(parts, texts)
	}
	return parts
}

// A collection finds what the index finds that its parts are merged into, in the same
// order and with the same scores to the bit, with a condition and without.
func TestCollection(t *testing.T) {
	for seed, sizes := range [][]int{{700}, {0, 5, 0}, {3, 1, 400, 2}, {9000, 100, 0, 12_000, 300, 1}, {8192, 8192, 20_000}, {40, 40, 40, 40, 40}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			dir, rng := t.TempDir(), rand.New(rand.NewPCG(uint64(seed), 5))
			o := bm25.Plain()
			o.B = []float64{0, 1, .3}[seed%3]
			var parts []*bm25.Index
			starts := []int{0}
			for i, texts := range uneven(rng, sizes) {
				ix := built(t, texts, o)
				if i%2 == 0 {
					ix = merged(t, filepath.Join(dir, fmt.Sprint(i)), ix)
				}
				parts, starts = append(parts, ix), append(starts, starts[i]+len(texts))
			}
			whole := merged(t, filepath.Join(dir, "whole"), parts...)
			c, err := bm25.NewCollection(parts...)
			check.OK(t, err, "%v", c)
			var got []bm25.Found
			var scores []float64
			for range 12 {
				q := randomWords(rng, 1+rng.IntN(12), 9000, rng.IntN(60)) + " w3 unknown"
				scores = whole.Scores(q, scores)
				conditions := predicates(rng, scores)
				for name, keep := range conditions {
					var keepIn func(part int, doc int32) bool
					if name != "all" {
						keepIn = func(part int, doc int32) bool { return keep(int32(starts[part]) + doc) }
					}
					for _, k := range []int{0, 1, 10, 300} {
						want := tied(among(scores, whole.Len(), keep), k)
						got = c.Search(q, k, keepIn, got)
						check.Must(t, slices.Equal(ranking(got, starts), want),
							"%q, %d of %s: %v, want %v", q, k, name, got, want)
					}
				}
				if c.Whole(q) != whole.Whole(q) {
					t.Errorf("%q: a whole text has %v, want %v", q, c.Whole(q), whole.Whole(q))
				}
				for part := range parts {
					var docs []int32
					var want []float64
					for d := range int32(parts[part].Len()) {
						if rng.IntN(1+part) == 0 {
							docs, want = append(docs, d), append(want, scores[int32(starts[part])+d])
						}
					}
					check.Must(t, slices.Equal(c.Scores(q, part, docs, nil), want),
						"%q: the scores of %d documents of index %d differ", q, len(docs), part)
				}
			}
		})
	}
}

// tied are the first k of a ranking, and those that score as the last of them.
func tied(all []rank.Scored[int32], k int) []rank.Scored[int32] {
	if k > 0 {
		for k < len(all) && all[k].Score == all[k-1].Score {
			k++
		}
	}
	return all[:min(k, len(all))]
}

// ranking numbers what was found in the whole.
func ranking(found []bm25.Found, starts []int) (out []rank.Scored[int32]) {
	for _, f := range found {
		out = append(out, rank.Scored[int32]{ID: int32(starts[f.Part]) + f.Doc, Score: f.Score})
	}
	return out
}

func TestCollectionEdges(t *testing.T) {
	none, err := bm25.NewCollection()
	check.True(t, err == nil && len(none.Search("a", 3, nil, nil)) == 0 && none.Whole("a") == 0, "an empty collection: %v, %v", none, err)
	a, wordless := built(t, []string{"a rose", "a tulip"}, bm25.Plain()), built(t, []string{"", "…"}, bm25.Plain())
	_, err = bm25.NewCollection(a, built(t, []string{"b"}, bm25.Options{K1: 2, Analyzer: text.Plain()}))
	check.Fails(t, err, "index 2 has other options", "other options")
	c := check.Of(bm25.NewCollection(wordless, a)).OK(t)
	got := c.Search("tulip", 3, nil, nil)
	check.True(t, len(got) == 1 && got[0].Part == 1 && got[0].Doc == 1, "beside texts without words, found %v", got)
}

func TestCollectionAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	var parts []*bm25.Index
	for _, texts := range uneven(rng, []int{900, 20, 9000}) {
		parts = append(parts, built(t, texts, bm25.Plain()))
	}
	c := check.Of(bm25.NewCollection(parts...)).OK(t)
	keep := func(part int, doc int32) bool { return part != 1 && doc%2 == 0 }
	dst := c.Search("w1 w3 w70 unknown", 10, keep, nil)
	least := math.Inf(1) // under the race detector, pools lose things at random
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() { dst = c.Search("w1 w3 w70 unknown", 10, keep, dst) }))
	}
	check.True(t, least <= 0 && len(dst) == 10, "%v allocations per search of %d", least, len(dst))
	docs, scores, least := []int32{0, 7, 8999}, []float64(nil), math.Inf(1)
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() { scores = c.Scores("w1 w3 w70 unknown", 2, docs, scores) }))
	}
	check.True(t, least <= 0 && len(scores) == 3, "%v allocations for scores of %d documents", least, len(scores))
}

// predicates keep all, none, half, one in a hundred, a few, or none of the best.
func predicates(rng *rand.Rand, scores []float64) map[string]func(int32) bool {
	n := max(1, len(scores))
	few := []int32{int32(rng.IntN(n)), int32(rng.IntN(n)), int32(rng.IntN(n))}
	bar := 0.0
	for _, s := range scores {
		bar = max(bar, s/2)
	}
	return map[string]func(int32) bool{
		"all":      func(int32) bool { return true },
		"none":     func(int32) bool { return false },
		"odd":      func(d int32) bool { return d%2 == 1 },
		"rare":     func(d int32) bool { return d%101 == 7 },
		"few":      func(d int32) bool { return slices.Contains(few, d) },
		"the late": func(d int32) bool { return int(d) > n*3/4 },
		"the poor": func(d int32) bool { return scores[d] < bar },
	}
}

// among are the k best of the scores of the documents that are kept.
func among(scores []float64, k int, keep func(int32) bool) []rank.Scored[int32] {
	var all []rank.Scored[int32]
	for d, s := range scores {
		if s > 0 && keep(int32(d)) {
			all = append(all, rank.Scored[int32]{ID: int32(d), Score: s})
		}
	}
	return rank.Best(all, k)
}

// What is found within a limit is, to the bit, what an index of those documents alone finds,
// whatever share of them that is and however they are put into indexes.
func TestLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{30, 3000, 20000} {
		texts := zipf(n)
		var parts []*bm25.Index
		var first []int
		for at := 0; at < n; {
			size := min(n-at, 1+r.IntN(n))
			parts, first = append(parts, built(t, texts[at:at+size], bm25.Options{})), append(first, at)
			at += size
		}
		whole := check.Of(bm25.NewCollection(parts...)).OK(t)
		for _, share := range []float64{0, .001, .01, .1, .5, .95, .999, 1} {
			var permitted []string
			var numbers []int32 // of the permitted among all
			sets := make([]bm25.Docs, len(parts))
			for i, ix := range parts {
				sets[i] = bm25.AllDocs(ix.Len())
				for d := range ix.Len() {
					if r.Float64() >= share {
						sets[i].Remove(int32(d))
						continue
					}
					permitted, numbers = append(permitted, texts[first[i]+d]), append(numbers, int32(first[i]+d))
				}
				if sets[i].Len() == ix.Len() && i%2 == 0 {
					sets[i] = nil
				}
			}
			limited, alone, among := whole.Limit(sets), built(t, permitted, bm25.Options{}), whole.Among(sets)
			keep := func(part int, doc int32) bool { return sets[part] == nil || sets[part].Has(doc) }
			for _, k := range []int{1, 10, 1000} {
				for range 6 {
					query := fmt.Sprintf("w1 w%d w%d w3 w2 w3 w%d often absent", 1+r.IntN(4), 1+r.IntN(30), 1+r.IntN(500))
					var want, got []rank.Scored[int32]
					for _, s := range alone.Search(query, k, nil) {
						want = append(want, rank.Scored[int32]{ID: numbers[s.ID], Score: s.Score})
					}
					for _, f := range limited.Search(query, k, nil, nil) {
						if len(got) < k {
							got = append(got, rank.Scored[int32]{ID: int32(first[f.Part]) + f.Doc, Score: f.Score})
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%d documents in %d indexes, %g permitted, %q (-alone +limited):\n%.2000s", n, len(parts), share, query, diff)
					}
					if diff := cmp.Diff(whole.Search(query, k, keep, nil), among.Search(query, k, nil, nil), cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%d documents in %d indexes, %g permitted, %q (-kept +among):\n%.2000s", n, len(parts), share, query, diff)
					}
					if a, b := alone.Whole(query), limited.Whole(query); a != b {
						t.Errorf("whole: %g and %g", a, b)
					}
				}
			}
		}
	}
}
