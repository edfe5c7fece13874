// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// The kind and version of folders.
const (
	folderKind    = "vectors"
	folderVersion = 2
)

// beyond are the rows of zeros after the last one: a scan may begin anywhere and reads
// whole groups.
const beyond = rowGroup - 1

type folderMeta struct {
	Dim     int     `json:"dim"`
	Rows    int     `json:"rows"`
	Cosine  bool    `json:"cosine"`
	Codes   bool    `json:"codes"`
	Longest float64 `json:"longest"`      // norm of a row
	Rest    float64 `json:"longest_rest"` // of a code
	Lists   int     `json:"lists"`
}

// Writer writes an index to a folder, row by row, so that it need not fit into
// memory. It is not safe for concurrent use.
type Writer struct {
	x       *Index // without rows
	meta    folderMeta
	w       *flat.Writer
	rows    flat.Array[float32]
	values  flat.Array[int8] // in the order of adding until invert sorts them
	bounds  flat.Array[bound]
	centers flat.Array[float32] // of lists
	starts  flat.Array[int32]
	ids     flat.Array[int32]
	row     []float32 // padded
	code    []int8
}

// Create begins an index in a folder, which must not hold one. Codes are written if
// the options ask for them, lists as well.
func Create(dir string, o Options) (*Writer, error) {
	x, err := New(o)
	if err != nil {
		return nil, err
	}
	w := &Writer{x: x, meta: folderMeta{Dim: o.Dim, Cosine: o.Cosine, Codes: o.Quantized}, row: make([]float32, x.stride), code: make([]int8, x.stride)}
	if w.w, err = flat.Create(dir, folderKind, folderVersion); err != nil {
		return nil, fmt.Errorf("vector: create: %w", err)
	}
	order := ""
	if o.Lists > 0 {
		order = ".added" // see sortCodes
	}
	var errs [6]error
	w.rows, errs[0] = flat.NewArray[float32](w.w, "rows")
	w.values, errs[1] = flat.NewArray[int8](w.w, "codes"+order)
	w.bounds, errs[2] = flat.NewArray[bound](w.w, "bounds"+order)
	w.centers, errs[3] = flat.NewArray[float32](w.w, "centers")
	w.starts, errs[4] = flat.NewArray[int32](w.w, "starts")
	w.ids, errs[5] = flat.NewArray[int32](w.w, "ids")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(fmt.Errorf("vector: create: %w", err), w.w.Abort())
	}
	return w, nil
}

// Add writes vectors; their ids are the next numbers, from 0. If one is unusable
// none is written, and the error wraps [ErrVector].
func (w *Writer) Add(vectors ...[]float32) error {
	norms := make([]float64, len(vectors))
	for i, v := range vectors {
		var err error
		if norms[i], err = w.x.check(v); err != nil {
			return fmt.Errorf("vector: add: row %d: %w", i, err)
		}
	}
	if len(vectors) > math.MaxInt32-w.meta.Rows {
		return fmt.Errorf("vector: add: %d rows beside %d, an index holds at most %d: use several", len(vectors), w.meta.Rows, math.MaxInt32)
	}
	for i, v := range vectors {
		copy(w.row, v)
		if w.meta.Cosine {
			scale(w.row, norms[i])
		}
		w.put()
		w.meta.Rows++
	}
	return w.w.Err()
}

// put writes the row that is held.
func (w *Writer) put() {
	w.rows.Append(w.row...)
	w.meta.Longest = max(w.meta.Longest, norm(w.row))
	if w.meta.Codes {
		b := codeRow(w.code, w.row)
		w.values.Append(w.code...)
		w.bounds.Append(b)
		w.meta.Rest = max(w.meta.Rest, float64(b.rest))
	}
}

// Close makes the index durable and the folder whole. With lists it sorts the rows
// into them first, which takes minutes for millions; ctx ends that. After an error the
// folder is not whole.
func (w *Writer) Close(ctx context.Context) error {
	if w.x.opts.Lists > 0 {
		if err := w.invert(ctx); err != nil {
			return errors.Join(fmt.Errorf("vector: close: %w", err), w.w.Abort())
		}
	}
	clear(w.row)
	for range beyond {
		w.put()
	}
	if err := w.w.Close(w.meta); err != nil {
		return fmt.Errorf("vector: close: %w", err)
	}
	return nil
}

