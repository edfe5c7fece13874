// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// Every system finds in a store what it finds in memory, also after a change.
func TestInStore(t *testing.T) {
	s, err := disk.Open(t.TempDir(), disk.Options{})
	baselinestest.OK(t, err)
	defer s.Close()
	for _, x := range systems(t) {
		if x.Blind {
			continue
		}
		t.Run(x.Name, func(t *testing.T) { baselinestest.Stored(t, x.Name, x.New, s, nil) })
	}
	names, err := s.Collections(t.Context())
	if err != nil || len(names) < 20 {
		t.Errorf("the systems made %d collections, %v", len(names), err)
	}
	for _, name := range names {
		c, err := s.Open(t.Context(), name)
		baselinestest.OK(t, err)
		if generations, _, err := c.Generations(t.Context()); len(generations) != 1 || err != nil {
			t.Errorf("%s: generations %v are left, %v", name, generations, err)
		}
	}
}
