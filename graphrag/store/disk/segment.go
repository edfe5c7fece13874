// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// The folders of a segment, and the kind and version of that of its rows.
const (
	rowsFolder    = "rows"
	wordsFolder   = "words"
	vectorsFolder = "vectors"
	edgesFolder   = "edges"

	rowsKind    = "rows"
	rowsVersion = 1
)

// segment is what was flushed at once. Rows are in the order of their ids.
type segment struct {
	number int
	dir    string
	rows   *flat.Folder
	ids    texts // of the rows
	gone   texts // ids that were deleted from the segments before

	// Of a table.
	scopes, titles, bodies, data texts
	columns                      map[string]column
	words                        *bm25.Index   // nil: not searched
	vectors                      *vector.Index // nil: there are none
	place                        []int32       // of the vector of each row; -1: it has none
	row                          []int32       // of each vector

	// Of triples, in place of these.
	edges   *triples.Index
	sources texts
	weights []float64

	refs    atomic.Int32 // views that read it
	dropped atomic.Bool  // the catalog does not name it any more
}

func (s *segment) len() int { return s.ids.len() }

// openSegment opens a segment of a table, or of triples, of which schema is nil.
func openSegment(dir string, number int, schema *store.TableSchema, o Options) (_ *segment, err error) {
	s := &segment{number: number, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.rows, err = flat.Open(filepath.Join(dir, rowsFolder), rowsKind, rowsVersion, &struct{}{}); err != nil {
		return nil, err
	}
	s.rows.Scattered()
	if err = s.view("ids", &s.ids, "gone", &s.gone); err != nil {
		return nil, err
	}
	if schema == nil {
		return s, s.openEdges(o)
	}
	return s, s.openTable(*schema, o)
}

// view reads texts by their names.
func (s *segment) view(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		t, err := viewTexts(s.rows, pairs[i].(string))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s.dir, pairs[i], err)
		}
		*pairs[i+1].(*texts) = t
	}
	return nil
}

func (s *segment) openTable(schema store.TableSchema, o Options) (err error) {
	if err := s.view("scopes", &s.scopes, "titles", &s.titles, "texts", &s.bodies, "data", &s.data); err != nil {
		return err
	}
	s.columns = map[string]column{}
	for field, kind := range schema.Fields {
		if s.columns[field], err = viewColumn(s.rows, field, kind, s.len()); err != nil {
			return fmt.Errorf("%s: field %q: %w", s.dir, field, err)
		}
	}
	if schema.Text {
		if s.words, err = bm25.Open(filepath.Join(s.dir, wordsFolder), o.Analyzer); err != nil {
			return err
		}
	}
	if schema.Dim > 0 {
		if s.vectors, err = vector.Open(filepath.Join(s.dir, vectorsFolder), vector.Options{Workers: o.Workers}); err != nil {
			return err
		}
		var err1, err2 error
		s.place, err1 = flat.View[int32](s.rows, "vectors")
		s.row, err2 = flat.View[int32](s.rows, "vector-rows")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
	}
	return s.fits()
}

// fits looks at whether the arrays have the lengths that they give each other.
func (s *segment) fits() error {
	n := s.len()
	ok := s.scopes.len() == n && s.titles.len() == n && s.bodies.len() == n && s.data.len() == n && (s.words == nil || s.words.Len() == n)
	if s.vectors != nil {
		ok = ok && len(s.place) == n && len(s.row) == s.vectors.Len()
	}
	if !ok {
		return fmt.Errorf("%s: %w", s.dir, errFit)
	}
	return nil
}

func (s *segment) openEdges(o Options) (err error) {
	if err := s.view("sources", &s.sources); err != nil {
		return err
	}
	if s.weights, err = flat.View[float64](s.rows, "weights"); err != nil {
		return err
	}
	if s.edges, err = triples.Open(filepath.Join(s.dir, edgesFolder), o.Analyzer); err != nil {
		return err
	}
	if n := s.len(); s.sources.len() != n || len(s.weights) != n || s.edges.Len() != n {
		return fmt.Errorf("%s: %w", s.dir, errFit)
	}
	return nil
}

// record is a row, with copies of all that is mapped.
func (s *segment) record(row int) store.Record {
	r := store.Record{
		ID: s.ids.at(row), Scope: s.scopes.at(row), Title: s.titles.at(row), Text: s.bodies.at(row),
		Data: append([]byte(nil), s.data.bytes(row)...),
	}
	if s.vectors != nil && s.place[row] >= 0 {
		r.Vector = s.vectors.Vector(s.place[row], nil)
	}
	for field, c := range s.columns {
		if v := c.at(row); v != nil {
			if r.Fields == nil {
				r.Fields = store.Fields{}
			}
			r.Fields[field] = v
		}
	}
	return r
}

// soon tells the system which parts of the largest arrays a record will be read from.
func (s *segment) soon(row int) {
	flat.Soon(s.bodies.bytes(row))
	flat.Soon(s.data.bytes(row))
	if s.vectors != nil && s.place[row] >= 0 {
		s.vectors.Soon(s.place[row])
	}
}

// aheadRows is how many rows are announced at a time to who reads all: a megabyte or so.
const aheadRows = 1 << 10

