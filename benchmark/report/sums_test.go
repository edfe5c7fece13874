// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/zoo"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
)

// A report that is there stays, and is written anew when anything that it is made of is
// another, or a file is.
func TestSums(t *testing.T) {
	long := time.Unix(1e9, 0)
	page := func(dir string) string { return filepath.Join(dir, "report.html") }
	prediction := func(dir string) string { return filepath.Join(dir, "predictions", "parrot.jsonl") }
	add := func(change func(*record.Answer)) func(*testing.T, *benchmark.Runner) {
		return func(t *testing.T, r *benchmark.Runner) {
			log, err := record.Open(r.Options.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			for one, err := range log.Records() {
				a, ok := one.(record.Answer)
				if err != nil || !ok {
					continue
				}
				change(&a)
				if err := log.Add(a); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Fatal("no answer")
		}
	}
	for name, tt := range map[string]struct {
		change func(*testing.T, *benchmark.Runner)
		stays  bool
	}{
		"nothing":         {func(*testing.T, *benchmark.Runner) {}, true},
		"an answer":       {add(func(a *record.Answer) { a.Text += " anew" }), false},
		"what was ranked": {add(func(a *record.Answer) { a.Ranked = a.Ranked[1:] }), false},
		"a new page": {func(_ *testing.T, r *benchmark.Runner) {
			r.Dataset.Domains[0].Fingerprint = "another"
		}, false},
		"the gold": {func(_ *testing.T, r *benchmark.Runner) {
			r.Dataset.Domains[0].Items[0].Gold = []benchmark.Unit{{"elsewhere.txt"}}
		}, false},
		"a note":       {func(_ *testing.T, r *benchmark.Runner) { r.Dataset.Notes = []string{"odd"} }, false},
		"an option":    {func(_ *testing.T, r *benchmark.Runner) { r.Options.Limit = 1 }, false},
		"a setting":    {func(_ *testing.T, r *benchmark.Runner) { r.Options.Settings["chunk_size"] = 300 }, false},
		"a fact":       {func(_ *testing.T, r *benchmark.Runner) { r.Options.Config["topk_qa"] = 7 }, false},
		"a baseline":   {func(_ *testing.T, r *benchmark.Runner) { r.Systems[1].Baseline = true }, false},
		"a system":     {func(_ *testing.T, r *benchmark.Runner) { r.Systems = r.Systems[:1] }, false},
		"the clock":    {func(_ *testing.T, r *benchmark.Runner) { r.Options.NoTimings = false }, false},
		"the sums":     {func(t *testing.T, r *benchmark.Runner) { os.Remove(filepath.Join(r.Options.Dir, report.SumsName)) }, false},
		"a file":       {func(t *testing.T, r *benchmark.Runner) { os.Remove(prediction(r.Options.Dir)) }, false},
		"a file's end": {func(t *testing.T, r *benchmark.Runner) { os.Truncate(prediction(r.Options.Dir), 10) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			dir := t.TempDir()
			if _, err := run(t, zoo.Runner(dir, &calls, nil)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(page(dir), long, long); err != nil {
				t.Fatal(err)
			}
			again := zoo.Runner(dir, &calls, nil)
			tt.change(t, again)
			if _, err := run(t, again); err != nil {
				t.Fatal(err)
			}
			now, err := os.Stat(page(dir))
			if err != nil {
				t.Fatal(err)
			}
			if stayed := now.ModTime().Equal(long); stayed != tt.stays {
				t.Errorf("the page stayed: %v, want %v", stayed, tt.stays)
			}
			// Whatever was there before, the files are those of a folder without a report.
			got := files(t, dir)
			fresh := t.TempDir()
			again.Options.Dir = fresh
			if err := os.Link(filepath.Join(dir, record.JournalName), filepath.Join(fresh, record.JournalName)); err != nil {
				t.Skip(err)
			}
			if _, err := run(t, again); err != nil {
				t.Fatal(err)
			}
			for file, want := range files(t, fresh) {
				if got[file] != want {
					t.Errorf("%s is stale", file)
				}
			}
		})
	}
}
