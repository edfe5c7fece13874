// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
)

// Limits of an index: bytes per file, and numbers of rows, of nodes and edges, and of mentions and facts.
const (
	MaxFile = 1 << 30
	MaxRows = 10_000_000
)

// ErrFormat is wrapped by errors about files that are not of an index, truncated or too large.
var ErrFormat = errors.New("not an index that can be read")

// Index is a finished index that another program has built. It is immutable and safe for concurrent use.
type Index struct {
	// Units are the text units, sorted by ID. A unit's Title and Source are its document's.
	Units []graphrag.Document
	// Notes say what could not be used, without a full stop.
	Notes []string

	said map[string]*kg.Extraction // extractions by unit
}

// Documents streams the text units as documents, so that recipes keep the program's chunks: set a chunk size
// that is at least as large.
func (x *Index) Documents() iter.Seq2[graphrag.Document, error] {
	return graphrag.Documents(x.Units...)
}

// Extractions yields the extractions of the text units, sorted by unit.
func (x *Index) Extractions() iter.Seq[kg.Extraction] {
	return func(yield func(kg.Extraction) bool) {
		for _, u := range x.Units {
			if e := x.said[u.ID]; e != nil && !yield(*e) {
				return
			}
		}
	}
}

// Extract returns the stored extraction of a text unit for its first chunk, and empty ones for its other
// chunks, so that an Index is an extractor that calls no model. A chunk of an unknown unit is an error.
func (x *Index) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("foreign: %w", ctx.Err())
		}
		e, ok := x.said[c.Doc]
		if !ok {
			return nil, fmt.Errorf("foreign: chunk %s is of no text unit of the index: index its Documents", c.ID)
		}
		if c.Index == 0 {
			out[i] = *e
		}
		out[i].Chunk, out[i].Doc = c.ID, c.Doc
	}
	return out, nil
}

// builder collects the content of an index.
type builder struct {
	*Index
	program string
	missing map[string]int // kind of item → number of items whose units are all unknown
	said    int            // number of mentions and facts so far
}

func newBuilder(program string) *builder {
	return &builder{Index: &Index{said: make(map[string]*kg.Extraction)}, program: program, missing: make(map[string]int)}
}

// unit adds a text unit to the index.
func (b *builder) unit(d graphrag.Document) error {
	if d.ID == "" || b.Index.said[d.ID] != nil {
		return fmt.Errorf("%w: the ID %.80q of a text unit is empty or repeated", ErrFormat, d.ID)
	}
	b.Units = append(b.Units, d)
	b.Index.said[d.ID] = &kg.Extraction{Chunk: d.ID, Doc: d.ID}
	return nil
}

// in returns the extractions of the known units among the given ones.
func (b *builder) in(kind string, units []string) ([]*kg.Extraction, error) {
	slices.Sort(units)
	var out []*kg.Extraction
	for _, id := range slices.Compact(units) {
		if e := b.Index.said[id]; e != nil {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		b.missing[kind]++
	}
	if b.said += len(out); b.said > MaxRows {
		return nil, fmt.Errorf("%w: more than %d mentions and facts", ErrFormat, MaxRows)
	}
	return out, nil
}

// stated returns the parts of a description that unit i of n states: unit i states part i, and the last unit
// also all later parts. Units without a part repeat the last part, which recipes then merge.
func stated(parts []string, i, n int) []string {
	first := min(i, len(parts)-1)
	if i < n-1 {
		return parts[first : first+1]
	}
	return parts[first:]
}

// entity adds mentions of an entity, with the parts of its description, to its units.
func (b *builder) entity(m kg.Mention, description []string, units []string) error {
	in, err := b.in("entities", units)
	for i, e := range in {
		for _, m.Description = range stated(description, i, len(in)) {
			e.Mentions = append(e.Mentions, m)
		}
	}
	return err
}

// relation adds facts of a relation, with equal parts of its weight, to its units.
func (b *builder) relation(f kg.Fact, description []string, units []string) error {
	in, err := b.in("relations", units)
	f.Weight /= float64(max(len(in), len(description)))
	if !(f.Weight > 0 && f.Weight < 1e12) {
		f.Weight = 0 // 0 means the default weight 1
	}
	for i, e := range in {
		for _, f.Description = range stated(description, i, len(in)) {
			e.Facts = append(e.Facts, f)
		}
	}
	return err
}

// index returns the finished index, or an error if it has no units.
func (b *builder) index() (*Index, error) {
	if len(b.Units) == 0 {
		return nil, fmt.Errorf("%w: %s has no text unit", ErrFormat, b.program)
	}
	slices.SortFunc(b.Units, func(x, y graphrag.Document) int { return strings.Compare(x.ID, y.ID) })
	for _, kind := range []string{"entities", "relations"} {
		if n := b.missing[kind]; n > 0 {
			b.Notes = append(b.Notes, fmt.Sprintf("left out, being of nothing that is there: %d %s", n, kind))
		}
	}
	return b.Index, nil
}

// open opens the first of the files that exists, and returns its size, at most MaxFile.
func open(fsys fs.FS, names ...string) (fs.File, int64, error) {
	for _, name := range names {
		f, err := fsys.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		switch {
		case err == nil && !info.Mode().IsRegular():
			err = fmt.Errorf("%w: %s is not a file", ErrFormat, name)
		case err == nil && info.Size() > MaxFile:
			err = fmt.Errorf("%w: %s is larger than %d MiB", ErrFormat, name, MaxFile>>20)
		}
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		return f, info.Size(), nil
	}
	return nil, 0, fmt.Errorf("%w: the file %s is missing: %w", ErrFormat, names[0], fs.ErrNotExist)
}

// readAt returns a file as an io.ReaderAt.
func readAt(f fs.File, size int64) (io.ReaderAt, error) {
	if r, ok := f.(io.ReaderAt); ok {
		return r, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, size))
	return strings.NewReader(string(data)), err
}

