// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// The kind and version of folders.
const (
	folderKind    = "vectors"
	folderVersion = 5
)

// beyond are the rows of zeros after the last one: a scan may begin anywhere and reads whole groups.
const beyond = rowGroup - 1

type folderMeta struct {
	Dim     int     `json:"dim"`
	Rows    int     `json:"rows"`
	Cosine  bool    `json:"cosine"`
	Longest float64 `json:"longest"`      // norm of a row
	Rest    float64 `json:"longest_rest"` // of a code
	Signs   bool    `json:"signs"`
}

// Writer writes an index to a folder, row by row, so that it need not fit into
// memory. It is not safe for concurrent use.
type Writer struct {
	x      *Index // without rows
	meta   folderMeta
	w      *flat.Writer
	rows   flat.Array[float32]
	values flat.Array[int8]
	bounds flat.Array[bound]
	bits   flat.Array[uint64]
	units  flat.Array[float32]
	row    []float32 // padded
	code   []int8
	signs  *signs // of the last rows, up to signGroup
}

// Create begins an index in a folder, which must not hold one. Signs are written if the options ask for them.
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
		w.next()
	}
	return w.w.Err()
}

// AddRow appends a row of an index with the same options as it is: scaled again, its last bit could be another.
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

// put writes the current row.
func (w *Writer) put() {
	w.rows.Append(w.row...)
	w.meta.Longest = max(w.meta.Longest, norm(w.row))
	b := codeRow(w.code, w.row)
	w.values.Append(w.code...)
	w.bounds.Append(b)
	w.meta.Rest = max(w.meta.Rest, float64(b.rest))
}

// putSigns adds the signs of the current row to its group, and writes the group once it is full.
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

// Close makes the index durable and the folder whole. After an error it is not whole.
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

// Abort ends the writing and removes what was written.
func (w *Writer) Abort() error { return w.w.Abort() }

// ErrFolder is wrapped by the errors of [Open] about folders that are not an index,
// not whole, damaged or of another version.
var ErrFolder = flat.ErrFormat

// Open maps an index that a [Writer] wrote into memory: only what is read takes memory. A search reads the
// codes of all rows, or the signs of all rows and the codes of a share, and a few rows. Nothing can be
// added. It uses the Workers of opts and ignores the other fields.
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

// lie uses the arrays of a folder as the arrays of the index, without a copy.
func (x *Index) lie(folder *flat.Folder, meta folderMeta) error {
	rows, rowSums, errRows := flat.Lazy[float32](folder, "rows")
	values, valueSums, errValues := flat.Lazy[int8](folder, "codes")
	bounds, errBounds := flat.View[bound](folder, "bounds")
	if err := errors.Join(errRows, errValues, errBounds); err != nil {
		return err
	}
	height := meta.Rows + beyond
	if meta.Rows < 0 || len(rows) != height*x.stride || len(values) != height*x.stride || len(bounds) != height {
		return fmt.Errorf("%w: its arrays do not fit each other; build it again", ErrFolder)
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
		return fmt.Errorf("%w: its signs do not fit its rows; build it again", ErrFolder)
	}
	x.signs = loaded
	return nil
}

// Err is the damage that was found in the folder of an index so far, nil in memory. What was read of
// damaged rows is wrong.
func (x *Index) Err() error {
	if x.folder == nil {
		return nil
	}
	return x.folder.Err()
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
