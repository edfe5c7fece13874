// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// home is what a generation has of the store that it is in.
type home struct {
	o      Options
	folder func(segment int) string
	number func() int // of the next segment
	// commit makes segments those of the generation, durably, and then calls show.
	commit func(g *generation, now parts, show func()) error
}

// generation is what all handles of a generation share.
type generation struct {
	home
	name   string
	schema store.Schema

	flushing sync.Mutex // held by a flush, and by what must not run beside one

	mu      sync.Mutex
	view    *view // nil: it was closed
	records map[string]*pending[store.Record]
	edges   *pending[store.Triple]
	bytes   int // of all that is pending
	writers int // handles for writing
}

// openGeneration opens the segments of a generation.
func openGeneration(h home, name string, schema store.Schema, of parts) (*generation, error) {
	g := &generation{home: h, name: name, schema: schema}
	g.clear()
	stacks := map[string]*stack{}
	for table := range g.tables() {
		var segments []*segment
		for _, n := range of[table] {
			s, err := g.openSegment(table, n)
			if err != nil {
				for _, s := range segments {
					err = errors.Join(err, s.close())
				}
				return nil, errors.Join(err, newView(stacks).release())
			}
			segments = append(segments, s)
		}
		s, err := openStack(segments)
		if err != nil {
			for _, s := range segments {
				err = errors.Join(err, s.close())
			}
			return nil, errors.Join(err, newView(stacks).release())
		}
		stacks[table] = s
	}
	g.view = newView(stacks)
	return g, nil
}

// tables yields the names of the tables, in order, and of the triples.
func (g *generation) tables() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, name := range append(slices.Sorted(maps.Keys(g.schema.Tables)), edgesName) {
			if !yield(name) {
				return
			}
		}
	}
}

func (g *generation) openSegment(table string, number int) (*segment, error) {
	var schema *store.TableSchema
	if t, ok := g.schema.Tables[table]; ok {
		schema = &t
	}
	return openSegment(g.folder(number), number, schema, g.o)
}

// join counts a handle for writing.
func (g *generation) join() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers++
}

// leave ends one. What the last of them did not flush is lost.
func (g *generation) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writers--; g.writers == 0 {
		g.clear()
	}
}

// clear forgets what is pending.
func (g *generation) clear() {
	g.records, g.edges, g.bytes = map[string]*pending[store.Record]{}, &pending[store.Triple]{}, 0
	for name := range g.schema.Tables {
		g.records[name] = &pending[store.Record]{}
	}
}

// acquire is the view of the last flush, to be released.
func (g *generation) acquire() (*view, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.view == nil {
		return nil, errEnded
	}
	g.view.refs.Add(1)
	return g.view, nil
}

var errEnded = fmt.Errorf("disk: %w: the generation was discarded, or its store closed", store.ErrNotFound)

// end closes the generation. Its segments are removed if it was discarded. What is
// read stays open until it was read.
func (g *generation) end(discarded bool) error {
	g.mu.Lock()
	v := g.view
	g.view = nil
	g.clear()
	g.mu.Unlock()
	if v == nil {
		return nil
	}
	if discarded {
		for _, s := range v.stacks {
			for _, segment := range s.segments {
				segment.dropped.Store(true)
			}
		}
	}
	return v.release()
}

// put takes items into what is pending, and flushes if it is much.
func (g *generation) put(ctx context.Context, take func()) error {
	g.mu.Lock()
	if g.view == nil {
		g.mu.Unlock()
		return errEnded
	}
	take()
	g.bytes = g.edges.bytes
	for _, p := range g.records {
		g.bytes += p.bytes
	}
	full := g.bytes > g.o.Memory
	g.mu.Unlock()
	if full {
		return g.flush(ctx, false)
	}
	return nil
}