// ahead tells the system that the rows from one on will be read in order.
func (s *segment) ahead(row int) {
	end := min(row+aheadRows, s.len())
	for _, t := range []texts{s.ids, s.titles, s.bodies, s.data} {
		if t.len() >= end {
			flat.Soon(t.span(row, end))
		}
	}
}

// triple is a row of triples.
func (s *segment) triple(row int) store.Triple {
	return store.Triple{Triple: s.edges.Triple(int32(row)), Source: s.sources.at(row), Weight: s.weights[row]}
}

// release ends a view's use of it. Nobody reads it any more after the last.
func (s *segment) release() error {
	if s.refs.Add(-1) > 0 {
		return nil
	}
	err := s.close()
	if s.dropped.Load() {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

func (s *segment) close() error {
	var errs []error
	if s.rows != nil {
		errs = append(errs, s.rows.Close())
	}
	if s.words != nil {
		errs = append(errs, s.words.Close())
	}
	if s.vectors != nil {
		errs = append(errs, s.vectors.Close())
	}
	if s.edges != nil {
		errs = append(errs, s.edges.Close())
	}
	return errors.Join(errs...)
}

// chunk is what is indexed of the words of a record.
func chunk(r store.Record) graphrag.Chunk { return graphrag.Chunk{Title: r.Title, Text: r.Text} }

// settings are those of the index of words of a table.
func settings(t store.TableSchema, o Options) bm25.Options {
	return bm25.Options{K1: cmp.Or(t.K1, bm25.DefaultK1), B: cmp.Or(t.B, bm25.DefaultB), TitleWeight: t.TitleWeight, Analyzer: o.Analyzer}
}

var errFit = fmt.Errorf("%w: its arrays do not fit each other; build it again", flat.ErrFormat)

// texts are strings in a folder, by number.
type texts struct {
	arena []byte
	ends  []int64
}

func (t texts) len() int { return len(t.ends) }

// bytes is a text where it lies. What is read is not trusted: one whose ends are
// damaged is empty.
func (t texts) bytes(i int) []byte { return t.span(i, i+1) }

// span is where texts lie, from one up to another.
func (t texts) span(i, end int) []byte {
	first, last := int64(0), t.ends[end-1]
	if i > 0 {
		first = t.ends[i-1]
	}
	if first < 0 || first > last || last > int64(len(t.arena)) {
		return nil
	}
	return t.arena[first:last]
}

func (t texts) at(i int) string { return string(t.bytes(i)) }

// search is where s is, or would be, among texts in order.
func (t texts) search(s string) (int, bool) {
	i := sort.Search(t.len(), func(i int) bool { return string(t.bytes(i)) >= s })
	return i, i < t.len() && string(t.bytes(i)) == s
}

// viewTexts are the texts of a name. Nothing is read but the last end, so that a folder
// opens at once.
func viewTexts(f *flat.Folder, name string) (t texts, err error) {
	arena, err1 := flat.View[byte](f, name)
	ends, err2 := flat.View[int64](f, name+"-ends")
	if err := errors.Join(err1, err2); err != nil {
		return t, err
	}
	if n := len(ends); n == 0 && len(arena) > 0 || n > 0 && ends[n-1] != int64(len(arena)) {
		return t, errFit
	}
	return texts{arena, ends}, nil
}

// textsWriter writes texts.
type textsWriter struct {
	arena flat.Array[byte]
	ends  flat.Array[int64]
}

func newTexts(w *flat.Writer, name string) (t textsWriter, err error) {
	var err1, err2 error
	t.arena, err1 = flat.NewArray[byte](w, name)
	t.ends, err2 = flat.NewArray[int64](w, name+"-ends")
	return t, errors.Join(err1, err2)
}

func (t textsWriter) append(s string) {
	t.arena.Append([]byte(s)...)
	t.ends.Append(int64(t.arena.Len()))
}

// bits are a set of rows, which knows how many they are: searches ask.
type bits struct {
	words []uint64
	n     int
}

func newBits(rows int) bits { return bits{words: make([]uint64, (rows+63)/64)} }

func (b *bits) has(i int) bool { return b.words[i>>6]&(1<<(i&63)) != 0 }

func (b *bits) count() int { return b.n }

func (b *bits) add(i int) {
	if !b.has(i) {
		b.words[i>>6] |= 1 << (i & 63)
		b.n++
	}
}

func (b *bits) clone() bits { return bits{slices.Clone(b.words), b.n} }

// common calls found with the places of texts that are in both, which are in order. It
// gallops: a short list in a long one costs the logarithm for each, two long ones one
// pass.
func common(a, b texts, found func(i, j int)) {
	if a.len() > b.len() {
		common(b, a, func(j, i int) { found(i, j) })
		return
	}
	j := 0
	for i := range a.len() {
		s := string(a.bytes(i))
		step := 1
		for j+step < b.len() && string(b.bytes(j+step)) < s {
			step *= 2
		}
		j += sort.Search(min(step, b.len()-j), func(n int) bool { return string(b.bytes(j+n)) >= s })
		if j == b.len() {
			return
		}
		if string(b.bytes(j)) == s {
			found(i, j)
		}
	}
}
