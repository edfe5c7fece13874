// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Index finds triples by their words, and by the entities that they share. Triples are numbered in the order in
// which they are read. An index is in memory ([New]), or in a folder whose files are mapped into memory
// ([Open]) and may be larger than memory. It is safe for concurrent use.
type Index struct {
	edges           []edge
	entities, kinds nameTable // entities includes literals; kinds are relations
	starts          []int64   // adjacency[starts[e]:starts[e+1]] are the triples of entity e
	adjacency       []int32
	meta            folderMeta
	words           *bm25.Index
	folder          *flat.Folder // nil if the slices are in memory
	bad             Bad
}

// edge is a triple by the numbers of its parts. The number of a tail that is a value is stored as ^number.
type edge struct{ head, relation, tail int32 }

// Len returns the number of triples.
func (ix *Index) Len() int { return len(ix.edges) }

// Bad returns the lines that [Load] skipped.
func (ix *Index) Bad() Bad { return ix.bad }

// Entities returns the number of entities and values.
func (ix *Index) Entities() int { return ix.entities.len() }

// Triple returns triple i.
func (ix *Index) Triple(i int32) Triple {
	e := ix.edges[i]
	tail, literal := e.tail, false
	if tail < 0 {
		tail, literal = ^tail, true
	}
	return Triple{ix.entities.at(e.head), ix.kinds.at(e.relation), ix.entities.at(tail), literal}
}

// Search returns the k triples with the best BM25 score for a query, best first, equal scores by number. It
// overwrites dst.
func (ix *Index) Search(query string, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	return ix.words.Search(query, k, dst)
}

// Whole returns [bm25.Index.Whole], to normalize the scores of a query.
func (ix *Index) Whole(query string) float64 { return ix.words.Whole(query) }

// Neighbors appends to dst at most limit distinct other triples that share an entity with a triple: first the
// triples of its end with fewer triples, which is more specific; the triples of one entity are in ascending
// order. The cost is bounded by limit, even at hubs. Values connect no triples.
func (ix *Index) Neighbors(triple int32, limit int, dst []int32) []int32 {
	most := len(dst) + limit
	first, second := ix.edges[triple].head, ix.edges[triple].tail
	if second < 0 || second == first {
		return ix.of(first, triple, -1, most, dst)
	}
	if ix.degree(second) < ix.degree(first) {
		first, second = second, first
	}
	dst = ix.of(first, triple, -1, most, dst)
	return ix.of(second, triple, first, most, dst)
}

func (ix *Index) degree(entity int32) int64 { return ix.starts[entity+1] - ix.starts[entity] }

// of appends triples of an entity to dst, until dst has the length most. It leaves out the triple but, and all
// triples that contain the entity without.
func (ix *Index) of(entity, but, without int32, most int, dst []int32) []int32 {
	for _, t := range ix.adjacency[ix.starts[entity]:ix.starts[entity+1]] {
		if len(dst) >= most {
			break
		}
		if t != but && (without < 0 || ix.edges[t].head != without && ix.edges[t].tail != without) {
			dst = append(dst, t)
		}
	}
	return dst
}

// The kind and format version of index folders.
const (
	folderKind    = "triples"
	folderVersion = 3
)

// folderMeta is the metadata of a folder.
type folderMeta struct {
	// Known is the number of entities. They are numbered first, in the order of their ids, then the values.
	Known int `json:"entities"`
}

// wordsFolder is the subfolder with the index of words.
const wordsFolder = "words"

// ErrFolder is wrapped by errors of [Open] about folders that hold no index, an incomplete or damaged one, or
// one of another version.
var ErrFolder = flat.ErrFormat

// Open opens an index that [Build] wrote. The analyzer must be the one with which the index was built; nil
// means [text.Default].
func Open(dir string, a text.Analyzer) (*Index, error) {
	ix := &Index{}
	var err error
	if ix.folder, err = flat.Open(dir, folderKind, folderVersion, &ix.meta); err != nil {
		return nil, fmt.Errorf("triples: open index: %w", err)
	}
	if ix.words, err = bm25.Open(filepath.Join(dir, wordsFolder), a); err == nil {
		err = ix.view()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("triples: open index: %w", err), ix.Close())
	}
	ix.folder.Scattered()
	return ix, nil
}

