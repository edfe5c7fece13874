// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// The kind and version of folders.
const (
	folderKind    = "vectors"
	folderVersion = 4
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
	Signs   bool    `json:"signs"`
	Graph   bool    `json:"graph,omitempty"`
	Layers  []int   `json:"graph_layers,omitempty"` // sizes of those above the lowest
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
	turned []float32
	graph  graphArrays // of x, which then has the codes of all rows in memory
}

// Create begins an index in a folder, which must not hold one. Codes are written if
// the options ask for them, signs and a graph as well. While it is written, a graph takes
// memory for links and codes: 128 bytes a row and one a component.
func Create(dir string, o Options) (*Writer, error) {
	x, err := New(o)
	if err != nil {
		return nil, err
	}
	w := &Writer{x: x, meta: folderMeta{Dim: o.Dim, Cosine: o.Cosine, Codes: o.Quantized, Signs: o.Signs, Graph: o.Graph}, row: make([]float32, x.stride), code: make([]int8, x.stride)}
	if o.Signs {
		turn := newRotation(o.Dim)
		w.signs, w.turned = &signs{turn: turn, bits: make([]uint64, signGroup*turn.words())}, make([]float32, turn.width)
	}
	if w.w, err = flat.Create(dir, folderKind, folderVersion); err != nil {
		return nil, fmt.Errorf("vector: create: %w", err)
	}
	var errs [6]error
	w.rows, errs[0] = flat.NewArray[float32](w.w, "rows")
	w.values, errs[1] = flat.NewArray[int8](w.w, "codes")
	w.bounds, errs[2] = flat.NewArray[bound](w.w, "bounds")
	w.bits, errs[3] = flat.NewArray[uint64](w.w, "signs")
	w.units, errs[4] = flat.NewArray[float32](w.w, "units")
	if o.Graph {
		w.graph, errs[5] = newGraphArrays(w.w)
	}
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
		w.putSigns()
		w.meta.Rows++
		w.putGraph()
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

// putSigns writes the signs of the row that is held, with those of its group once it is
// full.
func (w *Writer) putSigns() {
	if w.signs == nil {
		return
	}
	s := w.signs
	s.units = append(s.units, s.turn.signRow(s.bits, len(s.units), w.row, w.turned))
	if len(s.units) == signGroup {
		w.bits.Append(s.bits...)
		w.units.Append(s.units...)
		s.units = s.units[:0]
	}
}

// putGraph links the row that is held, once its round is full.
func (w *Writer) putGraph() {
	if x := w.x; x.graph != nil {
		x.n = w.meta.Rows
		x.codes.values.grow(x.n)
		x.codes.bounds.grow(x.n)
		x.codes.set(x.n-1, w.row)
		x.graph.grow(&x.codes, &x.kernels, x.n, x.opts.Workers, false)
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
	if g := w.x.graph; g != nil {
		g.grow(&w.x.codes, &w.x.kernels, w.meta.Rows, w.x.opts.Workers, true)
		w.meta.Layers = w.graph.put(g)
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
// rows, or the signs of all and the codes of a share, and a few rows. Nothing can be added. Workers is that of opts, whose other
// fields are ignored.
func Open(dir string, opts Options) (*Index, error) {
	var meta folderMeta
	folder, err := flat.Open(dir, folderKind, folderVersion, &meta)
	if err != nil {
		return nil, fmt.Errorf("vector: open: %w", err)
	}
	x, err := New(Options{Dim: meta.Dim, Cosine: meta.Cosine, Quantized: meta.Codes, Graph: meta.Graph, Workers: opts.Workers})
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
	if meta.Graph {
		var err error
		if x.graph, err = graphIn(folder, meta.Rows, meta.Layers); err != nil {
			return err
		}
	}
	if !meta.Signs {
		return nil
	}
	signs := &signs{turn: newRotation(meta.Dim)}
	signs.bits, errRows = flat.View[uint64](folder, "signs")
	signs.units, errValues = flat.View[float32](folder, "units")
	if err := errors.Join(errRows, errValues); err != nil {
		return err
	}
	if height = roundUp(meta.Rows, signGroup); len(signs.units) != height || len(signs.bits) != height*signs.turn.words() {
		return fmt.Errorf("%w: its signs do not fit its rows; build it again", ErrFolder)
	}
	flat.Soon(signs.bits) // the first search reads them all
	x.signs = signs
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
