// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Program runs the shell script named by an environment variable, which does something to a
// server. The test is skipped if it names none.
func Program(t *testing.T, variable string) func(t *testing.T) {
	program := os.Getenv(variable)
	if program == "" {
		t.Skip(variable + " names no program")
	}
	return func(t *testing.T) {
		if out, err := exec.Command("sh", program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", variable, err, out)
		}
	}
}

// FullStore tests a server whose disk is full for a while: fill takes the room, and free gives it
// back. Puts fail with store.ErrUnavailable, the published generation stays as it was, and
// when there is room the build continues.
func FullStore(t *testing.T, s store.Store, fill, free func(t *testing.T)) {
	ctx := t.Context()
	x := &suite{s: s}
	c, g, table := x.generation(t)
	old := sample(18, 200)
	put(t, g, table, old...)
	must(t, c.Publish(ctx, "first", ""))
	q := store.TextQuery{Text: "lighthouse expedition river", K: 10}
	want, err := table.SearchText(ctx, q)
	must(t, err)

	second, err := c.Write(ctx, "second")
	must(t, err)
	defer second.Close()
	building, err := second.Table("chunks")
	must(t, err)
	records := sample(19, 3000)
	put(t, second, building, records[:100]...)
	fill(t)
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
		t.Errorf("when the disk is full (-want +got):\n%s", diff)
	}

	free(t)
	goesOn(t, second, building, records)
	_, published, err := c.Generations(ctx)
	must(t, err)
	if published != now {
		t.Errorf("%q is published, want %q", published, now)
	}
	if published == "first" {
		must(t, c.Publish(ctx, "second", "first"))
	}
	same(t, "what was published before", allRecords(t, table, ""), old)
	same(t, "what was built", allRecords(t, building, ""), records)
}

// goesOn puts the records within two minutes after there is room again.
func goesOn(t *testing.T, g store.Generation, table store.Table, records []store.Record) {
	t.Helper()
	begun, err := time.Now(), errors.New("not tried")
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
