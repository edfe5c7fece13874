// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Sizes of the pieces the pages are cut into, in bytes.
const (
	chunkBytes   = 4800
	passageBytes = 400
)

// corpus is what the benchmarks index and ask.
type corpus struct {
	name      string
	pages     []string
	questions []string
}

// benchCorpus reads the WildGraphBench checkout that WILDGRAPHBENCH_DIR names,
// or generates text with the word frequencies of a language.
func benchCorpus(b testing.TB) corpus {
	b.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		return zipfCorpus()
	}
	c := corpus{name: "wild"}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case filepath.Base(filepath.Dir(path)) == "reference_pages" && !d.IsDir():
			page, err := os.ReadFile(path)
			c.pages = append(c.pages, string(page))
			return err
		case d.Name() == "questions.jsonl":
			return readQuestions(path, &c.questions)
		}
		return nil
	})
	texttest.OK(b, err)
	return c
}

func readQuestions(path string, into *[]string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q struct{ Question string }
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		*into = append(*into, q.Question)
	}
	return lines.Err()
}

// zipfCorpus generates 8 MB whose r-th word has a frequency of about 1/r.
func zipfCorpus() corpus {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%x", int(math.Exp(rng.Float64()*math.Log(200_000)))) }
	text := func(words int) string {
		var s strings.Builder
		for range words {
			s.WriteString(word())
			s.WriteByte(' ')
		}
		return s.String()
	}
	c := corpus{name: "zipf"}
	for range 400 {
		c.pages = append(c.pages, text(4000))
	}
	for range 200 {
		c.questions = append(c.questions, text(20))
	}
	return c
}

// cut returns the pages in pieces of the given size.
func cut(pages []string, size int) (pieces []string, bytes int64) {
	for _, p := range pages {
		bytes += int64(len(p))
		for len(p) > 0 {
			n := min(size, len(p))
			pieces, p = append(pieces, p[:n]), p[n:]
		}
	}
	return pieces, bytes
}

func BenchmarkBuild(b *testing.B) {
	c := benchCorpus(b)
	for _, size := range []int{chunkBytes, passageBytes} {
		for name, o := range map[string]bm25.Options{"plain": bm25.Plain(), "default": {}} {
			b.Run(fmt.Sprintf("%s/%d/%s", c.name, size, name), func(b *testing.B) {
				pieces, bytes := cut(c.pages, size)
				b.SetBytes(bytes)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bm25.BuildTexts(b.Context(), pieces, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSearch asks one index, and eight that are searched as one.
func BenchmarkSearch(b *testing.B) {
	c := benchCorpus(b)
	for _, size := range []int{chunkBytes, passageBytes} {
		pieces, _ := cut(c.pages, size)
		ix, err := bm25.BuildTexts(b.Context(), pieces, bm25.Plain())
		texttest.OK(b, err)
		dst := make([]rank.Scored[int32], 0, 10)
		b.Run(fmt.Sprintf("%s/%d", c.name, size), func(b *testing.B) {
			ask(b, c.questions, func(q string) { dst = ix.Search(q, 10, dst) })
		})
		var parts []*bm25.Index
		for part := range slices.Chunk(pieces, (len(pieces)+7)/8) {
			ix, err := bm25.BuildTexts(b.Context(), part, bm25.Plain())
			texttest.OK(b, err)
			parts = append(parts, ix)
		}
		all, err := bm25.NewCollection(parts...)
		texttest.OK(b, err)
		found := make([]bm25.Found, 0, 10)
		b.Run(fmt.Sprintf("%s/%d/parts", c.name, size), func(b *testing.B) {
			ask(b, c.questions, func(q string) { found = all.Search(q, 10, nil, found) })
		})
	}
}

func ask(b *testing.B, questions []string, search func(q string)) {
	var times []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		search(questions[i%len(questions)])
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100])/1e3, "p99-µs")
}

// BenchmarkMerge merges twenty parts whose documents come in turns, with one in
// twenty left out. They are of 110 words on average.
func BenchmarkMerge(b *testing.B) {
	const parts, documentBytes = 20, 700
	rng := rand.New(rand.NewPCG(1, 2))
	dir := b.TempDir()
	c := benchCorpus(b)
	pieces, _ := cut(c.pages, documentBytes)
	texts, list := make([][]string, parts), make([]bm25.Part, parts)
	next, postings := int32(0), 0
	for _, piece := range pieces {
		p := rng.IntN(parts)
		texts[p] = append(texts[p], piece)
		number := int32(-1)
		if rng.IntN(20) > 0 {
			number = next
			next++
			words := map[string]bool{}
			for _, w := range terms(text.Plain(), piece) {
				words[w] = true
			}
			postings += len(words)
		}
		list[p].Numbers = append(list[p].Numbers, number)
	}
	for p := range list {
		list[p].Index = folderOf(b, filepath.Join(dir, fmt.Sprint(p)), texts[p])
	}
	for n := 0; b.Loop(); n++ {
		texttest.OK(b, bm25.MergeOrdered(b.Context(), filepath.Join(dir, "merged", fmt.Sprint(n)), list...))
	}
	b.ReportMetric(float64(next), "documents")
	b.ReportMetric(float64(postings)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M-postings/s")
}

// folderOf is an index in a folder.
func folderOf(b *testing.B, dir string, texts []string) *bm25.Index {
	ix, err := bm25.BuildTexts(b.Context(), texts, bm25.Plain())
	texttest.OK(b, err)
	texttest.OK(b, bm25.Merge(b.Context(), dir, ix))
	ix, err = bm25.Open(dir, text.Plain())
	texttest.OK(b, err)
	b.Cleanup(func() { _ = ix.Close() })
	return ix
}
