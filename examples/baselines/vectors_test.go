// SPDX-License-Identifier: Apache-2.0

package baselines_test

import (
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
