// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Interrupted is a test of an engine of several nodes, of which one is killed and revived while
// passages are put.
type Interrupted struct {
	Rows, Nodes  int
	Kill, Revive func(t *testing.T)
}

// Test puts again what failed with store.ErrUnavailable. In the end every node has to find every
// passage by its vector: they are asked in turn.
func (x Interrupted) Test(t *testing.T, s store.Store) {
	ctx := t.Context()
	c, err := s.Create(ctx, "load", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: loadDim}}})
	must(t, err)
	g, err := c.Write(ctx, "first")
	must(t, err)
	defer g.Close()
	table, err := g.Table("chunks")
	must(t, err)
	records := passages(newGenerated(5), 0, x.Rows)
	var wait sync.WaitGroup
	failed := 0
	for i := 0; i < x.Rows; i += 50 {
		if i == x.Rows/3/50*50 {
			wait.Go(func() {
				x.Kill(t)
				x.Revive(t)
			})
		}
		err := errors.New("not tried")
		for begun := time.Now(); err != nil && time.Since(begun) < 3*time.Minute; {
			if err = table.Put(ctx, records[i:min(i+50, x.Rows)]...); err != nil {
				wants(t, "put", err, store.ErrUnavailable)
				failed++
				time.Sleep(200 * time.Millisecond)
			}
		}
		must(t, err)
	}
	wait.Wait()
	must(t, g.Flush(ctx))
	if n, err := table.Count(ctx); n != x.Rows || err != nil {
		t.Errorf("%d passages, %v; want %d", n, err, x.Rows)
	}
	lost := 0
	for part := range slices.Chunk(records, 50) {
		var queries []store.VectorQuery
		for _, r := range part {
			queries = append(queries, store.VectorQuery{Vector: r.Vector, K: 1, Effort: 1})
		}
		for range x.Nodes {
			hits, err := table.SearchVectors(ctx, queries...)
			must(t, err)
			for i, list := range hits {
				if len(list) != 1 || list[0].ID != part[i].ID {
					lost++
				}
			}
		}
	}
	t.Logf("%d passages by %d nodes: %d puts failed, %d passages are not found", x.Rows, x.Nodes, failed, lost)
	if lost > 0 {
		t.Fail()
	}
}
