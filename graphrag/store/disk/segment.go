// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// The subfolders of a segment, and the kind and format version of the subfolder with its rows.
const (
	rowsFolder    = "rows"
	wordsFolder   = "words"
	vectorsFolder = "vectors"
	edgesFolder   = "edges"

	rowsKind    = "rows"
	rowsVersion = 2
)

// segment is written by one flush or merge. Its rows are in the order of their ids.
type segment struct {
	number int
	dir    string
	rows   *flat.Folder
	hides  hides
	ids    texts // id of each row

	// The arrays of a segment of a table.
	scopes, titles, bodies, data texts
	columns                      map[string]column
	words                        *bm25.Index   // nil without a text index
	vectors                      *vector.Index // nil without vectors
	place                        []int32       // number of the vector of each row, -1 without one
	row                          []int32       // row of each vector

	// The arrays of a segment of triples.
	edges   *triples.Index
	sources texts
	weights []float64

	home    *shared
	refs    int         // number of views that use it
	dropped atomic.Bool // not in the catalog any more: the last release removes it
}

// rowsMeta lists the fields in the order of their columns, and pairs of the number of an earlier segment and
// the number of rows that are hidden in it.
type rowsMeta struct {
	Fields []string `json:"fields,omitempty"`
	Hides  [][2]int `json:"hides,omitempty"`
}

func columnName(i int) string { return fmt.Sprintf("field-%d", i) }

func (s *segment) len() int { return s.ids.len() }

// openSegment opens a segment of a table, or of triples if schema is nil.
func openSegment(dir string, number int, schema *store.TableSchema, o Options) (_ *segment, err error) {
	s := &segment{number: number, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	var meta rowsMeta
	if s.rows, err = flat.Open(filepath.Join(dir, rowsFolder), rowsKind, rowsVersion, &meta); err != nil {
		return nil, err
	}
	if s.hides, err = viewHides(s.rows, meta.Hides); err == nil {
		err = s.view("ids", &s.ids)
	}
	if err == nil && schema == nil {
		err = s.openEdges(o)
	} else if err == nil {
		err = s.openTable(*schema, meta.Fields, o)
	}
	s.rows.Scattered() // from here on rows are read in random order
	return s, err
}

// view opens arrays, given as pairs of a name and a *texts. Long arrays are checked when they are read.
func (s *segment) view(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		t, err := viewTexts(s.rows, pairs[i].(string))
		if err != nil {
			return fmt.Errorf("segment %s: open array %s: %w", s.dir, pairs[i], err)
		}
		*pairs[i+1].(*texts) = t
	}
	return nil
}

func (s *segment) openTable(schema store.TableSchema, fields []string, o Options) (err error) {
	if err := s.view("scopes", &s.scopes, "titles", &s.titles, "texts", &s.bodies, "data", &s.data); err != nil {
		return err
	}
	s.columns = map[string]column{}
	for i, field := range fields {
		if s.columns[field], err = viewColumn(s.rows, columnName(i), s.len()); err != nil {
			return fmt.Errorf("segment %s: open field %q: %w", s.dir, field, err)
		}
	}
	if schema.Text {
		if s.words, err = bm25.Open(filepath.Join(s.dir, wordsFolder), o.Analyzer); err != nil {
			return err
		}
	}
	if schema.Dim > 0 {
		if s.vectors, err = vector.Open(filepath.Join(s.dir, vectorsFolder), vector.Options{}); err != nil {
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

// fits checks that the lengths of the arrays agree.
func (s *segment) fits() error {
	n := s.len()
	ok := s.scopes.len() == n && s.titles.len() == n && s.bodies.len() == n && s.data.len() == n && (s.words == nil || s.words.Len() == n)
	if s.vectors != nil {
		ok = ok && len(s.place) == n && len(s.row) == s.vectors.Len()
	}
	if !ok {
		return fmt.Errorf("segment %s: %w", s.dir, errFit)
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
		return fmt.Errorf("segment %s: %w", s.dir, errFit)
	}
	return nil
}

// record returns a copy of a row, since mapped memory is gone when the segment is closed.
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
				r.Fields = graphrag.Fields{}
			}
			r.Fields[field] = v
		}
	}
	return r
}

// soon tells the operating system that a record is about to be read (madvise).
func (s *segment) soon(row int) {
	flat.Soon(s.bodies.bytes(row))
	flat.Soon(s.data.bytes(row))
	if s.vectors != nil && s.place[row] >= 0 {
		s.vectors.Soon(s.place[row])
	}
}

