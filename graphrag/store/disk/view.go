// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"slices"
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

// newStack puts segments on each other, of which some rows are dead.
func newStack(segments []*segment, dead []bits) *stack {
	s := &stack{segments: segments, dead: dead}
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

// push puts a segment on the first of a stack, and keeps what it hides of them.
func (s *stack) push(on int, top *segment) (*stack, error) {
	below, dead := s.segments[:on], make([]bits, 0, on+1)
	for _, d := range s.dead[:on] {
		dead = append(dead, d.clone())
	}
	top.hide(below, dead)
	if err := top.writeHides(below, dead); err != nil {
		return nil, err
	}
	return newStack(append(slices.Clone(below), top), append(dead, newBits(top.len()))), nil
}

// openStack is the stack of segments that were pushed.
func openStack(segments []*segment) (*stack, error) {
	dead := make([]bits, len(segments))
	for i, s := range segments {
		dead[i] = newBits(s.len())
		if err := s.readHides(segments[:i], dead); err != nil {
			return nil, err
		}
	}
	return newStack(segments, dead), nil
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
		if least >= 0 && next[least]%aheadRows == 0 {
			s.segments[least].ahead(next[least])
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
