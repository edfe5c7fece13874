// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The names of what is in the store.
const (
	collectionName = "scale"
	generationName = "first"
	chunksTable    = "chunks"
	progressTable  = "progress"
	progressID     = "build"
)

var schema = store.Schema{
	Analyzer: text.Default().Name(),
	Tables:   map[string]store.TableSchema{chunksTable: {Text: true, Dim: dim, Model: modelName}, progressTable: {}},
}

// progress is how far a build is, and what it took. It is in the store and flushed with
// what it counts, so that a build that was stopped goes on where that ends.
type progress struct {
	Settings   settings      `json:"settings"`
	Passages   int           `json:"passages"`
	Triples    int           `json:"triples"`
	Generating time.Duration `json:"generating_ns"`
	Indexing   time.Duration `json:"indexing_ns"`
	Publishing time.Duration `json:"publishing_ns"`
	Memory     memory        `json:"memory"`
	Begun      int           `json:"begun"` // how often
}

// The defaults of a builder: some megabytes a call, and a few hundred of them a flush.
const (
	batchItems = 4096
	flushItems = 128 * batchItems
)

// builder puts a world into a store.
type builder struct {
	*world
	embedder     *hashed
	batch, every int            // items in a call, and passages between flushes; 0 is the default
	flushed      func(progress) // is told

	generation store.Generation
	progress
}

// build puts all of a world into a store and publishes it. What is there already stays.
func (b *builder) build(ctx context.Context, s store.Store) (progress, error) {
	b.batch, b.every = cmp.Or(b.batch, batchItems), cmp.Or(b.every, flushItems)
	if most := s.Can().MaxBatch; most > 0 {
		b.batch = min(b.batch, most)
	}
	c, err := s.Create(ctx, collectionName, schema)
	if err != nil {
		return progress{}, err
	}
	_, published, err := c.Generations(ctx)
	if err != nil {
		return progress{}, err
	}
	if b.generation, err = c.Write(ctx, generationName); err != nil {
		return progress{}, err
	}
	if err = b.begin(ctx, published != ""); err == nil && published == "" {
		err = b.all(ctx)
	}
	if err == nil && published == "" {
		err = b.publish(ctx, c)
	}
	return b.progress, errors.Join(err, b.generation.Close())
}

// publish keeps the last figures, and publishes.
func (b *builder) publish(ctx context.Context, c store.Collection) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	start := time.Now()
	err := c.Publish(ctx, generationName, "")
	b.Publishing = time.Since(start)
	return err
}

// begin reads how far the build was.
func (b *builder) begin(ctx context.Context, done bool) error {
	t, err := b.generation.Table(progressTable)
	if err != nil {
		return err
	}
	found, err := t.Get(ctx, progressID)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		if err := json.Unmarshal(found[0].Data, &b.progress); err != nil {
			return fmt.Errorf("the record of progress: %w", err)
		}
		if b.progress.Settings != b.settings {
			return fmt.Errorf("the folder holds another corpus (%+v): ask for that one, or name another folder", b.progress.Settings)
		}
	}
	b.progress.Settings = b.settings
	if !done {
		b.Begun++
	}
	return nil
}

// all puts what is missing.
func (b *builder) all(ctx context.Context) error {
	chunks, err := b.generation.Table(chunksTable)
	if err != nil {
		return err
	}
	err = putAll(ctx, b, &b.progress.Passages, b.world.settings.Passages, b.every, b.record, chunks.Put)
	if err == nil {
		// A triple is a tenth of a passage.
		err = putAll(ctx, b, &b.progress.Triples, b.world.settings.Triples, 4*b.every, b.world.triple, b.generation.Triples().PutTriples)
	}
	return err
}

// record is passage i as it is stored, with its vector.
func (b *builder) record(i int) store.Record {
	r := retrieve.ToRecord(b.passage(i))
	r.Vector = make([]float32, dim)
	b.embedder.embed(r.Text, r.Vector)
	return r
}

// putAll makes items from done to total and puts them. Making and putting take turns, so
// that the time of one says nothing about the other.
func putAll[T any](ctx context.Context, b *builder, done *int, total, every int, item func(int) T, put func(context.Context, ...T) error) error {
	for flushed := *done; *done < total; {
		start := time.Now()
		items, err := generate(ctx, *done, min(*done+b.batch, total), item)
		b.Generating += time.Since(start)
		if err != nil {
			return err
		}
		start = time.Now()
		err = put(ctx, items...)
		b.Indexing += time.Since(start)
		if err != nil {
			return err
		}
		*done += len(items)
		if *done-flushed >= every || *done == total {
			if err := b.flush(ctx); err != nil {
				return err
			}
			flushed = *done
		}
	}
	return nil
}

// generate makes items lo to hi on all cores.
func generate[T any](ctx context.Context, lo, hi int, item func(int) T) ([]T, error) {
	items := make([]T, hi-lo)
	const part = 64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(items); from += part {
		g.Go(func() error {
			for i := from; i < min(from+part, len(items)); i++ {
				items[i] = item(lo + i)
			}
			return ctx.Err()
		})
	}
	return items, g.Wait()
}

// flush makes durable what was put, and how far that is.
func (b *builder) flush(ctx context.Context) error {
	start := time.Now()
	b.Memory.look()
	t, err := b.generation.Table(progressTable)
	if err != nil {
		return err
	}
	data, err := json.Marshal(b.progress)
	if err != nil {
		return err
	}
	if err := t.Put(ctx, store.Record{ID: progressID, Data: data}); err != nil {
		return err
	}
	if err := b.generation.Flush(ctx); err != nil {
		return err
	}
	b.Indexing += time.Since(start)
	b.Memory.look()
	if b.flushed != nil {
		b.flushed(b.progress)
	}
	return nil
}

// memory is in bytes.
type memory struct {
	// Peak is the most that was resident at once, with the mapped files, which the system
	// takes back when it needs room; Own is the most of it that is no file, as it was when
	// it was looked at.
	Peak int64 `json:"peak_bytes"`
	Own  int64 `json:"own_bytes"`
}

// look looks again. Where the system does not tell, it is what Go has obtained of it.
func (m *memory) look() {
	status, err := os.ReadFile("/proc/self/status") // of Linux
	if err != nil {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		m.Peak, m.Own = max(m.Peak, int64(s.Sys)), max(m.Own, int64(s.Sys))
		return
	}
	for line := range strings.Lines(string(status)) {
		var name string
		var kb int64
		if _, err := fmt.Sscanf(line, "%s %d kB", &name, &kb); err != nil {
			continue
		}
		switch name {
		case "VmHWM:":
			m.Peak = max(m.Peak, kb<<10)
		case "RssAnon:":
			m.Own = max(m.Own, kb<<10)
		}
	}
}

// size is the number of bytes of the files in a folder.
func size(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
