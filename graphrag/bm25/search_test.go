// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// oracle scores every document by the formula, in float64 and without an index.
type oracle struct {
	k1, b float64
	docs  []map[string]float64
	lens  []float64
	df    map[string]float64
	avg   float64
}

func newOracle(o bm25.Options, chunks []graphrag.Chunk) *oracle {
	or := &oracle{k1: cmp.Or(o.K1, bm25.DefaultK1), b: cmp.Or(o.B, bm25.DefaultB), df: map[string]float64{}}
	for _, c := range chunks {
		words := terms(o.Analyzer, c.Text)
		for range o.TitleWeight {
			words = append(words, terms(o.Analyzer, c.Title)...)
		}
		tf := map[string]float64{}
		for _, t := range words {
			if tf[t]++; tf[t] == 1 {
				or.df[t]++
			}
		}
		or.docs, or.lens = append(or.docs, tf), append(or.lens, float64(len(words)))
		or.avg += float64(len(words)) / float64(len(chunks))
	}
	return or
}

func (or *oracle) score(doc int, query []string) (score float64) {
	n := float64(len(or.docs))
	for _, q := range query {
		if tf := or.docs[doc][q]; tf > 0 {
			idf := math.Log(1 + (n-or.df[q]+0.5)/(or.df[q]+0.5))
			score += idf * tf * (or.k1 + 1) / (tf + or.k1*(1-or.b+or.b*or.lens[doc]/or.avg))
		}
	}
	return score
}

func terms(a text.Analyzer, s string) (terms []string) {
	a.Words(s, func(word []byte) bool {
		if t, ok := a.Term(string(word)); ok {
			terms = append(terms, t)
		}
		return true
	})
	return terms
}

// check compares results with the oracle: scores by the formula, no better document missing, the order of
// scores and positions.
func (or *oracle) check(t *testing.T, query []string, k int, got []rank.Scored[int32]) {
	t.Helper()
	var all []float64
	for d := range or.docs {
		if s := or.score(d, query); s > 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	want := max(0, min(k, len(all)))
	check.Must(t, len(got) == want, "query %v, k %d: %d results, want %d", query, k, len(got), want)
	seen := map[int32]bool{}
	for i, r := range got {
		want := or.score(int(r.ID), query)
		check.Must(t, math.Abs(want-r.Score) <= 1e-4, "query %v: document %d has score %v, want %v", query, r.ID, r.Score, want)
		check.Must(t, math.Abs(all[i]-r.Score) <= 1e-4, "query %v: result %d has score %v, but the best there has %v", query, i, r.Score, all[i])
		check.Must(t, !seen[r.ID], "query %v: document %d twice", query, r.ID)
		seen[r.ID] = true
		last := got[max(i-1, 0)]
		check.Must(t, i == 0 || last.Score > r.Score || last.Score == r.Score && last.ID <= r.ID,
			"query %v: %v before %v", query, last, r)
	}
}

// randomTexts draws words with frequencies of about 1/rank, in clusters; some texts are empty, some occur
// several times.
func randomTexts(rng *rand.Rand, n, vocabulary int) []graphrag.Chunk {
	chunks := make([]graphrag.Chunk, n)
	for i := range chunks {
		chunks[i].Title = fmt.Sprintf("w%d title", i/10)
		switch rng.IntN(10) {
		case 0:
		case 1:
			if i > 0 {
				chunks[i].Text = chunks[rng.IntN(i)].Text
			}
		default:
			chunks[i].Text = randomWords(rng, 1+rng.IntN(60), vocabulary, i/50)
		}
	}
	return chunks
}

func randomWords(rng *rand.Rand, n, vocabulary, topic int) string {
	var words []string
	for range n {
		rank := int(math.Exp(rng.Float64() * math.Log(float64(vocabulary))))
		if rng.IntN(4) == 0 {
			rank += topic * 7
		}
		words = append(words, fmt.Sprintf("w%d", rank))
	}
	return strings.Join(words, " ")
}

func TestSearchEqualsFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for round, o := range []bm25.Options{
		bm25.Plain(),
		{K1: 1.5, B: 0.4, Analyzer: text.Plain(), TitleWeight: 2},
		{K1: bm25.Zero, Analyzer: text.Plain()},
		{B: bm25.Zero, Analyzer: text.Plain()},
		{K1: 3, B: 1, Analyzer: text.Plain(), TitleWeight: 300},
		{Analyzer: text.Default()},
	} {
		for _, n := range []int{0, 1, 3, 40, 700} {
			chunks := randomTexts(rng, n, 1+rng.IntN(2000))
			ix := check.Of(bm25.Build(t.Context(), chunks, o)).OK(t)
			or := newOracle(o, chunks)
			var dst []rank.Scored[int32]
			for range 40 {
				q := randomWords(rng, rng.IntN(25), 3000, rng.IntN(20))
				for _, k := range []int{-1, 0, 1, 3, 10, n, n + 5} {
					dst = ix.Search(q, k, dst)
					or.check(t, terms(o.Analyzer, q), k, dst)
				}
			}
			check.Must(t, ix.Len() == n, "round %d: %d documents, want %d", round, ix.Len(), n)
		}
	}
}

