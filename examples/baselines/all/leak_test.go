// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// No system says anything of documents that a question or a scope excludes, offline, with a model,
// and in a store. WILDGRAPH_LEAKS is how many questions each is asked.
func TestNothingLeaks(t *testing.T) {
	questions := 16
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_LEAKS")); err == nil {
		questions = n
	}
	inStore := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	t.Cleanup(func() { _ = inStore.Close() })
	for _, x := range systems(t) {
		if x.NoDocuments {
			continue
		}
		for kind, k := range map[string]func() kit.Kit{
			"offline": func() kit.Kit { return baselinestest.OfflineKit(t) },
			"model": func() kit.Kit {
				return baselinestest.ModelKit(t, llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient))
			},
		} {
			t.Run(x.Name+"/"+kind, func(t *testing.T) {
				s := check.Of(x.New(k(), kit.Common{})).OK(t)
				n := questions
				if kind != "offline" {
					n = max(8, questions/4)
				}
				baselinestest.Leaks(t, s, n)
				check.OK(t, s.Close())
			})
		}
		if slices.Contains(baselinestest.Storable, x.Name) {
			t.Run(x.Name+"/store", func(t *testing.T) {
				s := baselinestest.InStore(t, x.New, inStore)
				baselinestest.Leaks(t, s, questions)
				check.OK(t, s.Close())
			})
		}
	}
}