// Abort gives the writing up.
func (w *Writer) Abort() error { return w.w.Abort() }

// ErrFolder is wrapped by the errors of [Open] about folders that are not an index,
// not whole, damaged or of another version.
var ErrFolder = flat.ErrFormat

// Open opens an index that a [Writer] wrote, where it lies: mapped into memory, so
// that it takes as much of it as is read. With codes, a search reads the codes of all
// rows, or of those in the lists it reads, and a few rows. Nothing can be added. Workers is that of opts, whose other
// fields are ignored.
func Open(dir string, opts Options) (*Index, error) {
	var meta folderMeta
	folder, err := flat.Open(dir, folderKind, folderVersion, &meta)
	if err != nil {
		return nil, fmt.Errorf("vector: open: %w", err)
	}
	x, err := New(Options{Dim: meta.Dim, Cosine: meta.Cosine, Quantized: meta.Codes, Workers: opts.Workers})
	if err == nil {
		err = x.lie(folder, meta)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vector: open: %w", err), folder.Close())
	}
	return x, nil
}

// lie takes the rows of a folder as they lie.
func (x *Index) lie(folder *flat.Folder, meta folderMeta) error {
	rows, errRows := flat.View[float32](folder, "rows")
	values, errValues := flat.View[int8](folder, "codes")
	bounds, errBounds := flat.View[bound](folder, "bounds")
	if err := errors.Join(errRows, errValues, errBounds); err != nil {
		return err
	}
	height := meta.Rows + beyond
	coded := 0
	if meta.Codes {
		coded = height
	}
	if meta.Rows < 0 || len(rows) != height*x.stride || len(values) != coded*x.stride || len(bounds) != coded {
		return fmt.Errorf("%w: its arrays do not fit each other; build it again", ErrFolder)
	}
	x.folder, x.n, x.longest, x.codes.longest = folder, meta.Rows, meta.Longest, meta.Rest
	x.rows.lie(rows)
	x.codes.values.lie(values)
	x.codes.bounds.lie(bounds)
	if meta.Lists <= 0 {
		return nil
	}
	return x.lieLists(folder, meta)
}

// lieLists takes the lists of a folder as they lie, and copies the centers.
func (x *Index) lieLists(folder *flat.Folder, meta folderMeta) error {
	center, err := New(Options{Dim: meta.Dim, Quantized: true, Workers: 1})
	if err != nil {
		return err
	}
	centers, errCenters := flat.View[float32](folder, "centers")
	starts, errStarts := flat.View[int32](folder, "starts")
	ids, errIDs := flat.View[int32](folder, "ids")
	if err := errors.Join(errCenters, errStarts, errIDs); err != nil {
		return err
	}
	if len(ids) != meta.Rows || len(starts) != meta.Lists+1 || len(centers) != meta.Lists*meta.Dim ||
		!slices.IsSorted(starts) || starts[0] != 0 || int(starts[meta.Lists]) != meta.Rows {
		return fmt.Errorf("%w: its lists do not fit its rows; build it again", ErrFolder)
	}
	for _, id := range ids {
		if id < 0 || int(id) >= meta.Rows {
			return fmt.Errorf("%w: its lists hold row %d of %d; build it again", ErrFolder, id, meta.Rows)
		}
	}
	x.lists = &lists{center, starts, ids}
	if err := center.Add(slices.Collect(slices.Chunk(centers, meta.Dim))...); err != nil {
		return fmt.Errorf("%w: center: %w", ErrFolder, err)
	}
	return nil
}

// Verify reads every byte of an index in a folder and compares checksums. Of an
// index in memory it says nothing.
func (x *Index) Verify(ctx context.Context) error {
	if x.folder == nil {
		return nil
	}
	return x.folder.Verify(ctx)
}

// Close ends the use of an index in a folder. One in memory needs none.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.folder == nil {
		return nil
	}
	x.n = 0
	return x.folder.Close()
}
