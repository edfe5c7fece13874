// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The kind and version of folders.
const (
	folderKind    = "bm25"
	folderVersion = 1
)

// folderMeta is what a folder says beside its arrays.
type folderMeta struct {
	K1          float64 `json:"k1"`
	B           float64 `json:"b"`
	TitleWeight int     `json:"title_weight"`
	Analyzer    string  `json:"analyzer"`
	// Large are the frequencies that do not fit their byte: term, document,
	// frequency.
	Large [][3]uint32 `json:"large"`
}

// Open opens an index that [Merge] wrote, where it lies: its arrays are mapped into
// memory and read as they are needed. The analyzer must be that of the index; nil
// means [text.Default]. A folder that is not an index, not whole or of another
// version gives an error that wraps [ErrFolder].
func Open(dir string, a text.Analyzer) (*Index, error) {
	var meta folderMeta
	folder, err := flat.Open(dir, folderKind, folderVersion, &meta)
	if err != nil {
		return nil, fmt.Errorf("bm25: open index: %w", err)
	}
	ix, err := open(folder, meta, a)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bm25: open index: %s: %w", dir, err), folder.Close())
	}
	return ix, nil
}

// ErrFolder is wrapped by the errors of [Open] about folders.
var ErrFolder = flat.ErrFormat

func open(folder *flat.Folder, meta folderMeta, a text.Analyzer) (*Index, error) {
	o, err := Options{K1: meta.K1, B: meta.B, TitleWeight: meta.TitleWeight, Analyzer: a}.resolve()
	if err != nil {
		return nil, err
	}
	if name := o.Analyzer.Name(); name != meta.Analyzer {
		return nil, fmt.Errorf("its analyzer is %q, this one %q: open it with the other, or build it again", meta.Analyzer, name)
	}
	var errs []error
	lengths := view[uint32](folder, "lengths", &errs)
	arena, ends := view[byte](folder, "terms", &errs), view[int](folder, "ends", &errs)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	ix := newIndex(o, text.SortedVocabulary(arena, ends), lengths)
	ix.folder = folder
	ix.entries, ix.blocks = view[entry](folder, "entries", &errs), view[block](folder, "blocks", &errs)
	ix.docs, ix.tfs = view[uint16](folder, "docs", &errs), view[uint8](folder, "tfs", &errs)
	ix.columns, ix.maxima = view[uint8](folder, "columns", &errs), view[float32](folder, "maxima", &errs)
	for _, l := range meta.Large {
		ix.large[key(int(l[0]), l[1])] = l[2]
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	err = ix.fits()
	folder.Scattered() // after what is read whole
	return ix, err
}

func view[T any](f *flat.Folder, name string, errs *[]error) []T {
	v, err := flat.View[T](f, name)
	if err != nil {
		*errs = append(*errs, err)
	}
	return v
}

// fits looks at whether the arrays have the lengths that they give each other.
func (ix *Index) fits() error {
	columns := uint64(0)
	for _, e := range ix.entries {
		if e.blocks == 0 {
			columns = max(columns, uint64(e.first)+1)
		}
	}
	if len(ix.entries) != ix.terms.Len() || len(ix.blocks) == 0 || ix.blocks[len(ix.blocks)-1].start != uint64(len(ix.docs)) ||
		len(ix.docs) != len(ix.tfs) || uint64(len(ix.columns)) != columns*uint64(len(ix.lengths)) || uint64(len(ix.maxima)) != columns*uint64(ix.windows()) {
		return fmt.Errorf("%w: its arrays do not fit each other; build it again", ErrFolder)
	}
	return nil
}

// Verify reads every byte of an index in a folder and compares checksums. Of an
// index in memory it says nothing.
func (ix *Index) Verify(ctx context.Context) error {
	if ix.folder == nil {
		return nil
	}
	return ix.folder.Verify(ctx)
}

// Close ends the use of an index in a folder. One in memory needs none.
func (ix *Index) Close() error {
	if ix.folder == nil {
		return nil
	}
	return ix.folder.Close()
}
