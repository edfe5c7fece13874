// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
)

// testSnapshot checks that a copied store has the same records, and that an export contains all of them.
func testSnapshot(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	records := sample(14, 60)
	records[3].Vector = nil
	put(t, g, table, records...)
	bare := check.Of(g.Table("bare")).OK(t)
	put(t, g, bare, store.Record{ID: "only"})
	facts := []store.Triple{fact("Fram", "designed by", "Colin Archer", "r1"), fact("Fram", "sailed to", "Antarctica", "r2")}
	facts[0].Literal = true
	must(t, g.Triples().PutTriples(t.Context(), facts...))
	must(t, g.Flush(t.Context()))
	c := check.Of(s.s.Create(t.Context(), "copy", schema())).OK(t)
	h := check.Of(c.Write(t.Context(), "first")).OK(t)
	defer h.Close()
	must(t, store.Copy(t.Context(), schema(), g, h))
	copied := check.Of(h.Table("chunks")).OK(t)
	same(t, "copied", allRecords(t, copied, ""), records)
	check.Equal(t, allTriples(t, h.Triples(), ""), byID(facts))
	dirs := []string{t.TempDir() + "/a", t.TempDir() + "/b"}
	must(t, store.Export(t.Context(), dirs[0], schema(), g))
	must(t, store.Export(t.Context(), dirs[1], schema(), h))
	for name, lines := range map[string]int{"chunks.records.jsonl": 60, "bare.records.jsonl": 1, "triples.jsonl": 2, "snapshot.json": 1, "chunks.vectors.f32": -1} {
		a, err1 := os.ReadFile(filepath.Join(dirs[0], name))
		b, err2 := os.ReadFile(filepath.Join(dirs[1], name))
		check.True(t, err1 == nil && err2 == nil && bytes.Equal(a, b) && len(a) != 0 && (lines < 0 || bytes.Count(a, []byte("\n")) == lines),
			"%s: %d and %d bytes, %v, %v", name, len(a), len(b), err1, err2)
	}
}

// testCrash checks that after a killed process all flushed records are there (in a durable store: all put
// ones), and no hit without its record.
func testCrash(t *testing.T, s *suite) {
	if s.f.Crash == nil {
		t.Skip("the factory has no Crash")
	}
	c, g, table := s.generation(t)
	records := sample(15, 80)
	put(t, g, table, records[:40]...)
	must(t, c.Publish(t.Context(), "first", ""))
	second := check.Of(c.Write(t.Context(), "second")).OK(t)
	building := check.Of(second.Table("chunks")).OK(t)
	put(t, second, building, records[:60]...)
	must(t, building.Put(t.Context(), records[60:]...))
	must(t, table.Put(t.Context(), records[40:]...))
	must(t, table.Delete(t.Context(), records[0].ID))
	must(t, second.Triples().PutTriples(t.Context(), fact("a", "b", "c", records[70].ID)))

	s2 := s.f.Crash(t, s.s)
	defer s2.Close()
	c = check.Of(s2.Open(t.Context(), "corpus")).OK(t)
	pinned := check.Of(c.Pin(t.Context())).OK(t)
	defer pinned.Close()
	check.True(t, pinned.Name() == "first", "%s is published after the crash", pinned.Name())
	resumed := check.Of(c.Write(t.Context(), "second")).OK(t)
	defer resumed.Close()
	kept := func(flushed int) []store.Record {
		if s.s.Can().Durable {
			return records
		}
		return records[:flushed]
	}
	for _, x := range []struct {
		g    store.Generation
		kept []store.Record
	}{{pinned, kept(40)}, {resumed, kept(60)}} {
		table := check.Of(x.g.Table("chunks")).OK(t)
		there, want := idsIn(allRecords(t, table, "")), idsIn(x.kept[1:])
		check.True(t, inBoth(want, there) == len(want), "%s has lost some of %q: %q", x.g.Name(), want, there)
		hits := check.Of(table.SearchText(t.Context(), store.TextQuery{Text: "city river king ship music war", K: 100})).OK(t)
		near := check.Of(table.SearchVectors(t.Context(), store.VectorQuery{Vector: records[0].Vector, K: 100, Effort: 1})).OK(t)
		for _, list := range [][]store.Hit{hits[0], near[0]} {
			found := check.Of(table.Get(t.Context(), idsOf(list)...)).OK(t)
			check.True(t, len(found) == len(list), "%s: %d hits are of %d records", x.g.Name(), len(list), len(found))
		}
	}
	// More records can be put after the crash.
	table = check.Of(resumed.Table("chunks")).OK(t)
	put(t, resumed, table, records...)
	must(t, c.Publish(t.Context(), "second", "first"))
	same(t, "built to its end", allRecords(t, table, ""), records)
}

