// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/internal/check"
)

// library writes documents of one chunk each, whose names hang together.
func library(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("Captain Arne%d sailed the ship Fram%d from Oslo%d to the north.\n", i, i%211, i%17)
		check.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("log%05d.txt", i)), []byte(text), 0o644))
	}
	return dir
}

func TestOpen(t *testing.T) {
	for place, want := range map[string]string{filepath.Join(t.TempDir(), "none"): "there is no store", "postgres://127.0.0.1:1/none": "127.0.0.1"} {
		s, err := open(t.Context(), place, true)
		if err == nil {
			s.Close()
		}
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want %q", place, err, want)
	}
}

func TestLine(t *testing.T) {
	p := index.Progress{Round: 2, Shares: 8, Done: 3, Missing: 1200}
	got, want := line(p), "round 2: 3 of 8 shares, 1,200 replies missing before; 0 calls, 0 texts embedded"
	check.Equal(t, got, want)
}
