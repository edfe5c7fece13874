// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

func TestSweepFlag(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []int // nil: refused
	}{
		{"2..5", []int{2, 3, 4, 5}}, {"8", []int{8}}, {"12, 2..3,3", []int{2, 3, 12}},
		{"", nil}, {"..", nil}, {"5..2", nil}, {"0..3", nil}, {"-1", nil}, {"2...4", nil}, {"1..1000000000", nil}, {"2..x", nil}, {"99999999999999999999", nil},
	} {
		got, err := parseSweep(tt.text)
		check.True(t, (err != nil) == (tt.want == nil) && slices.Equal(got, tt.want), "%q: %v, %v; want %v", tt.text, got, err, tt.want)
	}
}

// Figure 5: a finished run is swept from the folder it left.
func TestSweepOfSample(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-out", dir, "-systems", "bm25,zeroshot", "-no-timings", "-v"}
	if _, _, err := bench(t, bare, args...); err != nil {
		t.Fatal(err)
	}
	plain := readReport(t, dir)
	stdout, _, err := bench(t, bare, append(args, "-sweep", "2..12")...)
	check.OK(t, err)
	r := readReport(t, dir)
	points := r.Systems[0].Sweep
	check.Must(t, len(points) == 11 && points[0].K == 2 && points[10].K == 12 && points[0].Lexical != nil &&
		points[0].Judged == nil, "%d points: %+v", len(points), points)
	for i, p := range points[1:] {
		// More chunks never lose a page or shorten the context.
		check.True(t, *p.PromptRecall >= *points[i].PromptRecall &&
			*p.ContextTokens >= *points[i].ContextTokens, "k = %d has less than k = %d", p.K, points[i].K)
	}
	check.Equal(t, points[8].Type, plain.Systems[0].Overall.Types["summary"], "k = 10 is not the run's own (-run +sweep)")
	for _, want := range []string{"Summaries over top-k (extracted answers, lexical judge)", "bm25, k = 8", "lexical judge"} {
		check.Contains(t, stdout, want, "the output")
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || strings.Count(string(page), `<figure class="chart"`) != 2 || !strings.Contains(string(page), "Lexical mean F1 of statements, summaries (%)") {
		t.Errorf("%d charts, %v", strings.Count(string(page), `<figure class="chart"`), err)
	}
}

// The estimate counts every other top-k: 6 summaries at four of them.
func TestSweepDryRun(t *testing.T) {
	serve(t, nil)
	args := []string{"-dry-run", "-model", "m", "-systems", "bm25,zeroshot"}
	for stage, calls := range map[string][2]int{"bm25 answer": {24, 48}, "zeroshot answer": {24, 24}} {
		for i, more := range [][]string{nil, {"-sweep", "8..12"}} {
			stdout, _, err := bench(t, bare, append(slices.Clone(args), more...)...)
			check.OK(t, err)
			got := dryRow(t, stdout, stage)[0]
			check.True(t, got == calls[i], "%s, %v: %d calls, want %d:\n%s", stage, more, got, calls[i], stdout)
		}
	}
}
