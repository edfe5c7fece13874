// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Full is a test of an engine whose disk is full for a while: Fill takes the room, and Free gives
// it back.
type Full struct {
	Fill, Free func(t *testing.T)
}

// Test puts into a generation until the engine notices. The error is store.ErrUnavailable, what
// is published stays as it was, and when there is room the build goes on.
func (f Full) Test(t *testing.T, s store.Store) {
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
	f.Fill(t)
	begun := time.Now()
	for err == nil && time.Since(begun) < time.Minute {
		err = building.Put(ctx, records[100:]...)
	}
	wants(t, "put when the disk is full", err, store.ErrUnavailable)
	t.Logf("noticed after %v: %v", time.Since(begun).Round(time.Millisecond), err)

	err = c.Publish(ctx, "second", "first")
	now := "second"
	if err != nil {
		now = "first"
		wants(t, "publish when the disk is full", err, store.ErrUnavailable)
	}
	got, errSearch := table.SearchText(ctx, q)
	if errSearch != nil {
		wants(t, "search when the disk is full", errSearch, store.ErrUnavailable)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("when the disk is full (-want +got):\n%s", diff)
	}
	t.Logf("publish: %v; search: %v", err, errSearch)

	f.Free(t)
	begun, err = time.Now(), errors.New("not tried")
	for err != nil && time.Since(begun) < 2*time.Minute {
		if err = building.Put(ctx, records...); err == nil {
			err = second.Flush(ctx)
		}
		if err != nil {
			wants(t, "put when there is room", err, store.ErrUnavailable)
			time.Sleep(time.Second)
		}
	}
	must(t, err)
	t.Logf("it goes on %v after there is room", time.Since(begun).Round(time.Millisecond))
	_, published, err := c.Generations(ctx)
	must(t, err)
	if published != now {
		t.Errorf("%q is published, want %q", published, now)
	}
	if published == "first" {
		must(t, c.Publish(ctx, "second", "first"))
	}
	same(t, "what was published before", all(t, table, ""), old)
	same(t, "what was built", all(t, building, ""), records)
}
