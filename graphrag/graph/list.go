// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// lister fills rows from a list of edges. Instead of writing each arc to its row, anywhere
// in memory, it writes to groups of neighbouring rows, which are few enough to
// be written to side by side, and then sorts the arcs of each group in the cache.
type lister[W float32 | float64] struct {
	*builder[W]
	edges  []Edge
	shift  int       // a group has 1<<shift rows
	starts []int64   // of the groups' arcs
	rows   []uint16  // of the arcs in their group
	parts  int       // of the list
	next   [][]int64 // for each part of the list, where its arcs of each group go
	ends   par.Chain
}

const (
	groupArcs = 1 << 14 // of an average group: with what sorting needs they fit the second cache
	mostRows  = 1 << 16 // of a group
	partEdges = 1 << 16 // of a part, at least
)

func (b *builder[W]) fill(edges []Edge) error {
	l := &lister[W]{builder: b, edges: edges}
	for rows := b.n; l.shift < 16 && rows>>l.shift > 2*len(l.edges)/groupArcs; l.shift++ {
	}
	l.parts = min(par.Workers(0), 1+len(l.edges)/partEdges)
	ctx := context.Background()
	groups := (b.n + 1<<l.shift - 1) >> l.shift
	l.next = make([][]int64, l.parts)
	err := par.Each(ctx, l.parts, l.parts, func(part int) error {
		l.next[part] = make([]int64, groups)
		return l.count(part)
	})
	if err != nil {
		return err
	}
	if err := l.begin(groups); err != nil {
		return err
	}
	_ = par.Each(ctx, l.parts, l.parts, func(part int) error { l.place(part); return nil })
	sorters := make([]groupSorter[W], l.parts)
	err = par.Ranges(ctx, groups, 1, l.parts, func(worker, group, _ int) error {
		return l.sort(&sorters[worker], group)
	})
	if err != nil {
		return err
	}
	ends := l.ends.Sum()
	b.targets = shrink(b.targets, ends)
	b.weights = shrink(b.weights, ends)
	return nil
}

func (l *lister[W]) part(part int) (lo, hi int) {
	return part * len(l.edges) / l.parts, (part + 1) * len(l.edges) / l.parts
}

// count checks the edges of a part and counts their arcs by group.
func (l *lister[W]) count(part int) error {
	lo, hi := l.part(part)
	counts, shift := l.next[part], l.shift
	for i, e := range l.edges[lo:hi] {
		if err := l.check(e); err != nil {
			return fmt.Errorf("graph: edge %d: %w", lo+i, err)
		}
		counts[e.From>>shift]++
		if e.From != e.To {
			counts[e.To>>shift]++
		}
	}
	return nil
}

// begin makes places of the counts, and room for the arcs.
func (l *lister[W]) begin(groups int) error {
	sum := int64(0)
	l.starts = make([]int64, groups+1)
	for group := range groups {
		for _, next := range l.next {
			next[group], sum = sum, sum+next[group]
		}
		l.starts[group+1] = sum
	}
	if err := l.reserve(sum); err != nil {
		return err
	}
	l.rows = make([]uint16, sum)
	return nil
}

// place writes the arcs of a part to their groups, in the order of the list.
func (l *lister[W]) place(part int) {
	lo, hi := l.part(part)
	next, shift, mask := l.next[part], l.shift, int32(1)<<l.shift-1
	targets, rows, weights := l.targets, l.rows, l.weights
	for _, e := range l.edges[lo:hi] {
		at := next[e.From>>shift]
		next[e.From>>shift] = at + 1
		targets[at], rows[at] = e.To, uint16(e.From&mask)
		if weights != nil {
			weights[at] = W(e.Weight)
		}
		if e.From == e.To {
			continue
		}
		at = next[e.To>>shift]
		next[e.To>>shift] = at + 1
		targets[at], rows[at] = e.From, uint16(e.To&mask)
		if weights != nil {
			weights[at] = W(e.Weight)
		}
	}
}

