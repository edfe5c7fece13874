// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// The kind and format version of index folders.
const (
	folderKind    = "vectors"
	folderVersion = 5
)

// beyond is the number of rows of zeros after the last one: a scan may begin anywhere and reads whole groups.
const beyond = rowGroup - 1

type folderMeta struct {
	Dim     int     `json:"dim"`
	Rows    int     `json:"rows"`
	Cosine  bool    `json:"cosine"`
	Longest float64 `json:"longest"`      // length of the longest row
	Rest    float64 `json:"longest_rest"` // largest difference between a row and its code
	Signs   bool    `json:"signs"`
}

// Writer writes an index to a folder, row by row, so that it need not fit into
// memory. It is not safe for concurrent use.
type Writer struct {
	x      *Index // holds options, no rows
	meta   folderMeta
	w      *flat.Writer
	rows   flat.Array[float32]
	values flat.Array[int8]
	bounds flat.Array[bound]
	bits   flat.Array[uint64]
	units  flat.Array[float32]
	row    []float32 // current row, padded
	code   []int8
	signs  *signs // signs of the rows of an incomplete group
}

// Create begins an index in a folder, which must not hold one. It stores signs if [Options].Signs is set.
func Create(dir string, o Options) (*Writer, error) {
	x, err := New(o)
	if err != nil {
		return nil, err
	}
	w := &Writer{x: x, meta: folderMeta{Dim: o.Dim, Cosine: o.Cosine, Signs: o.Signs}, row: make([]float32, x.stride), code: make([]int8, x.stride)}
	if o.Signs {
		w.signs = &signs{turn: newRotation(o.Dim)}
	}
	if w.w, err = flat.Create(dir, folderKind, folderVersion); err != nil {
		return nil, fmt.Errorf("vector: create: %w", err)
	}
	var errs [5]error
	w.rows, errs[0] = flat.NewArray[float32](w.w, "rows")
	w.values, errs[1] = flat.NewArray[int8](w.w, "codes")
	w.bounds, errs[2] = flat.NewArray[bound](w.w, "bounds")
	w.bits, errs[3] = flat.NewArray[uint64](w.w, "signs")
	w.units, errs[4] = flat.NewArray[float32](w.w, "units")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(fmt.Errorf("vector: create: %w", err), w.w.Abort())
	}
	return w, nil
}

// Add writes vectors; their ids are consecutive numbers from 0. If one is unusable, none is written, and the
// error wraps [ErrVector].
func (w *Writer) Add(vectors ...[]float32) error {
	norms := make([]float64, len(vectors))
	for i, v := range vectors {
		var err error
		if norms[i], err = w.x.check(v); err != nil {
			return fmt.Errorf("vector: add: row %d: %w", i, err)
		}
	}
	if len(vectors) > math.MaxInt32-w.meta.Rows {
		return fmt.Errorf("vector: add %d rows to %d: an index holds at most %d: use several indexes", len(vectors), w.meta.Rows, math.MaxInt32)
	}
	for i, v := range vectors {
		copy(w.row, v)
		if w.meta.Cosine {
			scale(w.row, norms[i])
		}
		w.next()
	}
	return w.w.Err()
}

// AddRow appends a stored row of an index with the same options. Scaling it again could change its last bit.
func (w *Writer) AddRow(v []float32) error {
	copy(w.row, v)
	w.next()
	return w.w.Err()
}

func (w *Writer) next() {
	w.put()
	w.putSigns()
	w.meta.Rows++
}

func (w *Writer) put() {
	w.rows.Append(w.row...)
	w.meta.Longest = max(w.meta.Longest, norm(w.row))
	b := codeRow(w.code, w.row)
	w.values.Append(w.code...)
	w.bounds.Append(b)
	w.meta.Rest = max(w.meta.Rest, float64(b.rest))
}

// putSigns adds the signs of the current row to its group, and writes the group when it is complete.
func (w *Writer) putSigns() {
	if w.signs == nil {
		return
	}
	s := w.signs
	s.add(w.row)
	if len(s.units) == signGroup {
		w.bits.Append(s.bits...)
		w.units.Append(s.units...)
		s.bits, s.units = s.bits[:0], s.units[:0]
	}
}

// Close writes the index durably and completes the folder. After an error the folder is incomplete.
func (w *Writer) Close() error {
	clear(w.row)
	for range beyond {
		w.put()
	}
	for w.signs != nil && len(w.signs.units) > 0 {
		w.putSigns()
	}
	if err := w.w.Close(w.meta); err != nil {
		return fmt.Errorf("vector: close: %w", err)
	}
	return nil
}

// Abort stops writing, and removes the incomplete index.
func (w *Writer) Abort() error { return w.w.Abort() }

// ErrFolder is wrapped by errors of [Open] about folders that hold no index, an incomplete or damaged one, or
// one of another version.
var ErrFolder = flat.ErrFormat

// Open maps an index that a [Writer] wrote into memory: only the parts that are read take memory. A search
// reads the codes of all rows, or the signs of all rows and the codes of a share, and a few rows. No vector can
// be added. Of opts only Workers is used.
func Open(dir string, opts Options) (*Index, error) {
	var meta folderMeta
	folder, err := flat.Open(dir, folderKind, folderVersion, &meta)
	if err != nil {
		return nil, fmt.Errorf("vector: open: %w", err)
	}
	x, err := New(Options{Dim: meta.Dim, Cosine: meta.Cosine, Workers: opts.Workers})
	if err == nil {
		err = x.lie(folder, meta)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vector: open: %w", err), folder.Close())
	}
	return x, nil
}

// lie uses the arrays in a folder as arrays of the index, without copying them.
func (x *Index) lie(folder *flat.Folder, meta folderMeta) error {
	rows, rowSums, errRows := flat.Lazy[float32](folder, "rows")
	values, valueSums, errValues := flat.Lazy[int8](folder, "codes")
	bounds, errBounds := flat.View[bound](folder, "bounds")
	if err := errors.Join(errRows, errValues, errBounds); err != nil {
		return err
	}
	height := meta.Rows + beyond
	if meta.Rows < 0 || len(rows) != height*x.stride || len(values) != height*x.stride || len(bounds) != height {
		return fmt.Errorf("%w: the lengths of its arrays do not agree: build it again", ErrFolder)
	}
	x.folder, x.n, x.longest, x.codes.longest = folder, meta.Rows, meta.Longest, meta.Rest
	x.rows.lie(rows, rowSums)
	x.codes.values.lie(values, valueSums)
	x.codes.bounds.lie(bounds, nil)
	if !meta.Signs {
		return nil
	}
	loaded := &signs{turn: newRotation(meta.Dim)}
	loaded.bits, errRows = flat.View[uint64](folder, "signs")
	loaded.units, errValues = flat.View[float32](folder, "units")
	if err := errors.Join(errRows, errValues); err != nil {
		return err
	}
	if height = roundUp(meta.Rows, signGroup); len(loaded.units) != height || len(loaded.bits) != height*loaded.turn.words() {
		return fmt.Errorf("%w: it has signs of another number of rows: build it again", ErrFolder)
	}
	x.signs = loaded
	return nil
}

// Err returns the damage that reads have found in the folder of an index so far; nil for an index in memory.
// Results that depend on damaged rows are wrong.
func (x *Index) Err() error {
	if x.folder == nil {
		return nil
	}
	return x.folder.Err()
}

// Close releases an index in a folder. For an index in memory it does nothing.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.folder == nil {
		return nil
	}
	x.n = 0
	return x.folder.Close()
}
