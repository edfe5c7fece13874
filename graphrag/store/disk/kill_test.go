// SPDX-License-Identifier: Apache-2.0

//go:build unix

package disk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A build writes generations of some flushes of some records each, and publishes one after the other.
const (
	batchRecords = 40
	batches      = 6
)

// build continues the build from its present state, and prints what is done.
func build(ctx context.Context, s store.Store, done func(content, flushes int)) error {
	c, err := s.Create(ctx, "corpus", buildSchema())
	if err != nil {
		return err
	}
	_, published, err := c.Generations(ctx)
	if err != nil {
		return err
	}
	n := 0
	if published != "" {
		if n, err = strconv.Atoi(published[1:]); err != nil {
			return err
		}
	}
	for ; ; n++ {
		if err := buildOne(ctx, c, n+1, done); err != nil {
			return err
		}
		was := ""
		if n > 0 {
			was = fmt.Sprintf("g%d", n)
		}
		if err := c.Publish(ctx, fmt.Sprintf("g%d", n+1), was); err != nil {
			return err
		}
		if was != "" {
			if err := c.Discard(ctx, was); err != nil {
				return err
			}
		}
		done(n+1, batches)
	}
}

func buildOne(ctx context.Context, c store.Collection, n int, done func(content, flushes int)) (err error) {
	g, err := c.Write(ctx, fmt.Sprintf("g%d", n))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	tableName, err := g.Table("chunks")
	if err != nil {
		return err
	}
	have, err := tableName.Count(ctx, graphrag.Condition{})
	if err != nil {
		return err
	}
	for b := have / batchRecords; b < batches; b++ {
		for i := range batchRecords {
			id := fmt.Sprintf("r%d-%d", b, i)
			err := errors.Join(
				tableName.Put(ctx, store.Record{ID: id, Text: fmt.Sprintf("zeppelin number %d", i), Vector: []float32{1, float32(b), float32(i), 0, 0, 0, 0, 1}}),
				g.Triples().PutTriples(ctx, store.Triple{Triple: triples.Triple{Head: triples.Entity{ID: id}, Relation: triples.Entity{ID: "is"}, Tail: triples.Entity{ID: "zeppelin"}}, Source: id}))
			if err != nil {
				return err
			}
		}
		if err := g.Flush(ctx); err != nil {
			return err
		}
		done(n, b+1)
	}
	return nil
}

// checkStore checks that all records that were written are stored completely, with their triples.
func checkStore(t *testing.T, s store.Store, content, flushes int) {
	t.Helper()
	ctx := t.Context()
	c := check.Of(s.Create(ctx, "corpus", buildSchema())).OK(t)
	names, published, err := c.Generations(ctx)
	check.OK(t, err)
	for _, name := range names {
		g, err := c.Write(ctx, name)
		check.OK(t, err)
		tableName := check.Of(g.Table("chunks")).OK(t)
		records, err1 := tableName.Count(ctx, graphrag.Condition{})
		facts, err2 := g.Triples().CountTriples(ctx)
		hits, err3 := tableName.SearchText(ctx, store.TextQuery{Text: "zeppelin", K: 1000})
		near, err4 := tableName.SearchVectors(ctx, store.VectorQuery{Vector: make([]float32, 8), K: 1000, Effort: 1})
		check.OK(t, errors.Join(err1, err2, err3, err4))
		least := 0
		if name == fmt.Sprintf("g%d", content) {
			least = flushes * batchRecords
		}
		if name == published {
			least = batches * batchRecords
		}
		check.True(t, records%batchRecords == 0 && records >= least && facts == records && len(hits[0]) == records && len(near[0]) == records,
			"%s (%q is published, generation %d had %d flushes): %d records, %d triples, %d by words, %d by vectors", name, published, content, flushes, records, facts, len(hits[0]), len(near[0]))
		err = g.Close()
		check.OK(t, err)
	}
	if published == "" && content > 1 || published != "" && published < fmt.Sprintf("g%d", content-1) && len(published) <= len(fmt.Sprint(content)) {
		t.Errorf("%q is published, and generation %d was begun", published, content)
	}
}

// A process that builds is killed at any moment: what it flushed and published is there, and the build can
// continue.
func TestKill(t *testing.T) {
	if dir := os.Getenv("WILDGRAPH_BUILD_IN"); dir != "" {
		s, err := disk.Open(dir, disk.Options{})
		if err == nil {
			err = build(t.Context(), s, func(content, flushes int) { fmt.Printf("done %d %d\n", content, flushes) })
		}
		t.Fatal(err)
	}
	kills := 12
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_KILLS")); err == nil {
		kills = n
	} else if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, uint64(kills)))
	content, flushes := 0, 0
	for n := 0; n < kills || content == 0 && n < 10*kills; n++ {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKill$")
		cmd.Env = append(os.Environ(), "WILDGRAPH_BUILD_IN="+dir)
		out := check.Of(cmd.StdoutPipe()).OK(t)
		check.OK(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(50+r.IntN(500)+100*max(0, n-kills))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			check.True(t, check.Err(fmt.Sscanf(lines.Text(), "done %d %d", &content, &flushes)) == nil,
				"it says %q", lines.Text())
		}
		_ = cmd.Wait() // fails: the process was killed
		timer.Stop()
		s := check.Of(disk.Open(dir, disk.Options{})).OK(t)
		checkStore(t, s, content, flushes)
		check.OK(t, s.Close())
	}
	t.Logf("%d kills, the last in generation %d after %d flushes", kills, content, flushes)
	check.True(t, content != 0, "it was always killed before anything was done")
}
