// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

const (
	manifestName = "snapshot.json"
	triplesName  = "triples.jsonl"
	version      = 1
)

// manifest is the content of snapshot.json.
type manifest struct {
	Version int            `json:"version"`
	Schema  Schema         `json:"schema"`
	Records map[string]int `json:"records"`
	Triples int            `json:"triples"`
}

// plainRecord is a record as a line of JSON.
type plainRecord struct {
	ID     string          `json:"id"`
	Scope  string          `json:"scope,omitempty"`
	Title  string          `json:"title,omitempty"`
	Text   string          `json:"text,omitempty"`
	Vector bool            `json:"vector,omitempty"`
	Fields graphrag.Fields `json:"fields,omitempty"`
	Data   []byte          `json:"data,omitempty"`
}

// Export writes a generation into a folder, which must not hold a snapshot, as plain
// files that other programs can read; [Copy] is the way to another store.
//
//	TABLE.records.jsonl  a record a line, without its vector
//	TABLE.vectors.f32    the vectors of the records that have one ("vector": true), in
//	                     their order, as little-endian float32
//	triples.jsonl        a triple a line
//	snapshot.json        the schema and how many there are of each, written last
func Export(ctx context.Context, dir string, s Schema, g Generation) (err error) {
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return fmt.Errorf("store: export: %s: %w: the folder holds a snapshot: remove it or choose another folder", dir, ErrConflict)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("store: export: %w", err)
	}
	m := manifest{Version: version, Schema: s, Records: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(s.Tables)) {
		if m.Records[name], err = exportTable(ctx, dir, name, g); err != nil {
			return fmt.Errorf("store: export: table %q: %w", name, err)
		}
	}
	err = create(filepath.Join(dir, triplesName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		for t, err := range g.Triples().AllTriples(ctx, "") {
			if err != nil {
				return err
			}
			if err := e.Encode(t); err != nil {
				return err
			}
			m.Triples++
		}
		return nil
	})
	if err == nil {
		err = journal.WriteFile(filepath.Join(dir, manifestName), func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
	}
	if err != nil {
		return fmt.Errorf("store: export: %w", err)
	}
	return nil
}

func exportTable(ctx context.Context, dir, name string, g Generation) (n int, err error) {
	table, err := g.Table(name)
	if err != nil {
		return 0, err
	}
	err = create(filepath.Join(dir, name+".records.jsonl"), func(lines io.Writer) error {
		return create(filepath.Join(dir, name+".vectors.f32"), func(vectors io.Writer) error {
			e := json.NewEncoder(lines)
			for r, err := range table.All(ctx, "") {
				if err != nil {
					return err
				}
				line := plainRecord{r.ID, r.Scope, r.Title, r.Text, len(r.Vector) > 0, r.Fields, r.Data}
				if err := errors.Join(e.Encode(line), binary.Write(vectors, binary.LittleEndian, r.Vector)); err != nil {
					return err
				}
				n++
			}
			return nil
		})
	})
	return n, err
}

// create writes a file and makes it durable.
func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<18)
	return errors.Join(write(w), w.Flush(), f.Sync(), f.Close())
}

// copyBatch is the number of items in one call of Put.
const copyBatch = 1000

// Fork implements [Collection].Fork for engines whose generations share no data: made copies the published
// generation into the new one, which is empty.
func Fork(ctx context.Context, c Collection, next, from string, made func(old, g Generation) error) (Generation, error) {
	names, published, err := c.Generations(ctx)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(names, next):
		return nil, fmt.Errorf("fork %q: %w: a generation of this name exists: discard it, or choose another name", next, ErrConflict)
	case from != published || from == "":
		return nil, fmt.Errorf("fork %q: %w: the published generation is %q, not %q", next, ErrNotFound, published, from)
	}
	old, err := c.Pin(ctx)
	if err != nil {
		return nil, err
	}
	g, err := c.Write(ctx, next)
	if err == nil {
		err = made(old, g)
	}
	if err = errors.Join(err, old.Close()); err != nil && g != nil {
		return nil, errors.Join(err, g.Close(), c.Discard(context.WithoutCancel(ctx), next))
	}
	return g, err
}

// Copy puts the items of a generation into another one, perhaps of another store, whose collection has the same
// schema, and flushes it.
func Copy(ctx context.Context, s Schema, from, to Generation) error {
	for _, name := range slices.Sorted(maps.Keys(s.Tables)) {
		a, err1 := from.Table(name)
		b, err2 := to.Table(name)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if err := putAll(a.All(ctx, ""), func(batch []Record) error { return b.Put(ctx, batch...) }); err != nil {
			return err
		}
	}
	if err := putAll(from.Triples().AllTriples(ctx, ""), func(batch []Triple) error { return to.Triples().PutTriples(ctx, batch...) }); err != nil {
		return err
	}
	return to.Flush(ctx)
}

// putAll puts items in batches of copyBatch.
func putAll[T any](items iter.Seq2[T, error], put func([]T) error) error {
	batch := make([]T, 0, copyBatch)
	for x, err := range items {
		if err == nil && len(batch) == copyBatch {
			err = put(batch)
			batch = make([]T, 0, copyBatch)
		}
		if err != nil {
			return err
		}
		batch = append(batch, x)
	}
	if len(batch) == 0 {
		return nil
	}
	return put(batch)
}
