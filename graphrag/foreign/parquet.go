// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// row is a row of a table: the values of its columns by name, those of a list in order.
type row map[string][]parquet.Value

// text is a column of one text, "" where there is none.
func (r row) text(names ...string) string {
	for _, name := range names {
		if v := r[name]; len(v) > 0 {
			return v[0].String()
		}
	}
	return ""
}

// texts are those of a column of lists.
func (r row) texts(names ...string) []string {
	var out []string
	for _, name := range names {
		for _, v := range r[name] {
			out = append(out, v.String())
		}
	}
	return out
}

// number is a column of one number.
func (r row) number(name string) float64 {
	if v := r[name]; len(v) > 0 {
		switch v[0].Kind() {
		case parquet.Int32:
			return float64(v[0].Int32())
		case parquet.Int64:
			return float64(v[0].Int64())
		case parquet.Float:
			return float64(v[0].Float())
		case parquet.Double:
			return v[0].Double()
		}
	}
	return 0
}

// table hands the rows of a Parquet file to take, with the columns that are wanted. It
// finds a file by its name now and before version 1 of GraphRAG.
func table(fsys fs.FS, name string, columns []string, take func(row) error) (err error) {
	file := name + ".parquet"
	f, size, err := open(fsys, file, "create_final_"+file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	defer func() {
		if p := recover(); p != nil { // the library takes damaged files badly
			err = fmt.Errorf("%w: %s is damaged: %v", ErrFormat, file, p)
		}
	}()
	at, err := readAt(f, size)
	if err != nil {
		return err
	}
	if err := footer(at, size); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	p, err := parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	names, err := wanted(p, columns)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	for _, g := range p.RowGroups() {
		if err := rows(g, names, take); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// footer checks that the length of a file's footer, of which the library makes room, can
// be: a file ends in it, its length and four bytes, and begins with four.
func footer(at io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := at.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return fmt.Errorf("a footer of %d bytes", n)
	}
	return nil
}

// wanted checks the bounds of a file, and names its columns that are wanted: "" are the
// others.
func wanted(p *parquet.File, columns []string) ([]string, error) {
	var bytes, values int64
	for _, g := range p.Metadata().RowGroups {
		for _, c := range g.Columns {
			if n := c.MetaData.TotalUncompressedSize; n < 0 || n > MaxFile {
				return nil, fmt.Errorf("a column of %d bytes", n)
			}
			bytes += c.MetaData.TotalUncompressedSize
			values += c.MetaData.NumValues
		}
	}
	if bytes > 2*MaxFile || p.NumRows() > MaxRows || values > 10*MaxRows {
		return nil, fmt.Errorf("%d rows with %d values of %d bytes: more than is read", p.NumRows(), values, bytes)
	}
	var names []string
	for _, path := range p.Schema().Columns() {
		name := ""
		if slices.Contains(columns, path[0]) {
			name = path[0]
		}
		names = append(names, name)
	}
	return names, nil
}

// rows hands out those of a row group.
func rows(g parquet.RowGroup, names []string, take func(row) error) error {
	in := g.Rows()
	defer in.Close() // only read
	buffer := make([]parquet.Row, 64)
	for {
		n, err := in.ReadRows(buffer)
		for _, values := range buffer[:n] {
			r := make(row, len(names))
			for _, v := range values {
				if name := names[v.Column()]; name != "" && !v.IsNull() {
					r[name] = append(r[name], v)
				}
			}
			if err := take(r); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrFormat, err)
		case n == 0:
			return fmt.Errorf("%w: rows are missing", ErrFormat)
		}
	}
}
