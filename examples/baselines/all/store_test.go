// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Systems find in a store what they find in memory, also after changes, and leave one generation. Others
// say that they are not kept in one.
func TestInStore(t *testing.T) {
	s := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	defer s.Close()
	for _, x := range systems(t) {
		t.Run(x.Name, func(t *testing.T) {
			if slices.Contains(baselinestest.Storable, x.Name) {
				baselinestest.Stored(t, x.New, s)
				c, err := s.Open(t.Context(), x.Name)
				check.OK(t, err)
				generations, _, err := c.Generations(t.Context())
				check.True(t, len(generations) == 1 && err == nil, "generations %v are left, %v", generations, err)
				return
			}
			k := baselinestest.OfflineKit(t)
			if x.NoDocuments {
				k = baselinestest.ModelKit(t, llmtest.NewScript("m"))
			}
			system, err := x.New(k, kit.Common{})
			check.OK(t, err)
			_, err = kit.Open(t.Context(), system.Frame(), s, "other")
			check.Fails(t, err, "bm25 and naiverag", "it is opened")
		})
	}
}
