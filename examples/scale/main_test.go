// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// The whole program: with the graph much more is found where it is needed, and no less
// where it is not. Started again, it builds nothing.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "figures.json")
	args := []string{"-dir", filepath.Join(dir, "store"), "-passages", "4000", "-triples", "24000", "-questions", "40", "-queries", "20", "-json", file}
	var again string
	for n := range 2 {
		var out, progress strings.Builder
		if err := run(t.Context(), args, &out, &progress); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for _, line := range lines {
			if len(lines) > 25 || utf8.RuneCountInString(line) > 100 {
				t.Errorf("the report has %d lines, one of them: %s", len(lines), line)
			}
		}
		if (progress.Len() > 0) != (n == 0) {
			t.Errorf("start %d says: %s", n+1, &progress)
		}
		again = out.String()
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f figures
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if f.Bridged.Effect.Low < 0.25 || f.Bridged.Effect.N != 20 {
		t.Errorf("too little is gained by the graph:\n%s", again)
	}
	if f.Plain.Effect.Estimate < 0 || f.Plain.Effect.N != 20 {
		t.Errorf("something is lost by the graph:\n%s", again)
	}
	if f.Build.Begun != 1 || f.Disk < 4000*dim || f.With.N != 20 || f.Start <= 0 {
		t.Errorf("figures %+v", f)
	}
	// The peaks of the build and of all are not compared: Linux counts pages in batches for
	// each processor, so that VmHWM may be read a little lower later.
	for _, m := range []memory{f.Build.Memory, f.Memory} {
		if m.Own <= 0 || m.Peak < m.Own {
			t.Errorf("memory %+v", m)
		}
	}

	args[1+4] = "24001" // -triples
	if err := run(t.Context(), args, &strings.Builder{}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "name another folder") {
		t.Errorf("another corpus in the same folder: %v", err)
	}
}

// hits are what both searches find for all questions.
func hits(t *testing.T, dir string, w *world, e *hashed) (out [][]graphrag.Hit) {
	t.Helper()
	s, err := openStore(flags{dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	search, err := open(t.Context(), s, e, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range w.questions {
		for _, r := range []graphrag.Retriever{search.with, search.without} {
			found, err := r.Retrieve(t.Context(), graphrag.Question{Text: q.Text, K: evidence})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, found.Ranked)
		}
	}
	if err := errors.Join(search.generation.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// putMore flushes some passages without the record of progress.
func putMore(t *testing.T, s store.Store, b *builder, from int) {
	t.Helper()
	c, err := s.Open(t.Context(), collectionName)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Write(t.Context(), generationName)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := g.Table(chunksTable)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(chunks.Put(t.Context(), b.record(from), b.record(from+1)), g.Flush(t.Context()), g.Close()); err != nil {
		t.Fatal(err)
	}
}

// A build that was stopped a few times, once after the store had written more than
// the record of progress says, ends as one in one go.
func TestResumed(t *testing.T) {
	w := smallWorld(t, settings{Seed: 3, Passages: 900, Triples: 4500, Questions: 8})
	e := newHashed(w)
	stopped, whole := t.TempDir(), t.TempDir()
	started := 0
	for done := false; !done; started++ {
		ctx, cancel := context.WithCancel(t.Context())
		flushes := 0
		b := builder{world: w, embedder: e, batch: 300, every: 300, flushed: func(progress) {
			if flushes++; flushes == 2 {
				cancel()
			}
		}}
		s, err := openStore(flags{dir: stopped})
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.build(ctx, s)
		if done = err == nil; !done && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if p.Begun != started+1 {
			t.Errorf("start %d is counted as %d", started+1, p.Begun)
		}
		if started == 0 { // what a store may flush by itself
			putMore(t, s, &b, p.Passages)
		}
		cancel()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if started < 3 {
		t.Errorf("%d starts: the build was not stopped", started)
	}
	s, err := openStore(flags{dir: whole})
	if err != nil {
		t.Fatal(err)
	}
	b := builder{world: w, embedder: e}
	if _, err := b.build(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(hits(t, whole, w, e), hits(t, stopped, w, e)); d != "" {
		t.Error(d)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{
		nil, {"-dir", "x", "y"}, {"-dir", "x", "-questions", "1"}, {"-dir", "x", "-queries", "0"}, {"-dir", "x", "-memory", "-1"},
		{"-dir", "x", "-passages", "100"}, {"-dir", "x", "-triples", "100"}, {"-sed", "1"},
	} {
		if err := run(t.Context(), args, &strings.Builder{}, &strings.Builder{}); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"-dir", t.TempDir()}, &strings.Builder{}, &strings.Builder{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
