// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// zipf returns texts of made-up words with Zipf's frequencies, one of which occurs more often in a text than a
// byte can count.
func zipf(n int) (texts []string) {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 3, 5000)
	for i := range n {
		var b strings.Builder
		for range r.IntN(20) {
			fmt.Fprintf(&b, "w%d ", z.Uint64())
		}
		if i%4000 == 17 {
			b.WriteString(strings.Repeat("often ", 300+i))
		}
		texts = append(texts, b.String())
	}
	return texts
}

func built(t *testing.T, texts []string, o bm25.Options) *bm25.Index {
	t.Helper()
	return check.Of(bm25.BuildTexts(t.Context(), texts, o)).OK(t)
}

func merged(t *testing.T, dir string, parts ...*bm25.Index) *bm25.Index {
	t.Helper()
	check.OK(t, bm25.Merge(t.Context(), dir, parts...))
	ix := check.Of(bm25.Open(dir, text.Plain())).OK(t)
	t.Cleanup(func() { check.OK(t, ix.Close()) })
	return ix
}

// Merging merged indexes gives, byte for byte, the same folder as merging all at once.
func TestMerge(t *testing.T) {
	texts, dir := zipf(20_000), t.TempDir()
	a, b, c := built(t, texts[:9000], bm25.Plain()), built(t, texts[9000:9001], bm25.Plain()), built(t, texts[9001:], bm25.Plain())
	one := merged(t, filepath.Join(dir, "one"), a, b, c)
	merged(t, filepath.Join(dir, "two"), merged(t, filepath.Join(dir, "part"), a, b), c)
	check.Must(t, one.Len() == len(texts), "%d documents", one.Len())
	sameFolder(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"))
}

func TestMergeEdges(t *testing.T) {
	dir := t.TempDir()
	empty := merged(t, filepath.Join(dir, "empty"), built(t, nil, bm25.Plain()), built(t, nil, bm25.Plain()))
	got := empty.Search("anything", 5, nil)
	check.True(t, len(got) == 0 && empty.Len() == 0, "an empty index has %d documents and finds %v", empty.Len(), got)
	wordless := merged(t, filepath.Join(dir, "wordless"), built(t, []string{"", "…"}, bm25.Plain()))
	got = wordless.Search("anything", 5, nil)
	check.True(t, len(got) == 0 && wordless.Len() == 2, "texts without a word: %d documents, %v", wordless.Len(), got)
	one := built(t, []string{"a b"}, bm25.Plain())
	check.True(t, bm25.Merge(t.Context(), filepath.Join(dir, "none")) != nil, "nothing is merged")
	other := bm25.Plain()
	other.K1 = 2
	err := bm25.Merge(t.Context(), filepath.Join(dir, "other"), one, built(t, []string{"b"}, other))
	check.Fails(t, err, "k1 2", "other options")
	err = bm25.Merge(t.Context(), filepath.Join(dir, "empty"), one)
	check.Fails(t, err, "already", "over another index")
	_, err = bm25.Open(filepath.Join(dir, "empty"), nil)
	check.Fails(t, err, "analyzer", "with another analyzer")
	check.Is(t, check.Err(bm25.Open(filepath.Join(dir, "nowhere"), nil)), bm25.ErrFolder, "no folder")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := filepath.Join(dir, "stopped")
	check.Is(t, bm25.Merge(ctx, stopped, one), context.Canceled, "cancelled")
	check.Is(t, check.Err(bm25.Open(stopped, text.Plain())), bm25.ErrFolder, "what was cancelled is opened")
}

// A damaged folder is refused, and the file is named.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	merged(t, sound, built(t, zipf(9000), bm25.Plain()))
	files := check.Of(os.ReadDir(sound)).OK(t)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 10 * len(files) {
		bad := filepath.Join(dir, "bad")
		check.OK(t, errors.Join(os.RemoveAll(bad), os.CopyFS(bad, os.DirFS(sound))))
		name := filepath.Join(bad, files[round%len(files)].Name())
		data := check.Of(os.ReadFile(name)).OK(t)
		if len(data) == 0 {
			continue
		}
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		check.OK(t, os.WriteFile(name, data, 0o644))
		ix, err := bm25.Open(bad, text.Plain())
		check.True(t, err == nil || errors.Is(err, bm25.ErrFolder) && strings.Contains(err.Error(), bad),
			"%s: %v", name, err)
		if err == nil {
			check.OK(t, ix.Close())
			if filepath.Base(name) != "manifest.json" { // white space and the case of keys do not count there
				t.Errorf("%s: it is opened", name)
			}
		}
	}
}

// sameFolder compares the files of two folders.
func sameFolder(t *testing.T, a, b string) {
	t.Helper()
	files, err := os.ReadDir(a)
	check.Must(t, err == nil && len(files) >= 2, "%d files, %v", len(files), err)
	for _, f := range files {
		x, errX := os.ReadFile(filepath.Join(a, f.Name()))
		y, errY := os.ReadFile(filepath.Join(b, f.Name()))
		check.True(t, errX == nil && errY == nil && string(x) == string(y),
			"%s differs: %d and %d bytes, %v, %v", f.Name(), len(x), len(y), errX, errY)
	}
}

