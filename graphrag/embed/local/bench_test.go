// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"
)

// The product that most of the time goes to, in floating-point operations a second.
func BenchmarkMultiply(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 4))
	for _, name := range []string{"portable", "AVX2", "fastest"} {
		k, ok := kernelSets()[name]
		if !ok {
			continue
		}
		for _, depth := range []int{32, 384, 1536} {
			const rows = 20 * tileRows
			x, m, bias, c := random(rng, rows*depth), random(rng, depth*panel), random(rng, panel), make([]float32, rows*panel)
			b.Run(fmt.Sprintf("%s/depth=%d", name, depth), func(b *testing.B) {
				for b.Loop() {
					k.multiply(c, x, m, bias, rows, depth, panel, depth)
				}
				b.ReportMetric(2e-9*float64(b.N)*rows*panel*float64(depth)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}

// Passages of 125 words of real pages, with the real model, on all cores.
func BenchmarkEncode(b *testing.B) {
	model, data := os.Getenv("MINILM_DIR"), os.Getenv("WILDGRAPHBENCH_DIR")
	if model == "" || data == "" {
		b.Skip("MINILM_DIR or WILDGRAPHBENCH_DIR is not set")
	}
	const passages, words = 128, 125
	var texts []string
	err := fs.WalkDir(os.DirFS(data), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txt" || len(texts) >= passages {
			return err
		}
		page, err := os.ReadFile(path.Join(data, name))
		if all := strings.Fields(string(page)); len(all) >= 3*words {
			texts = append(texts, strings.Join(all[2*words:3*words], " "))
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	e := mustOpen(b, model)
	tokens := 0
	for _, text := range texts {
		tokens += len(e.words.tokens(nil, text, e.net.tokens, new(letters)))
	}
	for b.Loop() {
		if _, err := e.EmbedDocuments(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*tokens)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkQuery(b *testing.B) {
	model := os.Getenv("MINILM_DIR")
	if model == "" {
		b.Skip("MINILM_DIR is not set")
	}
	e := mustOpen(b, model)
	for b.Loop() {
		if _, err := e.EmbedQuery(b.Context(), "Which city hosted the final match of the 2022 FIFA World Cup?"); err != nil {
			b.Fatal(err)
		}
	}
}
