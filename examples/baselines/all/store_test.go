// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Systems find in a store what they find in memory, also after changes, and leave one generation.
func TestInStore(t *testing.T) {
	dir := t.TempDir()
	s, err := disk.Open(dir, disk.Options{})
	check.OK(t, err)
	defer s.Close()
	_, err = s.Create(t.Context(), "other", store.Schema{Tables: map[string]store.TableSchema{"t": {}}})
	check.OK(t, err)
	reading := check.Of(disk.Open(dir, disk.Options{ReadOnly: true})).OK(t)
	defer reading.Close()
	for _, x := range systems(t) {
		t.Run(x.Name, func(t *testing.T) {
			if x.NoDocuments {
				t.Skip()
			}
			baselinestest.Stored(t, x.New, s, reading)
			c := check.Of(s.Open(t.Context(), x.Name)).OK(t)
			generations, _, err := c.Generations(t.Context())
			check.True(t, len(generations) == 1 && err == nil, "generations %v are left, %v", generations, err)
		})
	}
}