// aheadRows is the number of rows passed to madvise at once during a full scan (about 1 MiB).
const aheadRows = 1 << 10

// ahead tells the operating system that the rows from row on will be read in order.
func (s *segment) ahead(row int) {
	end := min(row+aheadRows, s.len())
	for _, t := range []texts{s.ids, s.titles, s.bodies, s.data} {
		if t.len() >= end {
			flat.Soon(t.span(row, end))
		}
	}
}

// triple returns the triple of a row.
func (s *segment) triple(row int) store.Triple {
	return store.Triple{Triple: s.edges.Triple(int32(row)), Source: s.sources.at(row), Weight: s.weights[row]}
}

// err returns the damage that reads have found in the files so far.
func (s *segment) err() error {
	err := s.rows.Err()
	if err == nil && s.vectors != nil {
		err = s.vectors.Err()
	}
	return err
}

// shared holds the open segments of a store by their numbers, since generations share segments.
type shared struct {
	mu   sync.Mutex
	open map[int]*segment
}

// get returns a segment with one reference more, and calls open if the segment is not open. The caller releases
// it, and opens a segment in one goroutine only.
func (x *shared) get(number int, open func() (*segment, error)) (s *segment, err error) {
	x.mu.Lock()
	if s = x.open[number]; s != nil {
		s.refs++
	}
	x.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if s, err = open(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	s.home, s.refs, x.open[number] = x, 1, s
	return s, nil
}

func (s *segment) hold() {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	s.refs++
}

// release drops a reference. The last one closes the segment, and removes its folder if it was dropped.
func (s *segment) release() error {
	s.home.mu.Lock()
	s.refs--
	last := s.refs == 0
	if last {
		delete(s.home.open, s.number)
	}
	s.home.mu.Unlock()
	if !last {
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

// chunk returns the searchable texts of a record.
func chunk(r store.Record) graphrag.Chunk { return graphrag.Chunk{Title: r.Title, Text: r.Text} }

// settings returns the options of the text index of a table.
func settings(t store.TableSchema, o Options) bm25.Options {
	return bm25.Options{K1: cmp.Or(t.K1, bm25.DefaultK1), B: cmp.Or(t.B, bm25.DefaultB), TitleWeight: t.TitleWeight, Analyzer: o.Analyzer}
}

var errFit = fmt.Errorf("%w: the lengths of its arrays do not agree: build the store again", flat.ErrFormat)

// texts is an array of strings in mapped memory.
type texts struct {
	arena []byte
	ends  []int64
	sums  *flat.Sums // checksums of the arena; nil: it was checked
}

func (t texts) len() int { return len(t.ends) }

// bytes returns a text without a copy. Files may be damaged: then the text is empty, and err of the segment
// returns an error.
func (t texts) bytes(i int) []byte { return t.span(i, i+1) }

// span returns the bytes of the texts i to end-1.
func (t texts) span(i, end int) []byte {
	first, last := int64(0), t.ends[end-1]
	if i > 0 {
		first = t.ends[i-1]
	}
	if first < 0 || first > last || last > int64(len(t.arena)) || t.sums != nil && !t.sums.Check(int(first), int(last)) {
		return nil
	}
	return t.arena[first:last]
}

func (t texts) at(i int) string { return string(t.bytes(i)) }

// search returns the position of s among sorted texts, or the position where it would be inserted.
func (t texts) search(s string) (int, bool) {
	i := sort.Search(t.len(), func(i int) bool { return string(t.bytes(i)) >= s })
	return i, i < t.len() && string(t.bytes(i)) == s
}

// viewTexts opens an array of texts by its name.
func viewTexts(f *flat.Folder, name string) (t texts, err error) {
	var err1, err2 error
	t.arena, t.sums, err1 = flat.Lazy[byte](f, name)
	t.ends, err2 = flat.View[int64](f, name+"-ends")
	if err := errors.Join(err1, err2); err != nil {
		return t, err
	}
	if n := len(t.ends); n == 0 && len(t.arena) > 0 || n > 0 && t.ends[n-1] != int64(len(t.arena)) {
		return t, errFit
	}
	return t, nil
}

// textsWriter writes an array of texts.
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

// noDocs returns an empty set with room for n rows or vectors.
func noDocs(n int) bm25.Docs { return make(bm25.Docs, (n+63)/64) }

// common calls found with the positions of equal texts in two sorted lists. It searches with growing steps: if
// one list is short, each of its texts takes logarithmic time.
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
