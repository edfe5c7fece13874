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

// ErrDamaged is wrapped by the errors for files that are no Parquet files, or incomplete.
var ErrDamaged = errors.New("no Parquet file, or a damaged one")

// Open reads the footer of a file. Pages are checked when they are read.
func Open(at io.ReaderAt, size int64) (f *pq.File, err error) {
	defer caught(&err)
	if err := footer(at, size); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	f, err = pq.OpenFile(at, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return f, nil
}

// caught makes an error of a panic: the library takes damaged files badly.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, p)
	}
}

// footer checks the length of a file's footer, for which the library makes room: the file ends in it and its length.
func footer(at io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := at.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return fmt.Errorf("the footer claims %d bytes of a file of %d", n, size)
	}
	return nil
}

// Rows hands out the rows of a file, which are valid until take returns. An error of take ends it.
func Rows(f *pq.File, take func(pq.Row) error) (err error) {
	defer caught(&err)
	for _, g := range f.RowGroups() {
		if g.NumRows() == 0 {
			continue // its pages need not exist: pyarrow writes a dictionary alone
		}
		if err := group(g, take); err != nil {
			return err
		}
	}
	return nil
}

func group(g pq.RowGroup, take func(pq.Row) error) error {
	in := g.Rows()
	defer in.Close() // only read
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
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case n == 0:
			return fmt.Errorf("%w: rows are missing", ErrDamaged)
		}
	}
}

// MaxSize is the most that the values of a file may take, in bytes, when they are unpacked.
const MaxSize = 1 << 30

// JSONLines writes the rows of a file as JSON objects, one a line: texts, numbers and lists of them, without null.
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
