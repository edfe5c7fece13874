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

// generation is what all handles of a generation share.
type generation struct {
	c       *collection
	name    string
	schema  store.Schema
	writers int // handles for writing; guarded by store.mu

	flushing sync.Mutex // held by a flush, and by what must not run beside one

	mu      sync.Mutex
	view    *view // nil: it was closed
	records map[string]*pending[store.Record]
	edges   *pending[store.Triple]
	bytes   int // of all that is pending
}

// openGeneration opens the segments that the catalog names; store.mu is held.
func openGeneration(c *collection, name string) (*generation, error) {
	g := &generation{c: c, name: name, schema: c.entry.Schema}
	g.clear()
	stacks := map[string]*stack{}
	for table := range g.tables() {
		var segments []*segment
		for _, n := range c.entry.Generations[name][table] {
			s, err := g.openSegment(table, n)
			if err != nil {
				for _, s := range segments {
					err = errors.Join(err, s.close())
				}
				return nil, errors.Join(err, newView(stacks).release())
			}
			segments = append(segments, s)
		}
		stacks[table] = newStack(segments, nil, 0)
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
	return openSegment(g.c.store.folder(number), number, schema, g.c.store.o)
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
	full := g.bytes > g.c.store.o.Memory
	g.mu.Unlock()
	if full {
		return g.flush(ctx, false)
	}
	return nil
}

// handle implements [store.Generation]: for writing, or pinned.
type handle struct {
	g *generation

	mu     sync.Mutex
	pinned *view // nil: for writing
	closed bool
}

// Name implements [store.Generation].
func (h *handle) Name() string { return h.g.name }

// Table implements [store.Generation].
func (h *handle) Table(name string) (store.Table, error) {
	schema, ok := h.g.schema.Tables[name]
	if !ok {
		return nil, fmt.Errorf("disk: table %q: %w: there are %q", name, store.ErrNotFound, slices.Sorted(maps.Keys(h.g.schema.Tables)))
	}
	return &table{handle: h, name: name, schema: schema}, nil
}

// Triples implements [store.Generation].
func (h *handle) Triples() store.Triples { return edges{h} }

// Flush implements [store.Generation].
func (h *handle) Flush(ctx context.Context) error {
	if err := h.writable(); err != nil {
		return err
	}
	return h.g.flush(ctx, false)
}

// Close implements [store.Generation]. What the last handle for writing did not flush
// is lost.
func (h *handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	if h.pinned != nil {
		return h.pinned.release()
	}
	h.g.c.store.mu.Lock()
	defer h.g.c.store.mu.Unlock()
	if h.g.writers--; h.g.writers == 0 {
		h.g.mu.Lock()
		h.g.clear()
		h.g.mu.Unlock()
	}
	return nil
}

// writable tells why nothing can be written.
func (h *handle) writable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errHandle
	}
	if h.pinned != nil {
		return fmt.Errorf("disk: generation %q: %w: it was pinned; open it with Write", h.g.name, store.ErrReadOnly)
	}
	return nil
}

var errHandle = errors.New("disk: the generation was closed")

// read calls do with what is read, and waits for nobody.
func (h *handle) read(ctx context.Context, table string, do func(*stack) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	v, err := h.acquire()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.release()) }()
	return do(v.stacks[table])
}

func (h *handle) acquire() (*view, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errHandle
	case h.pinned != nil:
		h.pinned.refs.Add(1)
		return h.pinned, nil
	default:
		return h.g.acquire()
	}
}
