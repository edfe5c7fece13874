// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// saved returns the files of an index.
func saved(t *testing.T, ix *Index) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	check.OK(t, Merge(t.Context(), dir, ix))
	files := check.Of(filepath.Glob(filepath.Join(dir, "*"))).OK(t)
	var all []byte
	for _, file := range files {
		data := check.Of(os.ReadFile(file)).OK(t)
		all = append(all, data...)
	}
	return all
}

// The index does not depend on how the work was divided.
func TestBuildIsTheSameInAnyBatches(t *testing.T) {
	at := func(i int) (string, string) {
		often := strings.Repeat("often ", i%5*(i%50/44)*100)
		return fmt.Sprintf("Title %d", i%7), fmt.Sprintf("the running %d words %d of text %d islands %s", i%5, i*i%31, i, often)
	}
	file := func(batch int) []byte {
		ix := check.Of(build(t.Context(), 500, at, Options{TitleWeight: 2}, batch)).OK(t)
		return saved(t, ix)
	}
	want := file(1 << 30)
	for _, procs := range []int{1, 3} {
		old := runtime.GOMAXPROCS(procs)
		for _, batch := range []int{1, 100, 5000} {
			check.True(t, bytes.Equal(file(batch), want),
				"another index with batches of %d bytes on %d processors", batch, procs)
		}
		runtime.GOMAXPROCS(old)
	}
}

// If texts are generated while they are read, some are read first to plan the batches, and then all once; the
// index equals that of texts in memory.
func TestBuildReadsEachTextOnce(t *testing.T) {
	const n = 3*measured + 1
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d of %d islands", i, i*i%31)
	}
	read := make([]atomic.Int32, n)
	of := func(texts text.List) []byte {
		ix := check.Of(BuildList(t.Context(), texts, Options{})).OK(t)
		return saved(t, ix)
	}
	made := of(text.NewList(n, func(i int) string { read[i].Add(1); return texts[i] }))
	check.True(t, bytes.Equal(made, of(text.Strings(texts))), "another index of texts that are made when they are read")
	twice := 0
	for i := range read {
		switch read[i].Load() {
		case 1:
		case 2:
			twice++
		default:
			t.Fatalf("text %d was read %d times", i, read[i].Load())
		}
	}
	check.True(t, twice <= measured, "%d of %d texts were read twice, want %d at most", twice, n, measured)
}

// The lists of many ranges of terms are filled concurrently and use exactly the memory reserved for them.
func TestFilledSideBySide(t *testing.T) {
	const n = 3 * windowSize
	var texts []string
	for i := range n { // "all" has a column, words of one place blocks in all windows, others one
		texts = append(texts, fmt.Sprint("all one", i%7, " two", i*i%97, " rare", i, strings.Repeat(" again", 300*(i%2)*(1-min(i/9, 1)))))
		for j := range 30 {
			texts[i] += fmt.Sprint(" w", (i*31+j*j)%911)
		}
	}
	ix := check.Of(BuildTexts(t.Context(), texts, Options{Analyzer: text.Plain()})).OK(t)
	check.Must(t, len(ix.docs) > 2*fillAt && len(ix.columns) != 0 && len(ix.large) != 0,
		"%d postings in lists, %d in columns, %d large: too few to tell", len(ix.docs), len(ix.columns), len(ix.large))
	check.Equal(t, len(ix.blocks), cap(ix.blocks), "room for %d blocks, and %d are there", cap(ix.blocks), len(ix.blocks))
}

