// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

// stack is the segments of one table, or of the triples, those that were flushed first
// at the bottom. It does not change.
type stack struct {
	segments []*segment
	dead     []bits // rows that a later segment replaces or deletes
	live     int    // rows that are not

	words func() (*bm25.Collection, error) // of all segments, made when it is first asked for
}

// newStack puts segments on each other. The first keep of them stand as they do in
// old, which may be nil.
func newStack(segments []*segment, old *stack, keep int) *stack {
	s := &stack{segments: segments}
	for i := range keep {
		s.dead = append(s.dead, append(bits(nil), old.dead[i]...))
	}
	for i := keep; i < len(segments); i++ {
		s.dead = append(s.dead, newBits(segments[i].len()))
		for below := range i {
			hide := func(row, _ int) { s.dead[below].add(row) }
			common(segments[below].ids, segments[i].ids, hide)
			common(segments[below].ids, segments[i].gone, hide)
		}
	}
	for i, segment := range segments {
		s.live += segment.len() - s.dead[i].count()
	}
	s.words = sync.OnceValues(func() (*bm25.Collection, error) {
		parts := make([]*bm25.Index, len(segments))
		for i, segment := range segments {
			parts[i] = segment.words
			if segment.edges != nil {
				parts[i] = segment.edges.Words()
			}
		}
		return bm25.NewCollection(parts...)
	})
	return s
}

// find is where a record is.
func (s *stack) find(id string) (segment, row int, ok bool) {
	for i := len(s.segments) - 1; i >= 0; i-- {
		if row, ok := s.segments[i].ids.search(id); ok && !s.dead[i].has(row) {
			return i, row, true
		}
	}
	return 0, 0, false
}

// after calls yield with the rows whose ids are greater than one, in the order of
// their ids.
func (s *stack) after(id string, yield func(segment, row int) bool) {
	next := make([]int, len(s.segments))
	for i, segment := range s.segments {
		at, found := segment.ids.search(id)
		if next[i] = at; found {
			next[i]++
		}
	}
	for {
		least := -1
		for i, segment := range s.segments {
			for next[i] < segment.len() && s.dead[i].has(next[i]) {
				next[i]++
			}
			if next[i] < segment.len() && (least < 0 || string(segment.ids.bytes(next[i])) < string(s.segments[least].ids.bytes(next[least]))) {
				least = i
			}
		}
		if least < 0 || !yield(least, next[least]) {
			return
		}
		next[least]++
	}
}

// view is a generation as it was after a flush. It does not change, and its segments
// stay open while somebody reads it.
type view struct {
	stacks map[string]*stack // of tables, by their names, and of triples under edgesName
	refs   atomic.Int32
}

// edgesName is no name of a table.
const edgesName = ""

// newView has one reader.
func newView(stacks map[string]*stack) *view {
	v := &view{stacks: stacks}
	v.refs.Store(1)
	for _, s := range stacks {
		for _, segment := range s.segments {
			segment.refs.Add(1)
		}
	}
	return v
}

// release ends the use of one reader.
func (v *view) release() error {
	if v.refs.Add(-1) > 0 {
		return nil
	}
	var errs []error
	for _, s := range v.stacks {
		for _, segment := range s.segments {
			errs = append(errs, segment.release())
		}
	}
	return errors.Join(errs...)
}
