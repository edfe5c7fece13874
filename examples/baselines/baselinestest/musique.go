// SPDX-License-Identifier: Apache-2.0

// Package baselinestest tests systems against the figures of their papers and against common rules.
package baselinestest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
)

// MuSiQue is HippoRAG's sample of MuSiQue's training set: 100 questions over
// 1,890 passages, with the triples that gpt-3.5-turbo-1106 extracted.
type MuSiQue struct {
	Docs    []graphrag.Document
	Items   []benchmark.Item
	Triples Passages
}

// LoadMuSiQue reads the sample from the folder $MUSIQUE_DIR. Without it, or with -short, it skips the test.
func LoadMuSiQue(t testing.TB) *MuSiQue {
	t.Helper()
	dir := os.Getenv("MUSIQUE_DIR")
	if dir == "" || testing.Short() {
		t.Skip("set MUSIQUE_DIR, without -short")
	}
	set, err := multihop.Load(os.DirFS(dir), benchmark.LoadOptions{Domains: []string{multihop.MuSiQue}})
	check.OK(t, err)
	m := &MuSiQue{Items: set.Domains[0].Items}
	for d, err := range set.Domains[0].Documents() {
		check.OK(t, err)
		m.Docs = append(m.Docs, d)
	}
	if m.Triples = readPassages(t, filepath.Join(dir, "openie_results_ner_gpt-3.5-turbo-1106.json")); len(m.Triples) != 1890 {
		t.Fatalf("triples of %d passages, want 1890", len(m.Triples))
	}
	return m
}

// Passages is an extractor with recorded names and triples, by the title and text of a passage.
type Passages map[string]kg.Extraction

// readPassages reads a result file of HippoRAG, without lists that are not triples.
func readPassages(t testing.TB, name string) Passages {
	var file struct {
		Docs []struct {
			Passage  string
			Entities []string   `json:"extracted_entities"`
			Triples  [][]string `json:"extracted_triples"`
		}
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(bytes.ReplaceAll(data, []byte(": NaN"), []byte(": null")), &file) // as Python writes it
	}
	check.OK(t, err)
	out := make(Passages)
	for _, d := range file.Docs {
		var x kg.Extraction
		for _, n := range d.Entities {
			x.Mentions = append(x.Mentions, kg.Mention{Name: n})
		}
		for _, f := range d.Triples {
			if len(f) == 3 && f[0] != "" && f[2] != "" {
				x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: f[0], Relation: f[1], Tail: f[2]}})
			}
		}
		out[strings.Join(strings.Fields(d.Passage), " ")] = x
	}
	return out
}

// Extract implements extract.Extractor.
func (r Passages) Extract(_ context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		x, ok := r[strings.Join(strings.Fields(c.Title+"\n"+c.Text), " ")]
		if !ok {
			return nil, fmt.Errorf("no triples are recorded of chunk %s", c.ID)
		}
		x.Chunk, x.Doc = c.ID, c.Doc
		x.Mentions = slices.Clone(x.Mentions)
		for _, f := range x.Facts { // the ends of facts are names
			for _, n := range []string{f.Head, f.Tail} {
				if !slices.ContainsFunc(x.Mentions, func(m kg.Mention) bool { return m.Name == n }) {
					x.Mentions = append(x.Mentions, kg.Mention{Name: n})
				}
			}
		}
		out[i] = x
	}
	return out, nil
}

// Recall holds, by depth k in percent, the mean share of gold passages among the first k (At), the share
// of questions with all of them (All), and the share for each question (Each).
type Recall struct {
	At   map[int]float64
	All  map[int]float64
	Each map[int][]float64
}

// Ks lists the depths of a [Recall].
var Ks = []int{1, 2, 5, 10, 20}

// Measure indexes the passages and asks all questions.
func (m *MuSiQue) Measure(t testing.TB, s graphrag.System) Recall {
	t.Helper()
	if _, err := s.Index(t.Context(), graphrag.Documents(m.Docs...)); err != nil {
		t.Fatal(err)
	}
	r := Recall{map[int]float64{}, map[int]float64{}, map[int][]float64{}}
	for _, it := range m.Items {
		a, err := s.Answer(t.Context(), graphrag.Question{Text: it.Question.Text, K: 5, Depth: 20})
		check.OK(t, err)
		docs := make([]string, len(a.Ranked))
		for i, h := range a.Ranked {
			docs[i] = h.Chunk.Doc
		}
		for _, k := range Ks {
			share := 100 * it.Recall(docs[:min(k, len(docs))])
			r.Each[k] = append(r.Each[k], share)
			r.At[k] += share / float64(len(m.Items))
			if share == 100 {
				r.All[k] += 100 / float64(len(m.Items))
			}
		}
	}
	return r
}