// An index of a few texts, such as systems build from a question's results, takes memory for these only, not
// for a whole batch.
func TestFewTextsTakeLittle(t *testing.T) {
	texts := make([]string, 60)
	for i := range texts {
		texts[i] = fmt.Sprintf("name %d has part other %d in the island of names %d", i, i*i, i%7)
	}
	const builds, most = 20, 256 << 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range builds {
		check.OK(t, check.Err(BuildTexts(t.Context(), texts, Plain())))
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / builds
	check.True(t, each <= most, "%d bytes for an index, want %d at most", each, most)
}

// A batch has at most as many documents as its postings can number, however short they are.
func TestBatchesOfManyDocuments(t *testing.T) {
	const n = 5 * mostBatch / 2
	starts, _ := cut(n, func(int) (string, string) { return "", "" }, mostBytes)
	check.Must(t, len(starts) >= 4 && starts[len(starts)-1] == n, "%d batches, the last ends at %d", len(starts)-1, starts[len(starts)-1])
	for i, start := range starts[1:] {
		check.True(t, start-starts[i] <= mostBatch, "a batch has %d documents", start-starts[i])
	}
}

// The assembly kernels of this processor give the same bits as the ones in Go.
func TestKernelsAgree(t *testing.T) {
	for _, k := range available() {
		agree(t, k)
	}
}

func agree(t *testing.T, fast kernels) {
	rng := rand.New(rand.NewPCG(5, 8))
	plain := portable()
	norms := new([windowSize]float32)
	for i := range norms {
		norms[i] = .1 + 3*rng.Float32()
	}
	for round := range 400 {
		n := rng.IntN(100)
		if round%10 == 0 {
			n = rng.IntN(windowSize)
		}
		chance := 1 + rng.IntN(40)
		tf := func() uint8 {
			if round%3 == 0 && rng.IntN(100) == 0 {
				return largeTF
			}
			return uint8(rng.IntN(chance))
		}
		docs, tfs := make([]uint16, n), make([]uint8, n)
		for i := range docs {
			docs[i], tfs[i] = uint16(rng.IntN(windowSize)), tf()
		}
		weight := 5 * rng.Float32()

		one, two := make([]float32, n), make([]float32, n)
		a, b := plain.impacts(one, docs, tfs, norms, weight), fast.impacts(two, docs, tfs, norms, weight)
		check.Must(t, a == b && a != slices.Contains(tfs, largeTF) && slices.Equal(one, two), "%d impacts: %v and %v, %v and %v", n, a, b, one, two)

		var sums [2][windowSize]float32
		for i, d := range docs {
			sums[0][d] += one[i]
		}
		sums[1] = sums[0]
		c, o := newCandidates(windowSize), newCandidates(windowSize)
		minimum := .0001 + 2*rng.Float32()
		plain.collect(&c, &sums[0], norms, minimum)
		fast.collect(&o, &sums[1], norms, minimum)
		same(t, "collected", &c, &o)
		check.Must(t, sums[0] == sums[1] && sums[0] == [windowSize]float32{}, "sums are left")

		column := make([]uint8, 1+rng.IntN(windowSize))
		for i := range column {
			column[i] = tf()
		}
		r := refinement{weight: weight, rest: rng.Float32(), cutoff: minimum + rng.Float32()}
		read, kept := 0, 0
		for read < c.n {
			a, b := plain.refine(&c, read, kept, column, r)
			x, y := fast.refine(&o, read, kept, column, r)
			check.Must(t, a == x && b == y, "read %d and %d, kept %d and %d", a, x, b, y)
			read, kept = a, b
			for end := min(read+lanes, c.n); read < end; read++ {
				o.refine(read, kept, 7, r)
				kept = c.refine(read, kept, 7, r)
			}
		}
		c.n, o.n = kept, kept
		same(t, "refined", &c, &o)
	}
}

func same(t *testing.T, what string, a, b *candidates) {
	t.Helper()
	if a.n != b.n || !slices.Equal(a.docs[:a.n], b.docs[:b.n]) || !slices.Equal(a.sums[:a.n], b.sums[:b.n]) || !slices.Equal(a.norms[:a.n], b.norms[:b.n]) {
		t.Fatalf("%s: %d and %d candidates, %v and %v", what, a.n, b.n, a.docs[:a.n], b.docs[:b.n])
	}
}