// Skipping does not change results: the k best are the first k of all, bit for bit, over several windows of
// documents.
func TestPrunedEqualsExhaustive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	chunks := randomTexts(rng, 30_000, 20_000)
	for i := range 300 { // equal scores in several windows
		chunks[rng.IntN(len(chunks))].Text = chunks[i%10].Text
	}
	ix := check.Of(bm25.Build(t.Context(), chunks, bm25.Plain())).OK(t)
	var scores []float64
	for range 150 {
		q := randomWords(rng, 1+rng.IntN(25), 30_000, rng.IntN(600))
		if rng.IntN(3) == 0 {
			q = chunks[rng.IntN(len(chunks))].Text
		}
		all := ix.Search(q, len(chunks), nil)
		scores = ix.Scores(q, scores)
		positive := 0
		for _, s := range scores {
			if s > 0 {
				positive++
			}
		}
		check.Must(t, positive == len(all) && len(scores) == len(chunks),
			"query %q: %d of %d scores are positive, %d results", q, positive, len(scores), len(all))
		for _, r := range all {
			check.Must(t, scores[r.ID] == r.Score,
				"query %q: document %d has score %v of all, %v of the best", q, r.ID, scores[r.ID], r.Score)
		}
		for _, k := range []int{1, 2, 10, 100} {
			got := ix.Search(q, k, nil)
			d := gocmp.Diff(all[:min(k, len(all))], got, gocmp.Comparer(func(a, b rank.Scored[int32]) bool { return a == b }))
			check.Must(t, d == "" || len(all) <= 0, "query %q, k %d: %s", q, k, d)
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	chunks := randomTexts(rng, 2000, 3000)
	ix := check.Of(bm25.Build(t.Context(), chunks, bm25.Options{})).OK(t)
	q := chunks[3].Text + " running unknown"
	dst := ix.Search(q, 10, nil)
	least := math.Inf(1) // the least of several runs: under the race detector pools lose values at random
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() { dst = ix.Search(q, 10, dst) }))
	}
	check.True(t, least <= 0, "%v allocations per search", least)
}

