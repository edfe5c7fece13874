// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

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