func (ix *Index) view() error {
	err := errors.Join(
		view(ix.folder, "edges", &ix.edges), view(ix.folder, "starts", &ix.starts), view(ix.folder, "adjacency", &ix.adjacency),
		view(ix.folder, "entities", &ix.entities.arena), view(ix.folder, "entity-ends", &ix.entities.ends),
		view(ix.folder, "relations", &ix.kinds.arena), view(ix.folder, "relation-ends", &ix.kinds.ends))
	if err != nil {
		return err
	}
	if ix.meta.Known < 0 || ix.meta.Known > ix.Entities() || ix.words.Len() != ix.Len() || len(ix.starts) != ix.Entities()+1 ||
		ix.starts[len(ix.starts)-1] != int64(len(ix.adjacency)) {
		return fmt.Errorf("%w: the lengths of its arrays do not agree: build the index again", ErrFolder)
	}
	return nil
}

func view[T any](f *flat.Folder, name string, to *[]T) (err error) {
	*to, err = flat.View[T](f, name)
	return err
}

// Close releases an index in a folder. For an index in memory it does nothing.
func (ix *Index) Close() error {
	var errs []error
	if ix.words != nil {
		errs = append(errs, ix.words.Close())
	}
	if ix.folder != nil {
		errs = append(errs, ix.folder.Close())
	}
	return errors.Join(errs...)
}

// Options of an index.
type Options struct {
	// Analyzer makes the terms of triples and queries; nil means [text.Default].
	Analyzer text.Analyzer
	// Progress, if set, is called with the number of triples read so far.
	Progress func(done int)
}

// New makes an index in memory. A triple that occurs twice is indexed twice. It returns an error of the source.
func New(ctx context.Context, source iter.Seq2[Triple, error], o Options) (*Index, error) {
	b := newBuilder(ctx, o)
	err := b.read(source, math.MaxInt, nil)
	if err == nil {
		b.ix.words, err = b.part()
	}
	if err != nil {
		return nil, fmt.Errorf("triples: read: %w", err)
	}
	return b.ix, nil
}

// partSize is the number of triples that are indexed in one part: some hundred megabytes.
const partSize = 1 << 20

// Build makes an index in a folder, which must not hold one. It needs memory for the numbers and names of all
// triples, some forty bytes for each, but not for the index of all words. If it fails or is killed, the folder
// contains no index, and the next build starts from the beginning.
func Build(ctx context.Context, dir string, source iter.Seq2[Triple, error], o Options) error {
	if err := build(ctx, dir, source, o, partSize); err != nil {
		return fmt.Errorf("triples: build: %w", err)
	}
	return nil
}

