// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

func TestBudgets(t *testing.T) {
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-budgets", "600,300"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1+len(spenders())+2 || !strings.HasPrefix(lines[1], "600     wild ") || !strings.HasPrefix(lines[len(lines)-1], "300     bm25, ") {
		t.Errorf("output:\n%s", out.String())
	}
	if err := run(t.Context(), []string{"-data", "x", "-budgets", "6k"}, &out, &out); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), `"6k"`) {
		t.Errorf("got %v", err)
	}
}

// On the six domains wild holds the figures of docs/systems.md, and the baseline its own:
// beside a weaker one they would say nothing.
func TestReleasedData(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	set, _, err := wildgraph.Load(os.DirFS(dir), wildgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ recall, found float64 }{{87, 40}, {82.5, 24}} {
		got, err := spenders()[i].spend(t.Context(), set, 6000)
		if err != nil {
			t.Fatal(err)
		}
		if r, f := got.mean(got.recall, ""), got.mean(got.found, ""); r < want.recall || f < want.found {
			t.Errorf("%s: recall %.1f, found %.1f, want %v", spenders()[i].name, r, f, want)
		}
	}
}
