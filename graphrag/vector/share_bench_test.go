// SPDX-License-Identifier: Apache-2.0

package vector_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/check"
)

const shareDim = 384

// BenchmarkShare measures for several shares how long a query takes and how many of its ten best rows it finds:
// over passages and questions of WildGraphBench, and over VECTOR_ROWS generated rows (100,000 by default),
// which lie around topics, or without any structure, which is the worst case. The folders are in the folder for
// temporary files.
func BenchmarkShare(b *testing.B) {
	rows := "100000"
	if testing.Short() {
		rows = "10000"
	}
	n := check.Of(strconv.Atoi(cmp.Or(os.Getenv("VECTOR_ROWS"), rows))).OK(b)
	b.Run("passages", func(b *testing.B) {
		if testing.Short() {
			b.Skip("embeds all passages")
		}
		rows, queries := passages(b)
		benchShare(b, len(rows), func(i int, _ []float32) []float32 { return rows[i] }, queries)
	})
	for name, draw := range map[string]func(i int, dst []float32) []float32{"mixture": mixture(), "normal": normal} {
		b.Run(name, func(b *testing.B) {
			var queries [][]float32
			for i := range 200 {
				queries = append(queries, draw(n+i, nil))
			}
			benchShare(b, n, draw, queries)
		})
	}
}

func benchShare(b *testing.B, n int, row func(i int, dst []float32) []float32, queries [][]float32) {
	x := built(b, n, vector.Options{Dim: shareDim, Cosine: true, Signs: true}, row)
	defer x.Close()
	exact := make([][]rank.Scored[int32], len(queries))
	for i, q := range queries {
		exact[i] = check.Of(x.Search(q, 10, nil)).OK(b)
	}
	for _, share := range []float64{.0001, .001, .002, .005, .01, .02, .05, 1} {
		b.Run(fmt.Sprintf("share=%v", share), func(b *testing.B) {
			b.ReportAllocs()
			found, dst := 0, []rank.Scored[int32](nil)
			for i := 0; b.Loop(); i++ {
				dst, _ = x.SearchWith(queries[i%len(queries)], vector.Params{K: 10, Share: share}, dst[:0])
			}
			for i, q := range queries {
				dst, _ = x.SearchWith(q, vector.Params{K: 10, Share: share}, dst[:0])
				found += common(dst, exact[i])
			}
			b.ReportMetric(float64(found)/float64(10*len(queries)), "recall@10")
		})
	}
}

// built is an index of n rows in a folder that is removed after the benchmark.
func built(b *testing.B, n int, opts vector.Options, row func(i int, dst []float32) []float32) *vector.Index {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "index")
	w := check.Of(vector.Create(dir, opts)).OK(b)
	batch := make([][]float32, 4096)
	for first := 0; first < n; first += len(batch) {
		batch = batch[:min(len(batch), n-first)]
		_ = par.Each(b.Context(), len(batch), 0, func(i int) error {
			batch[i] = row(first+i, batch[i])
			return nil
		})
		check.OK(b, w.Add(batch...))
	}
	check.OK(b, w.Close())
	x := check.Of(vector.Open(dir, opts)).OK(b)
	return x
}

func common(a, b []rank.Scored[int32]) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if x.ID == y.ID {
				n++
			}
		}
	}
	return n
}

// mixture returns a row by its number: near one of 5,000 topics of very different sizes, in 48 latent
// dimensions, with a little noise in all.
func mixture() func(i int, dst []float32) []float32 {
	const latent, topics = 48, 5000
	rng := rand.New(rand.NewPCG(48, 1))
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	center, basis := normal(topics*latent), normal(latent*shareDim)
	return func(i int, dst []float32) []float32 {
		rng := rand.New(rand.NewPCG(49, uint64(i)))
		topic := int(math.Exp(rng.Float64()*math.Log(topics))) - 1
		dst = append(dst[:0], make([]float32, shareDim)...)
		for j := range dst {
			dst[j] = float32(rng.NormFloat64())
		}
		for l := range latent {
			z := center[topic*latent+l] + .7*float32(rng.NormFloat64())
			for j, x := range basis[l*shareDim : (l+1)*shareDim] {
				dst[j] += z * x
			}
		}
		return dst
	}
}

// normal returns a row by its number; no row is near another.
func normal(i int, dst []float32) []float32 {
	rng := rand.New(rand.NewPCG(50, uint64(i)))
	dst = slices.Grow(dst[:0], shareDim)
	for range shareDim {
		dst = append(dst, float32(rng.NormFloat64()))
	}
	return dst
}

// passages are the pages of WildGraphBench in pieces of 400 bytes, and its questions, embedded by an LSA of
// every tenth piece.
func passages(b *testing.B) (rows, queries [][]float32) {
	b.Helper()
	var texts, sample, questions []string
	for _, page := range check.Pages(b, 1) {
		for ; len(page) > 400; page = page[400:] {
			texts = append(texts, page[:400])
		}
	}
	for i := 0; i < len(texts); i += 10 {
		sample = append(sample, texts[i])
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("WILDGRAPHBENCH_DIR"), "QA", "*", "questions.jsonl"))
	check.OK(b, err)
	for _, name := range files {
		f := check.Of(os.Open(name)).OK(b)
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var q struct{ Question string }
			check.OK(b, json.Unmarshal(lines.Bytes(), &q))
			questions = append(questions, q.Question)
		}
	}
	lsa, err := embed.FitLSA(b.Context(), sample, embed.LSAOptions{Dim: shareDim})
	if err == nil {
		rows, err = lsa.EmbedDocuments(b.Context(), texts)
	}
	if err == nil {
		queries, err = lsa.EmbedDocuments(b.Context(), questions)
	}
	check.Must(b, err == nil && len(questions) != 0, "%v %v", len(questions), err)
	return rows, queries
}
