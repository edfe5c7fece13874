// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

// With a budget all systems read about as much, and none more.
func TestBudgetContext(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := bench(t, bare, "-out", dir, "-systems", "bm25,wild,raptor,hipporag2,lightrag", "-budget-context", "800", "-chunk-size", "200", "-chunk-overlap", "20"); err != nil {
		t.Fatal(err)
	}
	for _, s := range readReport(t, dir).Systems {
		all := s.Overall.Types[benchmark.All]
		if n := *all.ContextTokens; n > 1600 || n < 400 {
			t.Errorf("%s reads %.0f tokens", s.System, n)
		}
		if s.System == "wild" && *all.PromptRecall < .8 {
			t.Errorf("wild reads %.2f of the pages", *all.PromptRecall)
		}
	}
	_, _, err := bench(t, bare, "-budget-context", "-1", "-sweep", "2..4")
	if !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "-budget-context -1: want 0 or more") {
		t.Errorf("a negative budget: %v", err)
	}
	if _, _, err = bench(t, bare, "-budget-context", "9", "-sweep", "2..4"); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "-sweep has no meaning") {
		t.Errorf("a budget and a sweep: %v", err)
	}
}
