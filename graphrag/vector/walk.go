// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"cmp"
	"slices"
)

// near is a node and how alike it is to what was asked, in units of the asked code.
type near struct {
	sim float32
	id  int32
}

// compareNear orders by likeness, the most alike first, equal ones by their numbers.
func compareNear(a, b near) int {
	return cmp.Or(cmp.Compare(b.sim, a.sim), cmp.Compare(a.id, b.id))
}

// walker walks graphs. It is for one goroutine.
type walker struct {
	codes   *codes
	kernels *kernels
	query   []int8
	scale   float32 // of the query
	beam    []near  // what was found, in order
	done    []bool  // of the beam: its links were looked at
	seen    seen
	ids     []int32
	values  []*int8
	bounds  []*bound
	sims    []float32
}

// ask takes the code of a row as a query.
func (w *walker) ask(row int) {
	w.query, w.scale = w.codes.values.part(row, 1), w.codes.bounds.part(row, 1)[0].scale
}

// reset forgets rows that were gathered.
func (w *walker) reset() { w.values, w.bounds = w.values[:0], w.bounds[:0] }

// gather notes a row to be compared.
func (w *walker) gather(row int32) {
	w.values = append(w.values, &w.codes.values.part(int(row), 1)[0])
	w.bounds = append(w.bounds, &w.codes.bounds.part(int(row), 1)[0])
}

// compare leaves in sims how alike the gathered rows are to the query.
func (w *walker) compare() {
	w.sims = slices.Grow(w.sims[:0], len(w.values))[:len(w.values)]
	w.kernels.near(w.sims, w.values, w.bounds, w.query)
}

// fellows compares the rows from first to one.
func (w *walker) fellows(first, row int) {
	w.reset()
	for i := first; i < row; i++ {
		w.gather(int32(i))
	}
	w.compare()
}

// walk leaves in the beam the nodes of a layer that are most like the query, of those
// that can be reached from one over others in the beam.
func (w *walker) walk(l *layer, entry int32, beam int) {
	w.beam, w.done = w.beam[:0], w.done[:0]
	if l.n == 0 {
		return
	}
	w.seen.reset(16 * beam)
	w.seen.add(entry)
	w.ids = append(w.ids[:0], entry)
	for at := 0; ; {
		w.reset()
		for _, id := range w.ids {
			w.gather(l.row(id))
		}
		w.compare()
		for i, id := range w.ids {
			to := w.insert(near{w.sims[i], id}, beam)
			if to <= at {
				soon(w.kernels, l.of(id)) // is looked at next, perhaps
			}
			at = min(at, to)
		}
		for w.ids = w.ids[:0]; len(w.ids) == 0; {
			for at < len(w.beam) && w.done[at] {
				at++
			}
			if at == len(w.beam) {
				return
			}
			w.done[at] = true
			for _, id := range l.of(w.beam[at].id) {
				if uint32(id) >= uint32(l.n) {
					break
				}
				if w.seen.add(id) {
					w.ids = append(w.ids, id)
				}
			}
		}
	}
}

// insert puts a node into the beam and tells where it is; behind it, if it has no place.
func (w *walker) insert(s near, beam int) int {
	n := len(w.beam)
	if n == beam {
		if compareNear(s, w.beam[n-1]) > 0 {
			return n
		}
		n--
	} else {
		w.beam, w.done = append(w.beam, s), append(w.done, false)
	}
	lo, hi := 0, n
	for lo < hi {
		if mid := (lo + hi) / 2; s.sim < w.beam[mid].sim || s.sim == w.beam[mid].sim && s.id > w.beam[mid].id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	copy(w.beam[lo+1:], w.beam[lo:n])
	copy(w.done[lo+1:], w.done[lo:n])
	w.beam[lo], w.done[lo] = s, false
	return lo
}

// choose returns those of a list in order, at most so many, that are more like the query
// than like any chosen before them: so links lead into all directions (algorithm 4 of
// the paper). row tells the row of an id.
func (w *walker) choose(list []near, most int, row func(int32) int32) []near {
	query := w.query
	w.reset()
	chosen := make([]near, 0, most)
	for _, s := range list {
		if len(chosen) == most {
			break
		}
		r := row(s.id)
		w.query = w.codes.values.part(int(r), 1)
		w.compare()
		scale := w.codes.bounds.part(int(r), 1)[0].scale
		if !slices.ContainsFunc(w.sims, func(sim float32) bool { return float32(sim*scale) > float32(s.sim*w.scale) }) {
			chosen = append(chosen, s)
			w.gather(r)
		}
	}
	w.query = query
	return chosen
}

// receive links a node with those that have linked themselves with it.
func (w *walker) receive(l *layer, from []link) {
	own := l.of(from[0].to)
	used := 0
	for used < len(own) && own[used] >= 0 {
		used++
	}
	if used+len(from) <= len(own) {
		for i, f := range from {
			own[used+i] = f.from
		}
		return
	}
	w.ask(int(l.row(from[0].to)))
	w.ids = append(w.ids[:0], own[:used]...)
	for _, f := range from {
		w.ids = append(w.ids, f.from)
	}
	w.reset()
	for _, id := range w.ids {
		w.gather(l.row(id))
	}
	w.compare()
	list := w.beam[:0]
	for i, id := range w.ids {
		list = append(list, near{w.sims[i], id})
	}
	slices.SortFunc(list, compareNear)
	w.beam = list
	chosen := w.choose(list, len(own), l.row)
	for i := range own {
		if own[i] = -1; i < len(chosen) {
			own[i] = chosen[i].id
		}
	}
}

// seen is a set of nodes: a hash table with open addresses, small enough for the first
// cache where a mark for each node of a graph would not be.
type seen struct {
	table []int32 // node+1
	shift uint
	n     int
}

func (s *seen) reset(size int) {
	if len(s.table) < 2*size {
		s.sized(2 * size)
		return
	}
	clear(s.table)
	s.n = 0
}

func (s *seen) sized(size int) {
	s.shift = 32
	for 1<<(32-s.shift) < size {
		s.shift--
	}
	s.table, s.n = make([]int32, 1<<(32-s.shift)), 0
}

// add tells whether a node is new.
func (s *seen) add(id int32) bool {
	if 2*s.n >= len(s.table) {
		old := s.table
		s.sized(2 * len(old))
		for _, x := range old {
			if x != 0 {
				s.add(x - 1)
			}
		}
	}
	mask := uint32(len(s.table) - 1)
	for at := uint32(id) * 0x9e3779b1 >> s.shift; ; at = (at + 1) & mask {
		switch s.table[at] {
		case 0:
			s.table[at] = id + 1
			s.n++
			return true
		case id + 1:
			return false
		}
	}
}
