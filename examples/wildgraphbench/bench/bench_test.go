// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

// firstPage is a system that finds the first page of a domain, whatever is asked.
type firstPage struct{ page graphrag.Document }

func (f *firstPage) Index(_ context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	for d, err := range docs {
		f.page = d
		return graphrag.IndexStats{Documents: 1}, err
	}
	return graphrag.IndexStats{}, nil
}

func (f *firstPage) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	hits := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: f.page.ID, Doc: f.page.ID, Text: f.page.Text}, Score: 1}}
	return graphrag.Answer{Text: f.page.Title, Found: graphrag.Found{Ranked: hits, Evidence: hits}}, nil
}

func (f *firstPage) Close() error { return nil }

func newFirstPage(kit.Kit, kit.Common) (benchmark.System, error) { return &firstPage{}, nil }

// A program of one's own: every flag of the benchmark, and one more system.
func ExampleMain() {
	Main(System{Name: "first-page", New: newFirstPage})
}

// A system of one's own has a row, can be named in -systems, alone and with others, and
// takes part in a dry run.
func TestOwnSystem(t *testing.T) {
	mine := System{Name: "first-page", New: newFirstPage}
	for _, tt := range []struct {
		own  []System
		args []string
		want string
	}{
		{[]System{mine}, []string{"-systems", "bm25,first-page"}, " first-page "},
		{[]System{mine}, []string{"-systems", "first-page"}, " first-page "},
		{[]System{mine}, []string{"-systems", "first-page", "-dry-run"}, "no call of a model"},
		{[]System{mine}, []string{"-list-systems"}, "first-page   of this program"},
		{[]System{mine}, []string{"-systems", "firstpage"}, "did you mean first-page?"},
		{[]System{mine, mine}, nil, "two systems have the name"},
		{[]System{{Name: "bm25", New: newFirstPage}}, nil, "two systems have the name"},
		{[]System{{Name: "../x", New: newFirstPage}}, nil, `the name "../x"`},
		{[]System{{Name: "x"}}, nil, "has no New"},
	} {
		var out, errs strings.Builder
		err := run(t.Context(), append(tt.args, "-out", filepath.Join(t.TempDir(), "out")), bare, &out, &errs, tt.own...)
		said := out.String()
		if err != nil {
			said += err.Error()
		}
		check.True(t, strings.Contains(said, tt.want), "%v: %s\nwant %q", tt.args, said, tt.want)
	}
}

// With a budget all systems read about as much, and none more.
func TestBudgetContext(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := bench(t, bare, "-out", dir, "-systems", "bm25,wild,raptor,hipporag2,lightrag", "-budget-context", "800", "-chunk-size", "200", "-chunk-overlap", "20"); err != nil {
		t.Fatal(err)
	}
	for _, s := range readReport(t, dir).Systems {
		all := s.Overall.Types[benchmark.All]
		n := *all.ContextTokens
		check.True(t, n <= 1600 && n >= 400, "%s reads %.0f tokens", s.System, n)
		check.True(t, s.System != "wild" || *all.PromptRecall >= .8, "wild reads %.2f of the pages", *all.PromptRecall)
	}
	_, _, err := bench(t, bare, "-budget-context", "-1", "-sweep", "2..4")
	check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), "-budget-context -1: want 0 or more"), "a negative budget: %v", err)
	_, _, err = bench(t, bare, "-budget-context", "9", "-sweep", "2..4")
	check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), "-sweep has no meaning"), "a budget and a sweep: %v", err)
}

// On the released six domains wild reads what docs/systems.md says, and BM25 beside it is no
// weaker than it was: beside a weaker baseline the figures would say nothing.
func TestReleasedData(t *testing.T) {
	data := os.Getenv("WILDGRAPHBENCH_DIR")
	if data == "" || testing.Short() {
		t.Skip("set WILDGRAPHBENCH_DIR, without -short")
	}
	dir := t.TempDir()
	_, _, err := bench(t, bare, "-data", data, "-out", dir, "-systems", "wild,bm25", "-budget-context", "6000")
	check.OK(t, err)
	want := map[string]struct{ summary, recall, coverage float64 }{"wild": {.755, .87, .39}, "bm25": {.22, .57, .425}}
	for _, s := range readReport(t, dir).Systems {
		all, least := s.Overall.Types[benchmark.All], want[s.System]
		summary, recall, coverage := *s.Overall.Types[wildgraph.Summary].PromptRecall, *all.PromptRecall, *all.Found
		check.True(t, summary >= least.summary && recall >= least.recall && coverage >= least.coverage,
			"%s: recall of summaries %.3f, of all %.3f, coverage %.3f, want %v", s.System, summary, recall, coverage, least)
	}
}
