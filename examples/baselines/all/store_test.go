// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// Every system finds in a store what it finds in memory, also after a change.
func TestInStore(t *testing.T) {
	s, err := disk.Open(t.TempDir(), disk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	inMemory := baselinestest.OfflineKit(t)
	inMemory.Find = find.ByVectors
	for _, x := range all.Systems() {
		if x.Blind {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			want := ask(t, x, inMemory)
			if diff := cmp.Diff(want, ask(t, x, inStore(inMemory, s, x.Name))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want, ask(t, x, inStore(inMemory, s, x.Name))); diff != "" {
				t.Errorf("built again: %s", diff)
			}
		})
	}
	names, err := s.Collections(t.Context())
	if err != nil || len(names) < 20 {
		t.Errorf("the systems made %d collections, %v", len(names), err)
	}
	for _, name := range names {
		c, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if generations, _, err := c.Generations(t.Context()); len(generations) != 1 || err != nil {
			t.Errorf("%s: generations %v are left, %v", name, generations, err)
		}
	}
}

func inStore(k kit.Kit, s store.Store, prefix string) kit.Kit {
	k.Place = find.Place{Store: s, Prefix: prefix, Encoder: k.Encoder}
	return k
}

// ask indexes, asks, and asks again without a document.
func ask(t *testing.T, x all.System, k kit.Kit) (ids [][]string) {
	t.Helper()
	system, err := x.New(k, kit.Common{Cut: kit.Cut{Size: 60}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := system.Close(); err != nil {
			t.Error(err)
		}
	}()
	questions := func() {
		for _, q := range baselinestest.Questions {
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
	if _, err := system.Index(t.Context(), baselinestest.Stream(baselinestest.Pages...)); err != nil {
		t.Fatal(err)
	}
	questions()
	if _, err := system.Delete(t.Context(), baselinestest.Pages[0].ID); err != nil {
		t.Fatal(err)
	}
	questions()
	return ids
}
