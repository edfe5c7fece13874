// SPDX-License-Identifier: Apache-2.0

package hipporag_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

// With the recorded triples and spelling in place of vectors, the figures of
// section 11 of the specification are 66.1 % at 5 with spans found by a rule of
// its own, and 47.6 without the walk.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	for _, tt := range []struct {
		name string
		o    hipporag.Options
		min  float64
	}{
		{"hipporag", hipporag.Options{}, 66},
		{"code", hipporag.Options{OverwriteSynonyms: true, ASCIIPhrases: true}, 66},
		{"no synonyms", hipporag.Options{NoSynonyms: true}, 63},
		{"no walk", hipporag.Options{Damping: 1e-12}, 45},
		{"no specificity", hipporag.Options{NoSpecificity: true}, 63},
	} {
		tt.o.Extract, tt.o.Cut.KeepLinks = m.Triples, true
		s := check.Of(hipporag.New(k, tt.o)).OK(t)
		r := m.Measure(t, s)
		t.Logf("%-15s R@1 %.1f R@2 %.1f R@5 %.1f R@10 %.1f R@20 %.1f all@5 %.0f", tt.name, r.At[1], r.At[2], r.At[5], r.At[10], r.At[20], r.All[5])
		check.True(t, r.At[5] >= tt.min, "%s: R@5 %.1f, want %v", tt.name, r.At[5], tt.min)
	}
}

// TestGoldenRun repeats a run that was made with igraph, whose file stands beside the data: exact linking, facts without synonyms, damping 0.5. The first
// ten passages of every question have its scores, and recall at 1, 2, 5, 10 and
// 20 is 30.3, 44.6, 55.1, 62.0 and 65.2 %, all gold in five 29 %.
func TestGoldenRun(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	data, err := os.ReadFile(filepath.Join(os.Getenv("MUSIQUE_DIR"), "../../golden/musique_train_runs.json"))
	if err != nil {
		t.Skip("the golden file does not stand beside the data")
	}
	var golden struct {
		Questions []struct {
			Gold  []int
			Nodes []string     `json:"query_nodes"`
			Top   [][2]float64 `json:"v1_exact_nosyn_d0.5_top10"`
		}
	}
	err = json.Unmarshal(data, &golden)
	check.Must(t, err == nil && len(golden.Questions) == len(m.Items), "%d questions, %v", len(golden.Questions), err)
	nodes := make(map[string][]string)
	for i, it := range m.Items {
		nodes[it.Question.Text] = golden.Questions[i].Nodes
	}
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	s, err := hipporag.New(k, hipporag.Options{
		Common: kit.Common{Cut: kit.Cut{KeepLinks: true}}, Extract: m.Triples, NoSynonyms: true, ASCIIPhrases: true,
		Entities: func(_ context.Context, q string) ([]string, error) { return nodes[q], nil },
		Fallback: hipporag.None,
	})
	check.OK(t, err)
	r := m.Measure(t, s)
	for k, want := range map[int]float64{1: 30.3, 2: 44.6, 5: 55.1, 10: 62.0, 20: 65.2} {
		check.True(t, math.Abs(r.At[k]-want) <= 0.1, "R@%d is %.2f, want %.1f", k, r.At[k], want)
	}
	check.True(t, math.Abs(r.All[5]-29) <= 0.1, "all@5 is %.1f, want 29", r.All[5])
	for i, it := range m.Items {
		q := it.Question
		a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: q.Text, K: 10})).OK(t)
		tolerance := 1e-6
		if slices.Contains(golden.Questions[i].Nodes, "caricom") {
			// The reference has a phrase of no letter, of the triple (Trinidad and
			// Tobago dollar, abbreviated as, $); here that triple is rejected. It is
			// one step from this question's phrases.
			tolerance = 1e-4
		}
		for j, want := range golden.Questions[i].Top {
			if want[1] == 0 {
				break // passages without a score are not found
			}
			if j >= len(a.Ranked) {
				t.Errorf("%q: %d passages", q.Text, len(a.Ranked))
				break
			}
			if got := a.Ranked[j]; got.Chunk.Doc != fmt.Sprintf("%06d", int(want[0])) || math.Abs(got.Score-want[1]) > tolerance {
				t.Errorf("%q: place %d is passage %s with %v, want %v with %v", q.Text, j+1, got.Chunk.Doc, got.Score, want[0], want[1])
				break
			}
		}
	}
}
