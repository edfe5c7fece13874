// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Systems find in a store what they find in memory, also after changes, and leave one generation.
func TestInStore(t *testing.T) {
	dir := t.TempDir()
	s, err := disk.Open(dir, disk.Options{})
	check.OK(t, err)
	defer s.Close()
	_, err = s.Create(t.Context(), "other", store.Schema{Tables: map[string]store.TableSchema{"t": {}}})
	check.OK(t, err)
	reading, err := disk.Open(dir, disk.Options{ReadOnly: true})
	check.OK(t, err)
	defer reading.Close()
	for _, x := range systems(t) {
		t.Run(x.Name, func(t *testing.T) {
			if x.NoDocuments {
				t.Skip()
			}
			baselinestest.Stored(t, x.New, s, reading)
			c, err := s.Open(t.Context(), x.Name)
			check.OK(t, err)
			if generations, _, err := c.Generations(t.Context()); len(generations) != 1 || err != nil {
				t.Errorf("generations %v are left, %v", generations, err)
			}
		})
	}
}

// A system by a model asks in a store as often as in memory, and nothing when it is opened.
func TestRepliesInStore(t *testing.T) {
	for _, x := range systems(t) {
		t.Run(x.Name, func(t *testing.T) {
			dir := t.TempDir()
			var calls []int
			var found []graphrag.Found
			for i := range 3 { // in memory, in a store, opened for reading
				m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
				system, err := x.New(baselinestest.ModelKit(t, m), kit.Common{})
				check.OK(t, err)
				if i > 0 && !x.NoDocuments {
					s, err := disk.Open(dir, disk.Options{ReadOnly: i == 2})
					check.OK(t, err)
					defer s.Close()
					system, err = kit.Open(t.Context(), system.Frame(), s, "c")
					check.OK(t, err)
				}
				if i < 2 || x.NoDocuments {
					baselinestest.Index(t, system, baselinestest.Pages...)
				}
				calls = append(calls, m.Calls())
				f, err := system.Retrieve(t.Context(), graphrag.Question{Text: "Who built the Fram?", K: 3})
				check.OK(t, err)
				found = append(found, f)
				check.OK(t, system.Close())
			}
			if calls[0] != calls[1] || calls[2] != 0 {
				t.Errorf("%v calls", calls)
			}
			if diff := cmp.Diff(found[0], found[1]) + cmp.Diff(found[0], found[2]); diff != "" {
				t.Errorf("(-memory +store):\n%s", diff)
			}
		})
	}
}
