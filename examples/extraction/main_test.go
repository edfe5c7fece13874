// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

const sample = "../wildgraphbench/sample"

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(context.Background(), append([]string{"-data", sample}, args...), &out, io.Discard); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

func TestStats(t *testing.T) {
	out := output(t, "-stats")
	head, rows, _ := strings.Cut(out, "\n")
	if !strings.Contains(head, "isolated") || len(strings.Fields(rows)) < 10 {
		t.Errorf("got\n%s", out)
	}
}

// A sample is the same at any number of workers; its items quote the pages; verdicts
// are taken once, and for what is found.
func TestVerdicts(t *testing.T) {
	out := output(t, "-sample", "12", "-seed", "3", "-workers", "1")
	if again := output(t, "-sample", "12", "-seed", "3", "-workers", "3"); again != out {
		t.Fatal("another number of workers draws another sample")
	}
	var verdicts bytes.Buffer
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		var it item
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		pages, err := filepath.Glob(filepath.Join(sample, "corpus", it.Domain, "*", "reference_pages", it.Page))
		if err != nil || len(pages) != 1 {
			t.Fatalf("page %q: %v, %v", it.Page, pages, err)
		}
		data, err := os.ReadFile(pages[0])
		if err != nil {
			t.Fatal(err)
		}
		if it.Kind == "entity" && !strings.Contains(string(data[it.Start:it.End]), strings.Fields(it.Text)[0]) {
			t.Errorf("%q: bytes %d to %d are %q", it.Text, it.Start, it.End, data[it.Start:it.End])
		}
		v := verdict{it, "right", ""}
		if i == 0 {
			v.Verdict, v.Reason = "wrong", "bounds"
		}
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		verdicts.Write(append(line, '\n'))
	}
	file := filepath.Join(t.TempDir(), "verdicts.jsonl")
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(verdicts.Bytes())
	if got := output(t, "-verdicts", file); strings.Count(got, "precision") != 4 || !strings.Contains(got, "bounds 1") || strings.Count(got, ", 0 others") != 4 {
		t.Errorf("got\n%s", got)
	}
	first, _, _ := bytes.Cut(verdicts.Bytes(), []byte("\n"))
	for name, c := range map[string]struct {
		add  string
		want string
	}{
		"twice":       {string(first), "has two verdicts"},
		"no verdict":  {strings.Replace(string(first), `"wrong"`, `"perhaps"`, 1), "two verdicts"},
		"not found":   {strings.Replace(string(first), `"text":"`, `"text":"x`, 1), "1 of 13 verdicts are about what is not found"},
		"no judgment": {strings.NewReplacer(`"text":"`, `"text":"x`, `"wrong"`, `"perhaps"`).Replace(string(first)), "neither right nor wrong"},
	} {
		write(append(slices.Clip(verdicts.Bytes()), c.add...))
		err := run(context.Background(), []string{"-data", sample, "-verdicts", file}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// The published verdicts are about what the code finds now.
func TestPublishedVerdicts(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	var out bytes.Buffer
	err := run(context.Background(), []string{"-data", dir, "-domains", "people,history", "-verdicts", "../../docs/extraction-verdicts.jsonl"}, &out, io.Discard)
	if err != nil || strings.Count(out.String(), "precision") != 4 {
		t.Errorf("error %v, output\n%s", err, out.String())
	}
	t.Log(out.String())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"-data", sample}, {"-data", sample, "-sample", "-1"}, {"-data", sample, "-stats", "-verdicts", "x"}} {
		if err := run(context.Background(), args, io.Discard, io.Discard); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
