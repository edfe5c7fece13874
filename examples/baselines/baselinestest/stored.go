// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Stored holds a system to find in a store what it finds in memory: also after a
// change, and when it is built in the store again.
func Stored(t *testing.T, name string, recipe func(kit.Kit, kit.Common) (*kit.System, error), s store.Store) {
	memory := OfflineKit(t)
	memory.Find = find.ByVectors
	stored := memory
	stored.Place = find.Place{Store: s, Prefix: name, Encoder: memory.Encoder}
	want := evidence(t, recipe, memory)
	if diff := cmp.Diff(want, evidence(t, recipe, stored)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, evidence(t, recipe, stored)); diff != "" {
		t.Errorf("built again: %s", diff)
	}
}

// evidence indexes, asks, and asks again without a document.
func evidence(t *testing.T, recipe func(kit.Kit, kit.Common) (*kit.System, error), k kit.Kit) (ids [][]string) {
	t.Helper()
	system, err := recipe(k, kit.Common{Cut: kit.Cut{Size: 60}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := system.Close(); err != nil {
			t.Error(err)
		}
	}()
	questions := func() {
		for _, q := range Questions {
			q.K = 4
			found, err := system.Retrieve(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, h := range found.Read(q) {
				list = append(list, h.Chunk.ID)
			}
			for _, d := range found.Derived {
				list = append(list, d.Text)
			}
			ids = append(ids, list)
		}
	}
	if _, err := system.Index(t.Context(), Stream(Pages...)); err != nil {
		t.Fatal(err)
	}
	questions()
	if _, err := system.Delete(t.Context(), Pages[0].ID); err != nil {
		t.Fatal(err)
	}
	questions()
	return ids
}
