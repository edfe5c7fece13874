// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"cmp"
	"iter"
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// View is a list of vectors that are stored in an index in any order. Its results are the same, to the bit, as
// with an index of the list. It is safe for concurrent use.
type View struct {
	in      *pooled
	rows    []int32 // row in the index of each vector of the list
	numbers []int32 // number in the list of each row of the index, -1 for other rows
	sorted  bool    // rows ascend
}

// Pool makes views. A list most of whose vectors are the same slices as in an earlier list, in any order,
// shares the index of that list, as long as a view of it is in use. The zero value is an empty pool.
type Pool struct {
	mu      sync.Mutex
	indexes []weak.Pointer[pooled]
}

type pooled struct {
	*Index
	slices []*float32           // address of the vector of each row
	rows   map[*float32][]int32 // rows by address, made when it is needed
}

// View returns a view of vectors, which must not be changed afterwards.
func (p *Pool) View(opts Options, vectors [][]float32) (*View, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in, hits := p.nearest(opts, vectors)
	if in == nil || in.Len()-hits > len(vectors)/8+64 { // a few unused rows are accepted
		index, err := New(opts)
		if err != nil {
			return nil, err
		}
		in = &pooled{Index: index}
		p.indexes = append(p.indexes, weak.Make(in))
	}
	v := &View{in: in, rows: make([]int32, len(vectors)), sorted: true}
	var added [][]float32
	var places []int32 // number in the list of each added vector
	v.numbers = slices.Repeat([]int32{-1}, in.Len())
	last := int32(-1)
	for i, vector := range vectors {
		row := in.free(unsafe.SliceData(vector), v.numbers)
		if row < 0 {
			added, places = append(added, vector), append(places, int32(i))
			continue
		}
		v.numbers[row], v.rows[i] = int32(i), row
		v.sorted = v.sorted && row > last && len(added) == 0
		last = row
	}
	if err := in.Add(added...); err != nil {
		return nil, err
	}
	for i, place := range places {
		key, row := unsafe.SliceData(added[i]), int32(len(in.slices))
		if in.rows != nil {
			in.rows[key] = append(in.rows[key], row)
		}
		in.slices = append(in.slices, key)
		v.rows[place], v.numbers = row, append(v.numbers, place)
	}
	return v, nil
}

// nearest returns the index that contains most of the vectors, and their number.
func (p *Pool) nearest(opts Options, vectors [][]float32) (best *pooled, most int) {
	p.indexes = slices.DeleteFunc(p.indexes, func(w weak.Pointer[pooled]) bool { return w.Value() == nil })
	for _, w := range p.indexes {
		in := w.Value()
		if in == nil || in.opts.Dim != opts.Dim || in.opts.Cosine != opts.Cosine {
			continue
		}
		if in.rows == nil {
			in.rows = make(map[*float32][]int32, len(in.slices))
			for row, key := range in.slices {
				in.rows[key] = append(in.rows[key], int32(row))
			}
		}
		hits := 0
		for _, vector := range vectors {
			if in.rows[unsafe.SliceData(vector)] != nil {
				hits++
			}
		}
		if hits > most {
			best, most = in, hits
		}
	}
	return best, most
}

// free returns a row with the vector at an address that is not in the list yet, -1 if there is none.
func (in *pooled) free(key *float32, numbers []int32) int32 {
	for _, row := range in.rows[key] {
		if numbers[row] < 0 {
			return row
		}
	}
	return -1
}

// Len returns the number of vectors.
func (v *View) Len() int { return len(v.rows) }

// Join returns a view of vectors of other views, each given by its number there; nil if there are none.
func Join(of iter.Seq2[*View, int32]) (*View, error) {
	var v *View
	for from, i := range of {
		if v == nil {
			index, err := New(from.in.opts)
			if err != nil {
				return nil, err
			}
			v = &View{in: &pooled{Index: index}, sorted: true}
		}
		if err := v.in.AddFrom(from.in.Index, from.rows[i]); err != nil {
			return nil, err
		}
		row := int32(len(v.rows))
		v.rows, v.numbers = append(v.rows, row), append(v.numbers, row)
	}
	return v, nil
}

// Mapped writes the vectors into a folder, in the order of the list, and returns a view that reads them there.
func (v *View) Mapped(dir string) (*View, error) {
	w, err := Create(dir, v.in.opts)
	for i := 0; err == nil && i < len(v.rows); i++ {
		err = w.AddRow(v.in.row(int(v.rows[i])))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	in, err := Open(dir, Options{Workers: v.in.opts.Workers})
	if err != nil {
		return nil, err
	}
	out := &View{in: &pooled{Index: in}, rows: make([]int32, len(v.rows)), sorted: true}
	for i := range out.rows {
		out.rows[i] = int32(i)
	}
	out.numbers = out.rows
	return out, nil
}

// Close releases a view of a folder. For a view in memory it does nothing.
func (v *View) Close() error { return v.in.Close() }

// number returns the number in the list of a row, -1 if the row is not in it.
func (v *View) number(row int32) int32 {
	if int(row) >= len(v.numbers) {
		return -1
	}
	return v.numbers[row]
}

// Search returns the k vectors of the list with the largest scores (see [Index.Search]).
func (v *View) Search(query []float32, k int) ([]rank.Scored[int32], error) {
	keep := func(row int32) bool { return v.number(row) >= 0 }
	k = min(k, len(v.rows))
	more := 0
	if !v.sorted {
		more = 1 // one more shows whether rows are tied with the last one
	}
	for {
		found, err := v.in.SearchWith(query, Params{K: k + more, Keep: keep}, nil)
		if err != nil {
			return nil, err
		}
		if !v.sorted && k > 0 && len(found) == k+more && found[k-1].Score == found[k+more-1].Score && k+more < len(v.rows) {
			more = min(2*(k+more), len(v.rows)) - k
			continue
		}
		for i := range found {
			found[i].ID = v.numbers[found[i].ID]
		}
		slices.SortFunc(found, func(a, b rank.Scored[int32]) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
		})
		return found[:min(k, len(found))], nil
	}
}

// Scores returns the scores of all vectors of the list (see [Index.Scores]). It overwrites dst.
func (v *View) Scores(query []float32, dst []float64) ([]float64, error) {
	scores, err := v.in.Scores(query, nil)
	if err != nil {
		return dst, err
	}
	dst = slices.Grow(dst[:0], len(v.rows))[:len(v.rows)]
	for row, number := range v.numbers {
		if number >= 0 {
			dst[number] = scores[row]
		}
	}
	return dst, nil
}