// groupSorter is what one goroutine sorts groups with.
type groupSorter[W float32 | float64] struct {
	sorter[W]
	targets []int32
	weights []W
}

// sort sorts the arcs of a group by row and target, adds up parallel edges, and moves the
// rows behind those of the groups before.
func (l *lister[W]) sort(s *groupSorter[W], group int) error {
	first := group << l.shift
	last := min(first+1<<l.shift, l.n)
	ends := l.offsets[first+1 : last+1]
	s.arrange(l, group, ends)
	size, err := l.mergeRows(&s.sorter, first, ends, s.targets, s.weights)
	start := l.ends.Add(group, size)
	if err != nil {
		return err
	}
	for i := range ends {
		ends[i] += start
	}
	copy(l.targets[start:], s.targets[:size])
	if l.weighted {
		copy(l.weights[start:], s.weights[:size])
	}
	return nil
}

// arrange copies the arcs of a group, row by row, and leaves the end of each row in ends.
func (s *groupSorter[W]) arrange(l *lister[W], group int, ends []int64) {
	lo, hi := l.starts[group], l.starts[group+1]
	rows, targets := l.rows[lo:hi], l.targets[lo:hi]
	for _, row := range rows {
		ends[row]++
	}
	sum := int64(0)
	for i, size := range ends {
		ends[i], sum = sum, sum+size
	}
	s.targets = slices.Grow(s.targets[:0], len(targets))[:len(targets)]
	if !l.weighted {
		for i, row := range rows {
			s.targets[ends[row]] = targets[i]
			ends[row]++
		}
		return
	}
	weights := l.weights[lo:hi]
	s.weights = slices.Grow(s.weights[:0], len(targets))[:len(targets)]
	for i, row := range rows {
		at := ends[row]
		s.targets[at], s.weights[at] = targets[i], weights[i]
		ends[row] = at + 1
	}
}

// sorter sorts rows by target, and arcs of one target by weight. It keeps its
// memory from row to row.
type sorter[W float32 | float64] struct {
	keys    []uint64
	weights []W
}

// short rows are sorted by insertion.
const short = 24

// sort sorts a row in place. The weights may be nil.
func (s *sorter[W]) sort(targets []int32, weights []W) {
	switch {
	case weights == nil && len(targets) <= short:
		insertTargets(targets)
	case weights == nil:
		slices.Sort(targets)
	case len(targets) <= short:
		insertArcs(targets, weights)
	case !increasing(targets):
		s.sortArcs(targets, weights)
	}
}

// increasing reports whether targets increase strictly, as in a sorted list of edges.
func increasing(targets []int32) bool {
	for i := 1; i < len(targets); i++ {
		if targets[i-1] >= targets[i] {
			return false
		}
	}
	return true
}

func insertTargets(targets []int32) {
	for i, t := range targets {
		for ; i > 0 && targets[i-1] > t; i-- {
			targets[i] = targets[i-1]
		}
		targets[i] = t
	}
}

func insertArcs[W float32 | float64](targets []int32, weights []W) {
	for i, t := range targets {
		w := weights[i]
		for ; i > 0 && (targets[i-1] > t || targets[i-1] == t && weights[i-1] > w); i-- {
			targets[i], weights[i] = targets[i-1], weights[i-1]
		}
		targets[i], weights[i] = t, w
	}
}

// sortArcs sorts keys of target and position, which hold no two equal ones.
func (s *sorter[W]) sortArcs(targets []int32, weights []W) {
	s.keys = s.keys[:0]
	for i, t := range targets {
		s.keys = append(s.keys, uint64(t)<<32|uint64(i))
	}
	s.weights = append(s.weights[:0], weights...)
	slices.Sort(s.keys)
	for i, key := range s.keys {
		targets[i], weights[i] = int32(key>>32), s.weights[uint32(key)]
	}
	for i := 0; i < len(targets); {
		first := i
		for i++; i < len(targets) && targets[i] == targets[first]; i++ {
		}
		if i-first > 1 {
			slices.Sort(weights[first:i])
		}
	}
}
