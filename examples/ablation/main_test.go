// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestAblation(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-domains", "seafaring"}, &out, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(settings())+1 || !strings.HasPrefix(lines[1], "bm25 ") {
		t.Errorf("output:\n%s", out.String())
	}
	if err := run(t.Context(), nil, &out, &out); err == nil || !strings.Contains(err.Error(), "-data") {
		t.Errorf("without data: %v", err)
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
