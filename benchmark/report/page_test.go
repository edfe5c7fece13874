// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// cells are the states in the index of a page, by system.
func cells(t *testing.T, file string) map[string][]page.State {
	t.Helper()
	_, rest, _ := strings.Cut(file, `id="index">`)
	packed, _, _ := strings.Cut(rest, "<")
	raw := check.Of(base64.StdEncoding.DecodeString(packed)).OK(t)
	z := check.Of(gzip.NewReader(bytes.NewReader(raw))).OK(t)
	var index struct {
		Systems []page.System
		Cells   []struct{ State []page.State }
	}
	check.OK(t, json.NewDecoder(z).Decode(&index))
	for i, s := range index.Systems {
		check.True(t, slices.Contains(index.Cells[i].State, page.Pending) == strings.HasPrefix(s.Note, "only "), "%s: the note is %q", s.Name, s.Note)
	}
	out := make(map[string][]page.State)
	for i, s := range index.Systems {
		out[s.Name] = index.Cells[i].State
	}
	return out
}

// A run that was stopped has a report of what is there; what is missing is neither
// wrong nor in any figure.
func TestUnfinished(t *testing.T) {
	var calls atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	r := benchtest.Runner(dir, &calls, func(n int64, _ graphrag.Question) error {
		if n == 3 {
			cancel()
		}
		return ctx.Err()
	})
	r.Options.Concurrency = 1
	part, err := r.Run(ctx)
	check.Must(t, err != nil && part != nil, "%v, %v", part, err)
	rep := check.Of(report.Write(dir, part)).OK(t)
	file := benchtest.Files(t, dir)["/report.html"]
	states := cells(t, file)["parrot"]
	missing := 0
	for _, s := range states {
		if s == page.Pending {
			missing++
		}
	}
	check.True(t, missing != 0 && missing != len(states) && strings.Contains(file, "Unfinished: "), "states %v", states)
	n := rep.Systems[0].Overall.Types["all"].N
	check.Equal(t, n, len(states)-missing, "figures over %d questions", n)
	// The next start goes on, and nothing is missing.
	calls.Store(100)
	r = benchtest.Runner(dir, &calls, nil)
	check.OK(t, check.Err(report.Write(dir, check.Of(r.Run(t.Context())).OK(t))))
	file = benchtest.Files(t, dir)["/report.html"]
	for name, states := range cells(t, file) {
		check.True(t, !slices.Contains(states, page.Pending) && !strings.Contains(file, "Unfinished"), "%s lacks answers: %v", name, states)
	}
}
