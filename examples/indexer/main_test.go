// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
)

// library writes documents of one chunk each, whose names hang together.
func library(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("Captain Arne%d sailed the ship Fram%d from Oslo%d to the north.\n", i, i%211, i%17)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("log%05d.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// contents are the files of a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// Offline, into a folder, twice: the second run finds everything done.
func TestLocal(t *testing.T) {
	docs, dir := library(t, 5), t.TempDir()
	var last map[string]string
	for i := range 2 {
		var stdout, stderr bytes.Buffer
		out := filepath.Join(dir, fmt.Sprint(i))
		args := []string{"-docs", docs, "-store", filepath.Join(dir, "store"), "-knowledge", "triples", "-reports", "-export", out}
		if err := run(t.Context(), args, &stdout, &stderr); err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		if !strings.Contains(stdout.String(), "publish              1") || !strings.Contains(stdout.String(), "cost 0") {
			t.Errorf("%s", stdout.String())
		}
		files := contents(t, out)
		if n := strings.Count(files["chunks.records.jsonl"], "\n"); n != 5 {
			t.Errorf("%d chunks", n)
		}
		for name := range last {
			if last[name] != files[name] {
				t.Errorf("%s differs", name)
			}
		}
		last = files
	}
}

// An encoder in a folder embeds without a server.
func TestEncoder(t *testing.T) {
	encoder := t.TempDir()
	if err := embedtest.WriteBERT(encoder); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	args := []string{"-docs", library(t, 5), "-store", filepath.Join(t.TempDir(), "store"), "-embed-model", encoder}
	if err := run(t.Context(), args, &stdout, new(bytes.Buffer)); err != nil || !strings.Contains(stdout.String(), "embed                1") {
		t.Errorf("error %v: %s", err, stdout.String())
	}
}

func TestFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"-store is missing": {"-docs", "x"},
		"-docs is missing":  {"-store", "x"},
		"one process":       {"-store", "x", "-docs", "x", "-temporal", "localhost:7233"},
		"none/config.json":  {"-store", t.TempDir(), "-docs", "x", "-embed-model", "file:none"},
		"Dim is 3":          {"-store", t.TempDir(), "-docs", "x", "-dim", "3"},
	} {
		if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