// dealt assigns texts to parts at random and marks some as deleted; left are the others, in their order.
func dealt(t *testing.T, rng *rand.Rand, texts []string, parts int, dropped float64) (out []bm25.Part, left []string) {
	own := make([][]string, parts)
	numbers := make([][]int32, parts)
	for i := 0; i < len(texts); {
		p := rng.IntN(parts)
		for run := rng.IntN(1 + rng.IntN(50)); run >= 0 && i < len(texts); run-- {
			own[p] = append(own[p], texts[i])
			if rng.Float64() < dropped {
				numbers[p] = append(numbers[p], -1)
			} else {
				numbers[p] = append(numbers[p], int32(len(left)))
				left = append(left, texts[i])
			}
			i++
		}
	}
	for p := range own {
		out = append(out, bm25.Part{Index: built(t, own[p], bm25.Plain()), Numbers: numbers[p]})
	}
	return out, left
}

// Merging in a given order gives the folder of the texts in that order, byte for byte, and deleted texts leave
// no trace.
func TestMergeOrdered(t *testing.T) {
	for i, c := range []struct {
		texts, parts int
		dropped      float64
	}{{0, 2, 0}, {1, 3, 0}, {50, 1, .5}, {300, 4, 1}, {9000, 2, 0}, {12_000, 5, .3}, {20_000, 3, .99}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			dir := t.TempDir()
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			parts, left := dealt(t, rng, zipf(c.texts), c.parts, c.dropped)
			one, two, want := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "want")
			merged(t, want, built(t, left, bm25.Plain()))
			check.OK(t, bm25.MergeOrdered(t.Context(), one, parts...))
			sameFolder(t, want, one)
			for p := range parts { // the same with indexes in folders
				parts[p].Index = merged(t, filepath.Join(dir, fmt.Sprint(p)), parts[p].Index)
			}
			check.OK(t, bm25.MergeOrdered(t.Context(), two, parts...))
			sameFolder(t, want, two)
			ix, err := bm25.Open(two, text.Plain())
			check.Must(t, err == nil && ix.Len() == len(left), "%v %v", ix, err)
			err = ix.Close()
			check.OK(t, err)
		})
	}
}

func TestMergeOrderedChecksNumbers(t *testing.T) {
	a, b := built(t, []string{"x", "y", "z"}, bm25.Plain()), built(t, []string{"u", "v"}, bm25.Plain())
	for want, c := range map[string]struct{ a, b []int32 }{
		"index 2 has 2 documents and 1 numbers":            {[]int32{0, 1, 2}, []int32{3}},
		"index 1: document 2 has the number 1":             {[]int32{0, 2, 1}, []int32{3, 4}},
		"index 1: document 1 has the number 0":             {[]int32{0, 0, -1}, []int32{1, 2}},
		"index 2: document 0 has the number -2":            {[]int32{0, 1, 2}, []int32{-2, 3}},
		"index 2: document 1 has the number 2":             {[]int32{0, 1, 2}, []int32{-1, 2}},
		"the number 5, but the numbers of the 5 documents": {[]int32{0, 1, 5}, []int32{2, 3}},
		"the number 4, but the numbers of the 4 documents": {[]int32{0, 1, -1}, []int32{2, 4}},
		"index 2: document 0 has the number 1,":            {[]int32{0, 1, 3}, []int32{1, 4}},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		check.Fails(t, bm25.MergeOrdered(t.Context(), dir, bm25.Part{Index: a, Numbers: c.a}, bm25.Part{Index: b, Numbers: c.b}), want, "%v", c)
		check.True(t, check.Err(os.Stat(dir)) != nil, "%v: a folder was begun", c)
	}
}

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

// A long text is not read to its end when the context is cancelled, nor are the texts after it.
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

// syllables is an analyzer of the caller, for a language whose words have a dot between their syllables.
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

// Any text.Analyzer can split texts and queries into words.
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

// A collection of indexes gives the scores of one index. Replaced documents are hidden until the indexes are
// merged.
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

// uneven returns the texts of parts that differ in number and length; some texts are in several parts.
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

// A collection finds what the index merged from its parts finds, in the same order and with the same scores,
// bit for bit, with and without a condition.
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

// tied returns the first k of a ranking, and all whose score equals that of the last.
func tied(all []rank.Scored[int32], k int) []rank.Scored[int32] {
	if k > 0 {
		for k < len(all) && all[k].Score == all[k-1].Score {
			k++
		}
	}
	return all[:min(k, len(all))]
}

// ranking converts the results to numbers of documents in the merged index.
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
	least := math.Inf(1) // the least of several runs: under the race detector pools lose values at random
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

// predicates accept all documents, none, half, one in a hundred, a few, or none of the best.
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

// among returns the k best of the scores of the accepted documents.
func among(scores []float64, k int, keep func(int32) bool) []rank.Scored[int32] {
	var all []rank.Scored[int32]
	for d, s := range scores {
		if s > 0 && keep(int32(d)) {
			all = append(all, rank.Scored[int32]{ID: int32(d), Score: s})
		}
	}
	return rank.Best(all, k)
}

// A search of permitted documents finds, bit for bit, what an index of these documents alone finds, whatever
// their share is and however they are divided into indexes.
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
			var numbers []int32 // numbers of the permitted documents in the collection
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
