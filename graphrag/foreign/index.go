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

// The limits of reading: the bytes of a file, and the numbers of its rows, of nodes and edges, and of
// mentions and facts.
const (
	MaxFile = 1 << 30
	MaxRows = 10_000_000
)

// ErrFormat is wrapped by the errors for files that are of no index, truncated or too large.
var ErrFormat = errors.New("not an index that can be read")

// Index is a finished index of another program. It is immutable and safe for concurrent use.
type Index struct {
	// Units are the text units, sorted by ID. Title and Source name the document of a unit.
	Units []graphrag.Document
	// Notes describe what could not be used, without full stop.
	Notes []string

	said map[string]*kg.Extraction // by unit
}

// Documents streams the text units as documents, so that recipes keep the chunks of the program: set
// a chunk size that is at least as large.
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

// Extract returns the stored extraction of a text unit for its first chunk, and empty ones for the
// others. It makes an Index an extractor without calls of a model. A chunk of no unit is an error.
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

// builder gathers an index.
type builder struct {
	*Index
	program string
	missing map[string]int // kinds of things that name a unit that is not there
	said    int            // mentions and facts
}

func newBuilder(program string) *builder {
	return &builder{Index: &Index{said: make(map[string]*kg.Extraction)}, program: program, missing: make(map[string]int)}
}

// unit adds a text unit to the index.
func (b *builder) unit(d graphrag.Document) error {
	if d.ID == "" || b.Index.said[d.ID] != nil {
		return fmt.Errorf("%w: two text units, or one without, have the ID %.80q", ErrFormat, d.ID)
	}
	b.Units = append(b.Units, d)
	b.Index.said[d.ID] = &kg.Extraction{Chunk: d.ID, Doc: d.ID}
	return nil
}

// in returns the extractions of the existing units.
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

// stated returns what unit i of n states of a description's parts: each part is stated once, in order, by as
// few units as possible; units after the last part repeat it, so that recipes merge what they say again.
func stated(parts []string, i, n int) []string {
	first := min(i, len(parts)-1)
	if i < n-1 {
		return parts[first : first+1]
	}
	return parts[first:]
}

// entity adds mentions to the units that contain an entity, with the parts of its description.
func (b *builder) entity(m kg.Mention, description []string, units []string) error {
	in, err := b.in("entities", units)
	for i, e := range in {
		for _, m.Description = range stated(description, i, len(in)) {
			e.Mentions = append(e.Mentions, m)
		}
	}
	return err
}

// relation adds facts to the units that state a relation, with equal shares of its weight.
func (b *builder) relation(f kg.Fact, description []string, units []string) error {
	in, err := b.in("relations", units)
	f.Weight /= float64(max(len(in), len(description)))
	if !(f.Weight > 0 && f.Weight < 1e12) {
		f.Weight = 0 // which means 1
	}
	for i, e := range in {
		for _, f.Description = range stated(description, i, len(in)) {
			e.Facts = append(e.Facts, f)
		}
	}
	return err
}

// index returns the index.
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

// open opens the first existing file of the names, which must not be larger than MaxFile.
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
			err = fmt.Errorf("%w: %s is no file", ErrFormat, name)
		case err == nil && info.Size() > MaxFile:
			err = fmt.Errorf("%w: %s is larger than %d MiB", ErrFormat, name, MaxFile>>20)
		}
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		return f, info.Size(), nil
	}
	return nil, 0, fmt.Errorf("%w: %s is not here: %w", ErrFormat, names[0], fs.ErrNotExist)
}

// readAt returns a file as an io.ReaderAt.
func readAt(f fs.File, size int64) (io.ReaderAt, error) {
	if r, ok := f.(io.ReaderAt); ok {
		return r, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, size))
	return strings.NewReader(string(data)), err
}

// row is a row of a table: the values of each column by its name, the values of a list in order.
type row map[string][]pq.Value

// text returns the text of the first existing column, or "".
func (r row) text(names ...string) string {
	for _, name := range names {
		if v := r[name]; len(v) > 0 {
			return v[0].String()
		}
	}
	return ""
}

// texts returns the texts of columns of lists.
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

// table calls take with the wanted columns of each row of a Parquet file. It also finds files under
// their names before version 1 of GraphRAG.
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

// wanted checks the limits of a file, and returns the names of the wanted columns by column, "" for others.
func wanted(p *pq.File, columns []string) ([]string, error) {
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
