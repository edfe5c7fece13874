// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

func TestAblation(t *testing.T) {
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-domains", "seafaring"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(progress.String(), "\n"); n != len(settings()) {
		t.Errorf("%d lines of progress", n)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(settings())+1 || !strings.HasPrefix(lines[1], "bm25 ") {
		t.Errorf("output:\n%s", out.String())
	}
	for _, line := range lines[1:] {
		if utf8.RuneCountInString(line) != utf8.RuneCountInString(lines[0]) {
			t.Errorf("not aligned: %q under %q", line, lines[0])
		}
	}
	if err := run(t.Context(), nil, &out, &out); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "-data") {
		t.Errorf("without data: %v", err)
	}
	out.Reset()
	if status := cli.Fail(&out, "ablation", run(t.Context(), []string{"-h"}, &out, &out)); status != 0 || !strings.HasPrefix(out.String(), "Usage: ablation [flags]\n") || strings.Contains(out.String(), "requested") {
		t.Errorf("-h: status %d, %s", status, out.String())
	}
}

// On the sample a system finds most pages, apart and merged.
func TestMerged(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-merged", "bm25"}, &out, &out); err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(strings.Split(out.String(), "\n")[1])
	if len(fields) != 4 || fields[0] != "bm25" || fields[1] < "50" || fields[2] < "50" {
		t.Errorf("output:\n%s", out.String())
	}
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-merged", "no-such"}, &out, &out); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("an unknown system: %v", err)
	}
}