func build(ctx context.Context, dir string, source iter.Seq2[Triple, error], o Options, size int) error {
	w, err := flat.Create(dir, folderKind, folderVersion)
	if err != nil {
		return err
	}
	// A killed build may have left this folder.
	if err := os.RemoveAll(filepath.Join(dir, wordsFolder)); err != nil {
		return err
	}
	parts := filepath.Join(dir, "parts")
	if err := os.RemoveAll(parts); err != nil {
		return err
	}
	b := newBuilder(ctx, o)
	if err = b.read(source, size, func() error { return b.store(parts) }); err == nil {
		b.things, b.relations, b.texts = nil, nil, nil // releases memory, since merging needs some
		err = bm25.Merge(ctx, filepath.Join(dir, wordsFolder), b.parts...)
	}
	err = errors.Join(err, b.closeParts(), os.RemoveAll(parts))
	if err == nil {
		err = b.ix.write(w)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close(b.ix.meta)
}

// builder is an index under construction.
type builder struct {
	ctx       context.Context
	o         Options
	ix        *Index
	things    *text.Vocabulary // ids of entities, and values after literalMark
	relations *text.Vocabulary
	texts     []string // texts of the triples since the last part
	parts     []*bm25.Index
}

func newBuilder(ctx context.Context, o Options) *builder {
	return &builder{ctx: ctx, o: o, ix: &Index{}, things: new(text.Vocabulary), relations: new(text.Vocabulary)}
}

// read adds triples. If store is not nil, it calls store after every size triples and at the end.
func (b *builder) read(source iter.Seq2[Triple, error], size int, store func() error) error {
	for t, err := range source {
		if err == nil && b.ix.Len() == math.MaxInt32 {
			err = fmt.Errorf("there are more than %d triples: split them over several indexes", math.MaxInt32)
		}
		if err == nil && b.ix.Len()%(1<<10) == 0 {
			err = b.ctx.Err()
		}
		if err != nil {
			return err
		}
		b.add(t)
		if len(b.texts) == size {
			if err := store(); err != nil {
				return err
			}
		}
		if b.o.Progress != nil && b.ix.Len()%(1<<16) == 0 {
			b.o.Progress(b.ix.Len())
		}
	}
	if store != nil && (len(b.texts) > 0 || len(b.parts) == 0) {
		if err := store(); err != nil {
			return err
		}
	}
	b.connect()
	return b.ctx.Err()
}

// literalMark distinguishes values from entities whose id is the same text.
const literalMark = "\x00"

func (b *builder) add(t Triple) {
	ix := b.ix
	e := edge{entityNumber(b.things, &ix.entities, "", t.Head), entityNumber(b.relations, &ix.kinds, "", t.Relation), 0}
	if t.Literal {
		e.tail = ^entityNumber(b.things, &ix.entities, literalMark, t.Tail)
	} else {
		e.tail = entityNumber(b.things, &ix.entities, "", t.Tail)
	}
	ix.edges = append(ix.edges, e)
	b.texts = append(b.texts, t.Text())
}

// entityNumber returns the number of an entity, relation or value, and stores its first label.
func entityNumber(v *text.Vocabulary, n *nameTable, mark string, e Entity) int32 {
	i, added := v.Add([]byte(mark + e.ID))
	switch {
	case added && e.Label != e.ID:
		addLabel(n, e.ID, e.Label)
	case added:
		addLabel(n, e.ID, "")
	}
	return int32(i)
}

// part indexes the words of the triples since the last part.
func (b *builder) part() (*bm25.Index, error) {
	ix, err := bm25.BuildTexts(b.ctx, b.texts, bm25.Options{Analyzer: b.o.Analyzer})
	clear(b.texts)
	b.texts = b.texts[:0]
	return ix, err
}

// store indexes a part, and writes it into a folder of its own.
func (b *builder) store(parts string) error {
	ix, err := b.part()
	if err != nil {
		return err
	}
	dir := filepath.Join(parts, fmt.Sprint(len(b.parts)))
	if err := bm25.Merge(b.ctx, dir, ix); err != nil {
		return err
	}
	if ix, err = bm25.Open(dir, b.o.Analyzer); err == nil {
		b.parts = append(b.parts, ix)
	}
	return err
}

func (b *builder) closeParts() error {
	var errs []error
	for _, p := range b.parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// connect lists the triples of each entity.
func (b *builder) connect() {
	ix := b.ix
	ix.sortEntities()
	ends := func(yield func(entity, triple int32)) {
		for i, e := range ix.edges {
			yield(e.head, int32(i))
			if e.tail >= 0 && e.tail != e.head {
				yield(e.tail, int32(i))
			}
		}
	}
	ix.starts = make([]int64, ix.Entities()+1)
	ends(func(entity, _ int32) { ix.starts[entity+1]++ })
	for e := range ix.Entities() {
		ix.starts[e+1] += ix.starts[e]
	}
	ix.adjacency = make([]int32, ix.starts[ix.Entities()])
	next := append([]int64(nil), ix.starts...)
	ends(func(entity, triple int32) {
		ix.adjacency[next[entity]] = triple
		next[entity]++
	})
}

// write writes the arrays of the index.
func (ix *Index) write(w *flat.Writer) error {
	return errors.Join(
		write(w, "edges", ix.edges), write(w, "starts", ix.starts), write(w, "adjacency", ix.adjacency),
		write(w, "entities", ix.entities.arena), write(w, "entity-ends", ix.entities.ends),
		write(w, "relations", ix.kinds.arena), write(w, "relation-ends", ix.kinds.ends), w.Err())
}

func write[T any](w *flat.Writer, name string, values []T) error {
	a, err := flat.NewArray[T](w, name)
	if err == nil {
		a.Append(values...)
	}
	return err
}

// Entity returns the number of an entity. Values cannot be looked up.
func (ix *Index) Entity(id string) (int32, bool) {
	i := sort.Search(ix.meta.Known, func(i int) bool { return string(ix.entities.id(int32(i))) >= id })
	return int32(i), i < ix.meta.Known && string(ix.entities.id(int32(i))) == id
}

// Of returns the triples that contain an entity, in order. The caller must not change the list.
func (ix *Index) Of(entity int32) []int32 {
	return ix.adjacency[ix.starts[entity]:ix.starts[entity+1]]
}

// Ends returns the numbers of the head and the tail of a triple; -1 for a tail that is a value.
func (ix *Index) Ends(triple int32) (head, tail int32) {
	e := ix.edges[triple]
	return e.head, max(e.tail, -1)
}

// Words returns the index of words, whose documents are the triples.
func (ix *Index) Words() *bm25.Index { return ix.words }

// sortEntities renumbers the entities in the order of their ids, and the values after them.
func (ix *Index) sortEntities() {
	value := make([]bool, ix.Entities())
	for _, e := range ix.edges {
		if e.tail < 0 {
			value[^e.tail] = true
		}
	}
	var order, values []int32
	for e, is := range value {
		if is {
			values = append(values, int32(e))
		} else {
			order = append(order, int32(e))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return bytes.Compare(ix.entities.id(a), ix.entities.id(b)) })
	ix.meta.Known = len(order)
	order = append(order, values...)
	number := make([]int32, len(order))
	for i, e := range order {
		number[e] = int32(i)
	}
	for i := range ix.edges {
		e := &ix.edges[i]
		if e.head = number[e.head]; e.tail < 0 {
			e.tail = ^number[^e.tail]
		} else {
			e.tail = number[e.tail]
		}
	}
	sorted := nameTable{arena: make([]byte, 0, len(ix.entities.arena)), ends: make([]nameEnds, 0, len(order))}
	for _, e := range order {
		addLabel(&sorted, ix.entities.id(e), ix.entities.label(e))
	}
	ix.entities = sorted
}

// nameTable holds ids and labels by number: each id, followed by its label if that differs.
type nameTable struct {
	arena []byte
	ends  []nameEnds
}

// nameEnds are the ends of an id and of its label in the arena.
type nameEnds struct{ id, label int }

func (n *nameTable) len() int { return len(n.ends) }

func (n *nameTable) start(i int32) int {
	if i == 0 {
		return 0
	}
	return n.ends[i-1].label
}

func (n *nameTable) id(i int32) []byte { return n.arena[n.start(i):n.ends[i].id] }

func (n *nameTable) label(i int32) []byte { return n.arena[n.ends[i].id:n.ends[i].label] }

func (n *nameTable) at(i int32) Entity {
	id := string(n.id(i))
	if label := n.label(i); len(label) > 0 {
		return Entity{id, string(label)}
	}
	return Entity{id, id}
}

func addLabel[S string | []byte](n *nameTable, id, label S) {
	n.arena = append(append(n.arena, id...), label...)
	n.ends = append(n.ends, nameEnds{len(n.arena) - len(label), len(n.arena)})
}
