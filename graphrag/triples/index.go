// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Index finds triples by their words, and by the entities they share. A triple is
// known by its number, in the order it was read in. An index is in memory ([New]), or
// in a folder that is mapped there ([Open]) and may be larger than memory. It is safe
// for concurrent use.
type Index struct {
	edges           []edge
	entities, kinds names   // and literals; kinds are relations
	starts          []int64 // adjacency[starts[e]:starts[e+1]] are the triples of entity e
	adjacency       []int32
	meta            folderMeta
	words           *bm25.Index
	folder          *flat.Folder // where the slices lie, if not in memory
}

// edge is a triple by the numbers of its parts; a tail that is a value has ^number.
type edge struct{ head, relation, tail int32 }

// Len is the number of triples.
func (ix *Index) Len() int { return len(ix.edges) }

// Entities is the number of entities and values.
func (ix *Index) Entities() int { return ix.entities.len() }

// Triple returns a triple.
func (ix *Index) Triple(i int32) Triple {
	e := ix.edges[i]
	tail, literal := e.tail, false
	if tail < 0 {
		tail, literal = ^tail, true
	}
	return Triple{ix.entities.at(e.head), ix.kinds.at(e.relation), ix.entities.at(tail), literal}
}

// Search returns the k triples with the best BM25 score for a query, best first,
// equal ones by number, over dst.
func (ix *Index) Search(query string, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	return ix.words.Search(query, k, dst)
}

// SearchWith is [Index.Search] among the triples that keep wants, as
// [bm25.Index.SearchWith] is.
func (ix *Index) SearchWith(query string, k int, keep func(triple int32) bool, dst []rank.Scored[int32]) []rank.Scored[int32] {
	return ix.words.SearchWith(query, k, keep, dst)
}

// Whole is what [bm25.Index.Whole] is: what scores of a query are measured against.
func (ix *Index) Whole(query string) float64 { return ix.words.Whole(query) }

// Neighbors appends to dst triples that share an entity with one, at most limit, each
// once and never itself: first those of the entity that has fewer of them, which says
// more, and of an entity in the order of their numbers. A hub costs no more than the
// limit. Values join nothing.
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

// of appends the triples of an entity but one, and those that hold another entity,
// up to a length of dst.
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

// The kind and version of folders.
const (
	folderKind    = "triples"
	folderVersion = 3
)

// folderMeta is what a folder says beside its arrays.
type folderMeta struct {
	// Known is how many entities there are, which have the first numbers in the order of
	// their ids. The others are values.
	Known int `json:"entities"`
}

// wordsFolder is where the index of words is in the folder.
const wordsFolder = "words"

// ErrFolder is wrapped by the errors of [Open] about folders that are not an index,
// not whole, damaged or of another version.
var ErrFolder = flat.ErrFormat

// Open opens an index that [Build] wrote. The analyzer must be that of the index; nil
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
		return fmt.Errorf("%w: its arrays do not fit each other; build it again", ErrFolder)
	}
	return nil
}

func view[T any](f *flat.Folder, name string, to *[]T) (err error) {
	*to, err = flat.View[T](f, name)
	return err
}

// Verify reads every byte of an index in a folder and compares checksums.
func (ix *Index) Verify(ctx context.Context) error {
	if ix.folder == nil {
		return nil
	}
	return errors.Join(ix.folder.Verify(ctx), ix.words.Verify(ctx))
}

// Close ends the use of an index in a folder. One in memory needs none.
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
