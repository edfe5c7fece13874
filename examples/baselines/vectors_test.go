// SPDX-License-Identifier: Apache-2.0

package baselines_test

import (
	"context"
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines"
)

// Cosines are those by which Best ranks.
func TestCosines(t *testing.T) {
	kit := offline(t)
	texts := []string{"the barn owl hunts a mouse", "an eagle owl takes a hare", "the moon and the tides"}
	e, err := kit.Embedder(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	v, err := baselines.NewVectors(t.Context(), e, texts)
	if err != nil {
		t.Fatal(err)
	}
	query, err := e.EmbedQuery(t.Context(), "which owl hunts a hare")
	if err != nil {
		t.Fatal(err)
	}
	for i := range query {
		query[i] *= 3
	}
	best, err := v.Best(query, 3)
	if err != nil || len(best) != 3 {
		t.Fatal(best, err)
	}
	got := v.Cosines(query, []int32{2, 0, 1})
	for _, b := range best {
		if place := map[int32]int{2: 0, 0: 1, 1: 2}[b.ID]; math.Abs(got[place]-float64(b.Score)) > 1e-6 {
			t.Errorf("text %d: %v and %v", b.ID, got[place], b.Score)
		}
	}
	if got := v.Cosines(make([]float32, len(query)), []int32{1}); got[0] != 0 {
		t.Errorf("with nothing: %v", got)
	}
	if got := new(baselines.Vectors).Cosines(query, nil); len(got) != 0 {
		t.Errorf("without texts: %v", got)
	}
}

// fixedRows are the vectors of texts, whatever these say.
type fixedRows [][]float32

func (f fixedRows) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return f[:len(texts)], nil
}
func (f fixedRows) EmbedQuery(context.Context, string) ([]float32, error) { return f[0], nil }

// A text is no neighbour of itself, not even where others are its equals, and
// more texts than one pass compares are compared all the same.
func TestNeighbors(t *testing.T) {
	rows := fixedRows{{1, 0}, {1, 0}, {1, 0}, {0, 1}, {.5, 1}}
	for len(rows) < 2000 {
		rows = append(rows, []float32{-1, -1})
	}
	v, err := baselines.NewVectors(t.Context(), rows, make([]string, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	near, err := v.Neighbors(t.Context(), 2)
	if err != nil || len(near) != len(rows) {
		t.Fatal(len(near), err)
	}
	for i, want := range map[int][2]int32{0: {1, 2}, 1: {0, 2}, 2: {0, 1}, 3: {4, 0}, 1999: {5, 6}} {
		if len(near[i]) != 2 || near[i][0].ID != want[0] || near[i][1].ID != want[1] {
			t.Errorf("%d: %v, want %v", i, near[i], want)
		}
	}
	one, err := baselines.NewVectors(t.Context(), rows, make([]string, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*baselines.Vectors{one, {}} {
		if near, err := v.Neighbors(t.Context(), 2); err != nil || len(near) != v.Len() || v.Len() == 1 && len(near[0]) != 0 {
			t.Errorf("%d texts: %v, %v", v.Len(), near, err)
		}
	}
}
