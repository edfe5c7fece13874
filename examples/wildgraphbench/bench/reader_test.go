// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
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
	// Of are the contexts that the answer was given over.
	Of []string `json:"of"`
}

func readLabels(t *testing.T, name string) []labelled {
	t.Helper()
	var out []labelled
	f := check.Of(os.Open("testdata/reader/" + name)).OK(t)
	defer f.Close()
	for l, err := range jsonl.Read[labelled](f, jsonl.Options{}) {
		check.OK(t, err)
		out = append(out, l.Value)
	}
	return out
}

// The labels are as docs/offline.md counts them, and the offline reader still gives the
// answers.
func TestReaderLabels(t *testing.T) {
	held := make(map[string]bool)
	for _, x := range readLabels(t, "drawn.jsonl") {
		held[x.ID] = x.Held
	}
	type count struct{ asked, right, held int }
	got, answers := make(map[string]count), make(map[string]labelled)
	blind := readLabels(t, "blind.jsonl")
	for _, x := range blind {
		_, ok := held[x.ID]
		check.Must(t, ok && slices.Contains([]string{"right", "partly", "wrong", "refused"}, x.Label), "%s is not drawn, or labelled %q", x.ID, x.Label)
		for _, of := range x.Of {
			c := got[of]
			c.asked++
			if x.Label == "right" {
				c.right++
				if held[x.ID] {
					c.held++
				}
			}
			got[of] = c
			if of == "calibrated" {
				answers[x.ID] = x
			}
		}
	}
	if want := map[string]count{
		"after": {126, 46, 14}, "bm25": {126, 46, 14}, "bm25, encoder": {126, 46, 13}, "wild": {125, 43, 14}, "wild, encoder": {125, 49, 18}, "calibrated": {126, 47, 14},
	}; !maps.Equal(got, want) {
		t.Errorf("right: %v, want %v", got, want)
	}
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	set := check.Of(wildgraph.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	other := maps.Clone(answers)
	for _, d := range set.Domains {
		parts := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
		system := check.Of(flat.NewBM25(parts, flat.BM25Options{})).OK(t)
		check.OK(t, check.Err(system.Index(t.Context(), d.Documents())))
		for _, it := range d.Items {
			x, ok := answers[it.Question.ID]
			if !ok {
				continue
			}
			q, form := it.Question, slices.IndexFunc(set.Types, func(ty benchmark.Type) bool { return ty.Key == it.Type })
			q.Form, q.K = set.Types[form].Form, set.Types[form].K
			a := check.Of(system.Answer(t.Context(), q)).OK(t)
			if a.Text == x.Answer {
				delete(other, x.ID)
			}
		}
	}
	if n := len(other); n > 6 { // one in twenty
		t.Errorf("%d of %d answers are others: label them again", n, len(answers))
	}
}