// Program returns a function that runs the shell script named by an environment variable, which changes the
// state of a server. If the variable is not set, the test is skipped.
func Program(t *testing.T, variable string) func(t *testing.T) {
	program := os.Getenv(variable)
	if program == "" {
		t.Skip(variable + " names no program")
	}
	return func(t *testing.T) {
		if out, err := exec.Command("sh", program).CombinedOutput(); err != nil {
			t.Errorf("the program of %s failed: %v: %s", variable, err, out)
		}
	}
}

// FullStore tests a server whose disk is full for a while: fill uses up the disk, and free makes room again.
// Puts must fail with store.ErrUnavailable, the published generation must not change, and the build must
// continue when there is room.
func FullStore(t *testing.T, s store.Store, fill, free func(t *testing.T)) {
	ctx := t.Context()
	x := &suite{s: s}
	c, g, table := x.generation(t)
	old := sample(18, 200)
	put(t, g, table, old...)
	must(t, c.Publish(ctx, "first", ""))
	q := store.TextQuery{Text: "lighthouse expedition river", K: 10}
	want := check.Of(table.SearchText(ctx, q)).OK(t)

	second := check.Of(c.Write(ctx, "second")).OK(t)
	defer second.Close()
	building := check.Of(second.Table("chunks")).OK(t)
	records := sample(19, 3000)
	put(t, second, building, records[:100]...)
	fill(t)
	var err error
	for begun := time.Now(); err == nil && time.Since(begun) < time.Minute; {
		err = building.Put(ctx, records[100:]...)
	}
	wants(t, "put when the disk is full", err, store.ErrUnavailable)

	err = c.Publish(ctx, "second", "first")
	now := "second"
	if err != nil {
		now = "first"
		wants(t, "publish when the disk is full", err, store.ErrUnavailable)
	}
	got, err := table.SearchText(ctx, q)
	if err != nil {
		wants(t, "search when the disk is full", err, store.ErrUnavailable)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results with a full disk (-want +got):\n%s", diff)
	}

	free(t)
	goesOn(t, second, building, records)
	_, published, err := c.Generations(ctx)
	must(t, err)
	check.True(t, published == now, "%q is published, want %q", published, now)
	if published == "first" {
		must(t, c.Publish(ctx, "second", "first"))
	}
	same(t, "what was published before", allRecords(t, table, ""), old)
	same(t, "what was built", allRecords(t, building, ""), records)
}

// goesOn puts the records, repeatedly until two minutes have passed.
func goesOn(t *testing.T, g store.Generation, table store.Table, records []store.Record) {
	t.Helper()
	begun, err := time.Now(), errors.New("no put was tried")
	for err != nil && time.Since(begun) < 2*time.Minute {
		if err = table.Put(t.Context(), records...); err == nil {
			err = g.Flush(t.Context())
		}
		if err != nil {
			wants(t, "put when there is room", err, store.ErrUnavailable)
			time.Sleep(time.Second)
		}
	}
	must(t, err)
	t.Logf("it goes on %v after there is room", time.Since(begun).Round(time.Millisecond))
}
