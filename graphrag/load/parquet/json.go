// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/json"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"
)

// MaxSize is the most that the values of a file may take, in bytes, when they are unpacked.
const MaxSize = 1 << 30

// JSONLines writes the rows of a file as JSON objects, one a line, by the names of its columns.
// Columns are texts and numbers, or lists of them; what is null is left out.
func JSONLines(w io.Writer, at io.ReaderAt, size int64) error {
	f, err := Open(at, size)
	if err != nil {
		return err
	}
	var unpacked int64
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			unpacked += max(c.MetaData.TotalUncompressedSize, 0)
		}
	}
	if unpacked > MaxSize {
		return fmt.Errorf("%d MiB of values, want at most %d", unpacked>>20, MaxSize>>20)
	}
	columns := f.Schema().Columns()
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	return Rows(f, func(values pq.Row) error { return to.Encode(object(columns, values)) })
}

// object is a row by the names of its columns. A column below another one is a list.
func object(columns [][]string, values pq.Row) map[string]any {
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
