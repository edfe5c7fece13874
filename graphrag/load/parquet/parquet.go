// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"
)

// ErrDamaged is wrapped by errors about files that are not Parquet files, or are incomplete.
var ErrDamaged = errors.New("not a Parquet file, or a damaged one")

// Open reads the footer of a file. Damage of pages is found when they are read.
func Open(at io.ReaderAt, size int64) (f *pq.File, err error) {
	defer caught(&err)
	if err := footer(at, size); err != nil {
		return nil, fmt.Errorf("%w: read the footer: %w", ErrDamaged, err)
	}
	f, err = pq.OpenFile(at, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w: open the file: %w", ErrDamaged, err)
	}
	return f, nil
}

// caught turns a panic into an error: the library panics at some damaged files.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: the parser panicked: %v", ErrDamaged, p)
	}
}

// footer checks the length of the footer, since the library allocates as many bytes. The file ends with the
// footer and its length.
func footer(at io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := at.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return fmt.Errorf("the footer claims %d bytes, but the file has %d", n, size)
	}
	return nil
}

// Rows calls take for each row of a file; the row is valid until take returns. An error of take ends the
// iteration and is returned.
func Rows(f *pq.File, take func(pq.Row) error) (err error) {
	defer caught(&err)
	for _, g := range f.RowGroups() {
		if g.NumRows() == 0 {
			continue // pyarrow writes no data pages for an empty group
		}
		if err := group(g, take); err != nil {
			return err
		}
	}
	return nil
}

func group(g pq.RowGroup, take func(pq.Row) error) error {
	in := g.Rows()
	defer in.Close() // only read, so errors do not matter
	buffer := make([]pq.Row, 64)
	for {
		n, err := in.ReadRows(buffer)
		for _, row := range buffer[:n] {
			if err := take(row); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: read rows: %w", ErrDamaged, err)
		case n == 0:
			return fmt.Errorf("%w: rows are missing", ErrDamaged)
		}
	}
}

// MaxSize is the largest size, in bytes, of the unpacked values of a file.
const MaxSize = 1 << 30

// JSONLines writes the rows of a file as JSON objects, one a line: texts, numbers and lists of them, without
// null.
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
		return fmt.Errorf("the values take %d MiB unpacked, want at most %d MiB", unpacked>>20, MaxSize>>20)
	}
	columns := f.Schema().Columns()
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	return Rows(f, func(values pq.Row) error { return to.Encode(object(columns, values)) })
}

// object returns a row as values by column name. A nested column becomes a list.
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
