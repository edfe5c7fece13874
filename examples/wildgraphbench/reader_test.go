// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// labelled is a line of testdata/reader.
type labelled struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Held   bool   `json:"held"`
	Answer string `json:"answer"`
	Judge  bool   `json:"judge"`
	Label  string `json:"label"`
}

func readLabels(t *testing.T, name string) map[string]labelled {
	t.Helper()
	out := make(map[string]labelled)
	f, err := os.Open("testdata/reader/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for l, err := range jsonl.Read[labelled](f, jsonl.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		out[l.Value.ID] = l.Value
	}
	return out
}

// The offline reader still gives the answers whose labels docs/offline.md counts.
func TestReaderLabels(t *testing.T) {
	drawn, after := readLabels(t, "drawn.jsonl"), readLabels(t, "after.jsonl")
	right := map[bool]int{}
	for id, x := range after {
		if _, ok := drawn[id]; !ok || !slices.Contains([]string{"right", "partly", "wrong", "refused"}, x.Label) {
			t.Fatalf("%s is not drawn, or labelled %q", id, x.Label)
		}
		if x.Label == "right" {
			right[drawn[id].Held]++
		}
	}
	if len(after) != len(drawn) || right[false] != 29 || right[true] != 15 {
		t.Errorf("%d of %d labelled, right: %v", len(after), len(drawn), right)
	}
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	set, _, err := wildgraph.Load(os.DirFS(dir), wildgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := maps.Clone(after)
	for _, d := range set.Domains {
		parts, err := kit.Offline(kit.OfflineOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		system, err := bm25.New(parts, bm25.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := system.Index(t.Context(), d.Documents()); err != nil {
			t.Fatal(err)
		}
		for _, it := range d.Items {
			x, ok := after[it.Question.ID]
			if !ok {
				continue
			}
			q, form := it.Question, slices.IndexFunc(set.Types, func(ty benchmark.Type) bool { return ty.Key == it.Type })
			q.Form, q.K = set.Types[form].Form, set.Types[form].K
			a, err := system.Answer(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if a.Text == x.Answer {
				delete(other, x.ID)
			}
		}
	}
	if n := len(other); n > 6 { // one in twenty
		t.Errorf("%d of %d answers are others: label them again", n, len(after))
	}
}
