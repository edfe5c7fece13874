// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// A store with graphs finds what one without finds, what was deleted and what a
// condition leaves out excepted.
func TestGraph(t *testing.T) {
	t.Parallel()
	const n, dim = 16000, 8
	ctx := t.Context()
	s := open(t, t.TempDir(), disk.Options{Graph: true})
	defer s.Close()
	c, err := s.Create(ctx, "x", store.Schema{Tables: map[string]store.TableSchema{
		"t": {Dim: dim, Fields: map[string]store.Kind{"half": store.Number}}}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Write(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	table, err := g.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	vector := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	var records []store.Record
	for i := range n {
		records = append(records, store.Record{ID: fmt.Sprintf("%05d", i), Vector: vector(), Fields: map[string]any{"half": float64(i % 2)}})
	}
	if err := table.Put(ctx, records...); err != nil {
		t.Fatal(err)
	}
	if err := g.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(table.Delete(ctx, "00000", "00002"), g.Flush(ctx)); err != nil {
		t.Fatal(err)
	}
	hits := 0
	for range 20 {
		q := store.VectorQuery{Vector: vector(), K: 10, Where: store.Range("half", 0, 0)}
		exact := q
		exact.Effort = 1
		found, err := table.SearchVectors(ctx, q, exact)
		if err != nil {
			t.Fatal(err)
		}
		want := map[store.Hit]bool{}
		for _, h := range found[1] {
			want[h] = true
		}
		for _, h := range found[0] {
			if h.ID == "00000" || h.ID == "00002" {
				t.Errorf("%s was deleted", h.ID)
			}
			if want[h] {
				hits++
			}
		}
	}
	if hits < 196 {
		t.Errorf("%d of 200 found", hits)
	}
}