// row is a row of a table: column name → its values, one or the elements of a list.
type row map[string][]pq.Value

// text returns the text of the first column that exists, or "".
func (r row) text(names ...string) string {
	for _, name := range names {
		if v := r[name]; len(v) > 0 {
			return v[0].String()
		}
	}
	return ""
}

// texts returns the texts of columns that contain lists.
func (r row) texts(names ...string) []string {
	var out []string
	for _, name := range names {
		for _, v := range r[name] {
			out = append(out, v.String())
		}
	}
	return out
}

// number returns the number of a column, or 0.
func (r row) number(name string) float64 {
	if v := r[name]; len(v) > 0 {
		switch v[0].Kind() {
		case pq.Int32:
			return float64(v[0].Int32())
		case pq.Int64:
			return float64(v[0].Int64())
		case pq.Float:
			return float64(v[0].Float())
		case pq.Double:
			return v[0].Double()
		}
	}
	return 0
}

// table calls take with the wanted columns of each row of a Parquet file. It also accepts the file names of
// GraphRAG before version 1.
func table(fsys fs.FS, name string, columns []string, take func(row) error) error {
	file := name + ".parquet"
	f, size, err := open(fsys, file, "create_final_"+file)
	if err != nil {
		return err
	}
	defer f.Close() // closing a file that was only read loses nothing
	at, err := readAt(f, size)
	if err != nil {
		return err
	}
	p, err := parquet.Open(at, size)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	names, err := wanted(p, columns)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	}
	err = parquet.Rows(p, func(values pq.Row) error {
		r := make(row, len(names))
		for _, v := range values {
			if name := names[v.Column()]; name != "" && !v.IsNull() {
				r[name] = append(r[name], v)
			}
		}
		return take(r)
	})
	switch {
	case errors.Is(err, parquet.ErrDamaged):
		return fmt.Errorf("%w: %s: %w", ErrFormat, file, err)
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// wanted checks the limits of a file, and returns for each column its name if it is wanted, else "".
func wanted(p *pq.File, columns []string) ([]string, error) {
	var bytes, values int64
	for _, g := range p.Metadata().RowGroups {
		for _, c := range g.Columns {
			if n := c.MetaData.TotalUncompressedSize; n < 0 || n > MaxFile {
				return nil, fmt.Errorf("a column has %d bytes, want at most %d", n, MaxFile)
			}
			bytes += c.MetaData.TotalUncompressedSize
			values += c.MetaData.NumValues
		}
	}
	if bytes > 2*MaxFile || p.NumRows() > MaxRows || values > 10*MaxRows {
		return nil, fmt.Errorf("%d rows with %d values of %d bytes are too many to read", p.NumRows(), values, bytes)
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
