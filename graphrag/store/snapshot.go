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
	"reflect"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

const (
	manifestName = "snapshot.json"
	triplesName  = "triples.jsonl"
	version      = 1
)

// manifest describes the files.
type manifest struct {
	Version int            `json:"version"`
	Schema  Schema         `json:"schema"`
	Records map[string]int `json:"records"`
	Triples int            `json:"triples"`
}

// plainRecord is a record as a line.
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
// files that any engine, or no engine, can read: a backup, and the way to another store.
//
//	TABLE.records.jsonl  a record a line, without its vector
//	TABLE.vectors.f32    the vectors of the records that have one ("vector": true), in
//	                     their order, as little-endian float32
//	triples.jsonl        a triple a line
//	snapshot.json        the schema and how many there are of each, written last
func Export(ctx context.Context, dir string, s Schema, g Generation) (err error) {
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return fmt.Errorf("store: export: %s: %w: there is a snapshot already: remove it or name another folder", dir, ErrConflict)
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

// importBatch is how many items are put at a time.
const importBatch = 1000

// Import puts what Export wrote into a generation, and flushes it. The schema must be
// that of the export: [ErrMismatch] says that it is not, or that the files are not whole.
func Import(ctx context.Context, dir string, s Schema, g Generation) error {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	var m manifest
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil {
		err = m.check(s)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tables)) {
		if err == nil {
			err = importTable(ctx, dir, name, s.Tables[name], m.Records[name], g)
		}
	}
	if err == nil {
		err = read(filepath.Join(dir, triplesName), m.Triples, func(t Triple) (Triple, error) { return t, nil },
			func(batch []Triple) error { return g.Triples().PutTriples(ctx, batch...) })
	}
	if err == nil {
		err = g.Flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("store: import %s: %w", dir, err)
	}
	return nil
}

// Fork is [Collection].Fork of engines whose generations share nothing: it copies the published one.
func Fork(ctx context.Context, c Collection, next, from string) (Generation, error) {
	names, published, err := c.Generations(ctx)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(names, next):
		return nil, fmt.Errorf("fork %q: %w: it is there already: discard it, or take another name", next, ErrConflict)
	case from != published || from == "":
		return nil, fmt.Errorf("fork %q: %w: %q is not published, but %q", next, ErrNotFound, from, published)
	}
	old, err := c.Pin(ctx)
	if err != nil {
		return nil, err
	}
	g, err := c.Write(ctx, next)
	if err == nil {
		err = copyInto(ctx, c.Schema(), old, g)
	}
	return g, errors.Join(err, old.Close())
}

// copyInto puts what a generation holds into another.
func copyInto(ctx context.Context, s Schema, from, to Generation) error {
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

// putAll puts items, many at a time.
func putAll[T any](items iter.Seq2[T, error], put func([]T) error) error {
	batch := make([]T, 0, importBatch)
	for x, err := range items {
		if err == nil && len(batch) == importBatch {
			err = put(batch)
			batch = make([]T, 0, importBatch)
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

func (m manifest) check(s Schema) error {
	if m.Version != version {
		return fmt.Errorf("%w: the snapshot is of version %d, and %d is known", ErrMismatch, m.Version, version)
	}
	a, _ := json.Marshal(m.Schema.Tables)
	b, _ := json.Marshal(s.Tables)
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%w: the snapshot has the tables %s, not %s", ErrMismatch, a, b)
	}
	return nil
}

func importTable(ctx context.Context, dir, name string, schema TableSchema, n int, g Generation) error {
	table, err := g.Table(name)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, name+".vectors.f32"))
	if err != nil {
		return err
	}
	defer f.Close()
	vectors := bufio.NewReaderSize(f, 1<<18)
	return read(filepath.Join(dir, name+".records.jsonl"), n, func(line plainRecord) (Record, error) {
		r := Record{ID: line.ID, Scope: line.Scope, Title: line.Title, Text: line.Text, Fields: line.Fields, Data: line.Data}
		if !line.Vector {
			return r, nil
		}
		r.Vector = make([]float32, schema.Dim)
		if err := binary.Read(vectors, binary.LittleEndian, r.Vector); err != nil {
			return r, fmt.Errorf("%s: %w: the vector of %q: %w", f.Name(), ErrMismatch, r.ID, err)
		}
		return r, nil
	}, func(batch []Record) error { return table.Put(ctx, batch...) })
}

// read reads n lines and puts what is made of them, many at a time.
func read[L, T any](name string, n int, item func(L) (T, error), put func([]T) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<18))
	return putAll(func(yield func(T, error) bool) {
		for i := range n {
			var line L
			var x T
			err := d.Decode(&line)
			if err != nil {
				err = fmt.Errorf("%s: %w: item %d of %d: %w", name, ErrMismatch, i+1, n, err)
			} else {
				x, err = item(line)
			}
			if !yield(x, err) {
				return
			}
		}
	}, put)
}
