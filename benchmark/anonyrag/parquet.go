// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	pq "github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/benchmark/internal/rows"
	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// table hands the rows of a Parquet file to take as JSON objects, each with its number from
// 1. Columns hold texts and numbers, or lists of them; what is null is left out.
func table(fsys fs.FS, name string, take func(row int, raw json.RawMessage) error) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || info.Size() > rows.MaxFile {
		return fmt.Errorf("%s: want a Parquet file on disk of at most %d MiB", name, rows.MaxFile>>20)
	}
	p, err := parquet.Open(at, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var size int64
	for _, g := range p.Metadata().RowGroups {
		for _, c := range g.Columns {
			size += max(c.MetaData.TotalUncompressedSize, 0)
		}
	}
	if size > rows.MaxFile {
		return fmt.Errorf("%s: %d MiB of values, want at most %d", name, size>>20, rows.MaxFile>>20)
	}
	columns := p.Schema().Columns()
	var problems []error
	n := 0
	err = parquet.Rows(p, func(values pq.Row) error {
		n++
		raw, err := json.Marshal(recordOf(columns, values))
		if err == nil {
			err = take(n, raw)
		}
		if err != nil {
			problems = append(problems, &jsonl.Error{File: name, Line: n, Err: err})
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(rows.Some(problems, most), err)
}

// recordOf is a row by the names of its columns. A column below another one is a list.
func recordOf(columns [][]string, values pq.Row) map[string]any {
	out := make(map[string]any)
	for _, v := range values {
		path := columns[v.Column()]
		if v.IsNull() {
			continue
		}
		var one any
		switch v.Kind() {
		case pq.Boolean:
			one = v.Boolean()
		case pq.Int32:
			one = v.Int32()
		case pq.Int64:
			one = v.Int64()
		case pq.Float:
			one = v.Float()
		case pq.Double:
			one = v.Double()
		default:
			one = string(v.ByteArray())
		}
		if list, _ := out[path[0]].([]any); len(path) > 1 {
			out[path[0]] = append(list, one)
		} else {
			out[path[0]] = one
		}
	}
	return out
}
