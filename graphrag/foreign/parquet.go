// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/graphrag/internal/parquetfile"
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
func table(fsys fs.FS, name string, columns []string, take func(row) error) error {
	file := name + ".parquet"
	f, size, err := open(fsys, file, "create_final_"+file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	at, err := readAt(f, size)
	if err != nil {
		return err
	}
	p, err := parquetfile.Open(at, size)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	names, err := wanted(p, columns)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	err = parquetfile.Rows(p, func(values parquet.Row) error {
		r := make(row, len(names))
		for _, v := range values {
			if name := names[v.Column()]; name != "" && !v.IsNull() {
				r[name] = append(r[name], v)
			}
		}
		return take(r)
	})
	switch {
	case errors.Is(err, parquetfile.ErrDamaged):
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
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