func TestSearchIsConcurrent(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	chunks := randomTexts(rng, 1000, 3000)
	ix := check.Of(bm25.Build(t.Context(), chunks, bm25.Options{})).OK(t)
	var wg sync.WaitGroup
	for i := range 4 {
		q := chunks[i*7+1].Text
		want := ix.Search(q, 10, nil)
		wg.Go(func() {
			for range 50 {
				if got := ix.Search(q, 10, nil); !gocmp.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A query of weighted terms adds up the scores of its terms.
func TestScoresOf(t *testing.T) {
	texts := []string{"owls hunting mice", "owl owl snow", "the tides", "hunting by ear in the snow"}
	ix := check.Of(bm25.BuildTexts(t.Context(), texts, bm25.Options{})).OK(t)
	whole := check.Of(bm25.NewCollection(ix)).OK(t)
	query := []bm25.Term{{Text: "owl", Weight: 1}, {Text: "hunt", Weight: .25}, {Text: "nowher", Weight: 3}, {Text: "owl", Weight: .5}}
	got := whole.ScoresOf(query, []float64{9})
	owls, hunts := ix.Scores("owl", nil), ix.Scores("hunt", nil)
	for i := range texts {
		want := 1.5*owls[i] + .25*hunts[i]
		check.True(t, math.Abs(got[i]-want) <= 1e-6, "text %d: %v, want %v", i, got[i], want)
	}
	got = whole.ScoresOf(nil, nil)
	check.Equal(t, slices.Max(got), 0, "without terms: %v", got)
}

// Groups of documents get the scores of an index of the groups' joined texts: for terms in lists and in
// columns, more frequent than a byte counts, or in no group; for documents in several groups, or twice in one;
// for empty groups, and for none at all.
func TestJoined(t *testing.T) {
	words := strings.Fields("the of ship ships sailed Antarctica Gjøa Nansen's 漢字 漢字かな 東 U.S. 1911 frozen ice e\u0301te\u0301")
	rnd := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 9000 { // fills two windows
		var b []string
		for range rnd.IntN(12) {
			b = append(b, words[min(rnd.IntN(len(words)), rnd.IntN(len(words)))])
		}
		texts = append(texts, strings.Join(b, " "))
	}
	texts[7] = strings.Repeat("ice ", 300)
	queries := []string{"", "the ice of the ships", "漢字 ship nowhere", "frozen Antarctica 1911 the ice U.S.A. 字か", "été", "nowhere"}
	for _, o := range []bm25.Options{{}, {K1: 4, B: .3, Analyzer: text.Plain()}, {B: bm25.Zero}} {
		ix := check.Of(bm25.BuildTexts(t.Context(), texts, o)).OK(t)
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
			alone := check.Of(bm25.BuildTexts(t.Context(), joined, o)).OK(t)
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
		return check.Of(bm25.BuildTexts(t.Context(), texts, o)).OK(t)
	}
	ix := index(bm25.Options{}, "ice")
	for _, c := range []struct {
		o    bm25.Options
		like bool
	}{{bm25.Options{}, true}, {bm25.Options{K1: 2}, false}, {bm25.Options{Analyzer: text.Plain()}, false}} {
		check.Equal(t, ix.Like(index(c.o, "frozen", "ships")), c.like, "%+v", c.o)
	}
}

// TestGoldenMuSiQue repeats a run of the formula written in Python: k1 1.5, b .75, words of [a-z0-9]+, 1,890 passages and 100 questions; recall at
// 1, 2, 5, 10 and 20 is 30.9, 41.9, 49.9, 58.5 and 69.7 %.
func TestGoldenMuSiQue(t *testing.T) {
	dir := os.Getenv("MUSIQUE_DIR")
	if dir == "" {
		t.Skip("set MUSIQUE_DIR")
	}
	read := func(name string, to any) bool {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(data, to)
		}
		return err == nil
	}
	var corpus []struct{ Title, Text string }
	var questions []struct{ Question string }
	var golden struct {
		Questions []struct {
			Gold []int
			Top  [][2]float64 `json:"bm25_lower_top10"`
		}
	}
	check.Must(t, read("musique_train_corpus.json", &corpus) && read("musique_train.json", &questions), "the sample cannot be read")
	if !read("../../golden/musique_train_runs.json", &golden) {
		t.Skip("the golden file does not stand beside the data")
	}
	ascii := func(s string) string {
		s = strings.ReplaceAll(s, "İ", "i\u0307") // Unicode's full mapping, which the reference uses
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return ' '
		}, strings.ToLower(s))
	}
	texts := make([]string, len(corpus))
	for i, p := range corpus {
		texts[i] = ascii(p.Title + "\n" + p.Text)
	}
	o := bm25.Plain()
	o.K1, o.B = 1.5, .75
	ix := check.Of(bm25.BuildTexts(t.Context(), texts, o)).OK(t)
	recall := make(map[int]float64)
	for i, q := range questions {
		found := ix.Search(ascii(q.Question), 20, nil)
		g := golden.Questions[i]
		for k := range map[int]bool{1: true, 2: true, 5: true, 10: true, 20: true} {
			met := 0
			for _, f := range found[:min(k, len(found))] {
				if slices.Contains(g.Gold, int(f.ID)) {
					met++
				}
			}
			recall[k] += 100 * float64(met) / float64(len(g.Gold)) / float64(len(questions))
		}
		for j, want := range g.Top {
			if got := found[j]; math.Abs(float64(got.Score)-want[1]) > 1e-3 {
				t.Errorf("%q: place %d is passage %d with %v, want %v with %v", q.Question, j+1, got.ID, got.Score, want[0], want[1])
				break
			}
		}
	}
	for k, want := range map[int]float64{1: 30.9, 2: 41.9, 5: 49.9, 10: 58.5, 20: 69.7} {
		check.True(t, math.Abs(recall[k]-want) <= .1, "R@%d is %.2f, want %.1f", k, recall[k], want)
	}
}
