// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// writeTable writes n records, in the order of their ids, and ids that are gone, as a
// segment. merge, if set, makes the index of words of those of other segments.
func writeTable(ctx context.Context, dir string, schema store.TableSchema, n int, records iter.Seq[store.Record], gone []string, merge func(dir string) error, o Options) error {
	w, err := flat.Create(filepath.Join(dir, rowsFolder), rowsKind, rowsVersion)
	if err != nil {
		return err
	}
	t := &tableWriter{schema: schema, w: w, merge: merge, fields: map[string][]any{}}
	err = t.begin(dir, o)
	for r := range records {
		if err == nil && t.row%(1<<10) == 0 {
			err = errors.Join(ctx.Err(), w.Err())
		}
		if err != nil {
			break
		}
		err = t.add(r)
	}
	if err == nil {
		err = t.finish(ctx, dir, gone, o)
	}
	if err != nil {
		if t.vectors != nil {
			err = errors.Join(err, t.vectors.Abort())
		}
		return errors.Join(err, w.Abort())
	}
	return w.Close(struct{}{})
}

// tableWriter writes a segment of a table, record by record.
type tableWriter struct {
	schema                            store.TableSchema
	w                                 *flat.Writer
	ids, scopes, titles, bodies, data textsWriter
	place, rows                       flat.Array[int32]
	row, vector                       int32 // the next
	vectors                           *vector.Writer
	merge                             func(dir string) error
	chunks                            []graphrag.Chunk
	fields                            map[string][]any // values of all rows
}

func (t *tableWriter) begin(dir string, o Options) error {
	err := open(t.w, "ids", &t.ids, "scopes", &t.scopes, "titles", &t.titles, "texts", &t.bodies, "data", &t.data)
	if err != nil || t.schema.Dim == 0 {
		return err
	}
	var err1, err2, err3 error
	t.place, err1 = flat.NewArray[int32](t.w, "vectors")
	t.rows, err2 = flat.NewArray[int32](t.w, "vector-rows")
	t.vectors, err3 = vector.Create(filepath.Join(dir, vectorsFolder), vector.Options{
		Dim: t.schema.Dim, Cosine: !t.schema.Dot, Quantized: true, Workers: o.Workers, Signs: true})
	return errors.Join(err1, err2, err3)
}

// open begins texts by their names.
func open(w *flat.Writer, pairs ...any) (err error) {
	for i := 0; i < len(pairs) && err == nil; i += 2 {
		*pairs[i+1].(*textsWriter), err = newTexts(w, pairs[i].(string))
	}
	return err
}

func (t *tableWriter) add(r store.Record) error {
	t.ids.append(r.ID)
	t.scopes.append(r.Scope)
	t.titles.append(r.Title)
	t.bodies.append(r.Text)
	t.data.append(string(r.Data))
	for field := range t.schema.Fields {
		t.fields[field] = append(t.fields[field], r.Fields[field])
	}
	if t.schema.Text && t.merge == nil {
		t.chunks = append(t.chunks, chunk(r))
	}
	if t.vectors != nil {
		if len(r.Vector) == 0 {
			t.place.Append(-1)
		} else {
			if err := t.vectors.Add(r.Vector); err != nil {
				return err
			}
			t.place.Append(t.vector)
			t.rows.Append(t.row)
			t.vector++
		}
	}
	t.row++
	return nil
}

func (t *tableWriter) finish(ctx context.Context, dir string, gone []string, o Options) error {
	if err := writeGone(t.w, gone); err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(t.schema.Fields)) {
		if err := writeColumn(t.w, field, t.schema.Fields[field], t.fields[field]); err != nil {
			return err
		}
	}
	if t.schema.Text {
		if err := t.writeWords(ctx, filepath.Join(dir, wordsFolder), o); err != nil {
			return err
		}
	}
	if t.vectors == nil {
		return nil
	}
	vectors := t.vectors
	t.vectors = nil // closed, whatever comes of it
	return vectors.Close()
}

func (t *tableWriter) writeWords(ctx context.Context, dir string, o Options) error {
	if t.merge != nil {
		return t.merge(dir)
	}
	words, err := bm25.Build(ctx, t.chunks, settings(t.schema, o))
	if err != nil {
		return err
	}
	return bm25.Merge(ctx, dir, words)
}

func writeGone(w *flat.Writer, gone []string) error {
	t, err := newTexts(w, "gone")
	for _, id := range gone {
		if err != nil {
			break
		}
		t.append(id)
	}
	return err
}

// writeEdges writes triples, in the order of their ids, as a segment.
func writeEdges(ctx context.Context, dir string, all iter.Seq2[string, store.Triple], gone []string, o Options) error {
	w, err := flat.Create(filepath.Join(dir, rowsFolder), rowsKind, rowsVersion)
	if err != nil {
		return err
	}
	var ids, sources textsWriter
	weights, err := flat.NewArray[float64](w, "weights")
	if err == nil {
		err = open(w, "ids", &ids, "sources", &sources)
	}
	if err == nil {
		err = writeGone(w, gone)
	}
	if err == nil {
		err = triples.Build(ctx, filepath.Join(dir, edgesFolder), func(yield func(triples.Triple, error) bool) {
			for id, t := range all {
				ids.append(id)
				sources.append(t.Source)
				weights.Append(t.Weight)
				if !yield(t.Triple, w.Err()) {
					return
				}
			}
		}, triples.Options{Analyzer: o.Analyzer})
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close(struct{}{})
}
