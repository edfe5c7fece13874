// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

func TestBudgets(t *testing.T) {
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-budgets", "600,300"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1+len(spenders(offline(t)))+2 || !strings.HasPrefix(lines[1], "600     wild ") || !strings.HasPrefix(lines[len(lines)-1], "300     bm25, ") {
		t.Errorf("output:\n%s", out.String())
	}
	if err := run(t.Context(), []string{"-data", "x", "-budgets", "6k"}, &out, &out); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), `"6k"`) {
		t.Errorf("got %v", err)
	}
}

// Systems over the passages read one of each page, within the budget.
func TestOnPassages(t *testing.T) {
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-budgets", "900", "-passages", "bm25,linearrag"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[3], "bm25 on the passages") || !strings.Contains(lines[4], "linearrag on the passages") {
		t.Errorf("output:\n%s", out.String())
	}
	systems, err := onPassages(offline(t), []string{"bm25"})
	if err != nil {
		t.Fatal(err)
	}
	var docs []graphrag.Document
	for i := range 8 {
		var b strings.Builder
		for n := range 60 {
			fmt.Fprintf(&b, "Ship %d carried tar to harbour %d. ", i, n)
		}
		docs = append(docs, graphrag.Document{ID: fmt.Sprint("page#", i), Title: "Ships", Text: b.String()})
	}
	r, err := systems[0].over(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Retrieve(t.Context(), graphrag.Question{Text: "Which ship carried tar?", Tokens: 700})
	if err != nil {
		t.Fatal(err)
	}
	seen, used := make(map[string]bool), 0
	for _, h := range found.Read(graphrag.Question{K: 100}) {
		seen[h.Chunk.Doc] = true
		used += tokens.Cl100k().Count(retrieve.Titled(h.Chunk))
	}
	if len(seen) != 4 || used > 700 || !seen["page#0"] {
		t.Errorf("%v with %d tokens", seen, used)
	}
	if err := run(t.Context(), []string{"-data", "../wildgraphbench/sample", "-budgets", "900", "-passages", "nobody"}, &out, &progress); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("got %v", err)
	}
}

func offline(t *testing.T) kit.Kit {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return k
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
	all := spenders(offline(t))
	for i, want := range []struct{ summary, recall, found float64 }{{77, 88, 40.5}, {67, 82.5, 24}} {
		got, err := all[i].spend(t.Context(), set, 6000)
		if err != nil {
			t.Fatal(err)
		}
		s, r, f := got.mean(got.recall, wildgraph.Summary), got.mean(got.recall, ""), got.mean(got.found, "")
		if s < want.summary || r < want.recall || f < want.found {
			t.Errorf("%s: recall of summaries %.1f, of all %.1f, found %.1f, want %v", all[i].name, s, r, f, want)
		}
	}
}
