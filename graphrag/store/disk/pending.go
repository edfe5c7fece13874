// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"iter"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// pending is what was put and deleted since the last flush, by id; nil is deleted.
type pending[T any] struct {
	items map[string]*T
	bytes int
}

// overhead is about what an item takes beside its own bytes.
const overhead = 256

func (p *pending[T]) put(id string, item *T, bytes int) {
	if p.items == nil {
		p.items = make(map[string]*T)
	}
	p.items[id] = item
	p.bytes += bytes + overhead
}

// sorted are the ids of what was put, and of what was deleted.
func (p *pending[T]) sorted() (put, gone []string) {
	for _, id := range slices.Sorted(maps.Keys(p.items)) {
		if p.items[id] != nil {
			put = append(put, id)
		} else {
			gone = append(gone, id)
		}
	}
	return put, gone
}

// all are the items of some ids.
func (p *pending[T]) all(ids []string) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, id := range ids {
			if !yield(id, *p.items[id]) {
				return
			}
		}
	}
}

func sizeOf(r store.Record) int {
	return len(r.ID) + len(r.Scope) + len(r.Title) + len(r.Text) + 4*len(r.Vector) + len(r.Data)
}

// values are what a sequence yields second.
func values[T any](all iter.Seq2[string, T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range all {
			if !yield(v) {
				return
			}
		}
	}
}

// update puts what is pending in newer.
func (p *pending[T]) update(newer *pending[T]) {
	for id, item := range newer.items {
		p.put(id, item, 0)
	}
	p.bytes += newer.bytes - overhead*len(newer.items)
}
