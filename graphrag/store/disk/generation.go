// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// generation is the state that all handles of a generation share.
type generation struct {
	home   *collection
	name   string
	forked bool
	schema store.Schema

	flushing sync.Mutex // held during a flush

	mu      sync.Mutex
	view    *view // nil after the generation was closed
	records map[string]*pending[store.Record]
	edges   *pending[store.Triple]
	bytes   int // estimated memory of pending items, in bytes
	writers int // number of open handles for writing
}

// openGeneration opens the segments of a generation.
func openGeneration(home *collection, name string) (*generation, error) {
	g := &generation{home: home, name: name, schema: home.entry.Schema}
	g.clear()
	var of []string // the table of each segment
	var numbers []int
	for t := range g.tables() {
		for _, n := range home.entry.Generations[name][t] {
			of, numbers = append(of, t), append(numbers, n)
		}
	}
	all := make([]*segment, len(of))
	err := par.Each(context.Background(), len(of), 0, func(i int) (err error) {
		all[i], err = g.openSegment(of[i], numbers[i])
		return err
	})
	opened, byTable := all[:0:0], map[string][]*segment{}
	for i, s := range all {
		if s != nil {
			opened, byTable[of[i]] = append(opened, s), append(byTable[of[i]], s)
		}
	}
	if err != nil {
		return nil, errors.Join(err, release(opened))
	}
	stacks := map[string]*stack{}
	for t := range g.tables() {
		stacks[t] = openStack(byTable[t])
	}
	g.view = newView(stacks)
	return g, release(opened)
}

// release drops one reference of each segment.
func release(all []*segment) error {
	var errs []error
	for _, s := range all {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}

// tables yields the names of the tables, in order, then edgesName.
func (g *generation) tables() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, name := range append(slices.Sorted(maps.Keys(g.schema.Tables)), edgesName) {
			if !yield(name) {
				return
			}
		}
	}
}

func (g *generation) openSegment(tableName string, number int) (*segment, error) {
	var schema *store.TableSchema
	if t, ok := g.schema.Tables[tableName]; ok {
		schema = &t
	}
	return g.home.store.segments.get(number, func() (*segment, error) {
		return openSegment(g.home.store.folder(number), number, schema, g.home.store.o)
	})
}

// join registers a handle for writing.
func (g *generation) join() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers++
}

// leave ends a handle for writing. The last one discards pending items.
func (g *generation) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writers--; g.writers == 0 {
		g.clear()
	}
}

// clear discards pending items.
func (g *generation) clear() {
	g.records, g.edges, g.bytes = map[string]*pending[store.Record]{}, &pending[store.Triple]{}, 0
	for name := range g.schema.Tables {
		g.records[name] = &pending[store.Record]{}
	}
}

// acquire returns the view of the last flush with one reference more, which the caller releases.
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

// end closes the generation, and removes its segments if it was discarded. Segments in use stay until their
// readers release them.
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
		g.home.store.drop(v.segments()...)
	}
	return v.release()
}

// put calls take to add pending items, and flushes if they exceed Options.Memory.
func (h *handle) put(ctx context.Context, take func(*generation)) error {
	if err := errors.Join(ctx.Err(), h.writable()); err != nil {
		return err
	}
	g := h.g
	g.mu.Lock()
	if g.view == nil {
		g.mu.Unlock()
		return errEnded
	}
	take(g)
	g.bytes = g.edges.bytes
	for _, p := range g.records {
		g.bytes += p.bytes
	}
	full := g.bytes > g.home.store.o.Memory
	g.mu.Unlock()
	if full {
		return g.flush(ctx, false)
	}
	return nil
}

// handle implements [store.Generation], for writing or for reading a pinned generation.
type handle struct {
	g *generation

	mu     sync.Mutex
	pinned *view // nil for writing
	closed bool
}

func (h *handle) Name() string { return h.g.name }

func (h *handle) Table(name string) (store.Table, error) {
	schema, ok := h.g.schema.Tables[name]
	if !ok {
		return nil, fmt.Errorf("disk: table %q: %w: the collection has the tables %q", name, store.ErrNotFound, slices.Sorted(maps.Keys(h.g.schema.Tables)))
	}
	return &table{handle: h, name: name, schema: schema}, nil
}

func (h *handle) Triples() store.Triples { return edges{h} }

func (h *handle) Flush(ctx context.Context) error {
	if err := h.writable(); err != nil {
		return err
	}
	return h.g.flush(ctx, false)
}

// Close implements [store.Generation]. The last handle for writing discards what was not flushed.
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
	h.g.leave()
	return nil
}

// writable returns an error if the handle cannot write.
func (h *handle) writable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errHandle
	}
	if h.pinned != nil {
		return fmt.Errorf("disk: generation %q: %w: it was pinned for reading: open it with Write", h.g.name, store.ErrReadOnly)
	}
	return nil
}

var errHandle = errors.New("disk: the generation was closed")

// read calls do with the current stack of a table, without waiting for writers.
func (h *handle) read(ctx context.Context, tableName string, do func(*stack) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	v, err := h.acquire()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.release()) }()
	return cmp.Or(do(v.stacks[tableName]), v.stacks[tableName].err())
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

// stack is the immutable list of segments of a table or of the triples, oldest first.
type stack struct {
	segments []*segment
	dead     []bm25.Docs // rows that a later segment replaces or deletes
	live     int         // number of rows that are not dead

	words func() (*bm25.Collection, error) // text indexes of all segments, opened at the first use

	mu       sync.Mutex
	meetings map[string]*meeting // cache of rows that meet a condition, by the text of the condition
}

// newStack makes a stack of segments and their dead rows.
func newStack(segments []*segment, dead []bm25.Docs) *stack {
	s := &stack{segments: segments, dead: dead}
	for i, seg := range segments {
		s.live += seg.len() - s.dead[i].Len()
	}
	s.words = sync.OnceValues(func() (*bm25.Collection, error) {
		indexes := make([]*bm25.Index, len(segments))
		for i, seg := range segments {
			indexes[i] = seg.words
			if seg.edges != nil {
				indexes[i] = seg.edges.Words()
			}
		}
		return bm25.NewCollection(indexes...)
	})
	return s
}

// err returns the damage that reads have found in the files so far.
func (s *stack) err() error {
	for _, seg := range s.segments {
		if err := seg.err(); err != nil {
			return err
		}
	}
	return nil
}

// push returns a stack of the first on segments and a new one.
func (s *stack) push(on int, top *segment) *stack {
	below, dead := s.segments[:on], make([]bm25.Docs, 0, on+1)
	for _, d := range s.dead[:on] {
		dead = append(dead, slices.Clone(d))
	}
	top.hide(below, dead)
	return newStack(append(slices.Clone(below), top), append(dead, noDocs(top.len())))
}

// openStack returns the stack of segments that were read from the disk.
func openStack(segments []*segment) *stack {
	dead := make([]bm25.Docs, len(segments))
	for i, s := range segments {
		dead[i] = noDocs(s.len())
		s.hide(segments[:i], dead)
	}
	return newStack(segments, dead)
}

// find returns the segment and the row of a live record.
func (s *stack) find(id string) (seg, row int, ok bool) {
	for i := len(s.segments) - 1; i >= 0; i-- {
		if row, ok := s.segments[i].ids.search(id); ok && !s.dead[i].Has(int32(row)) {
			return i, row, true
		}
	}
	return 0, 0, false
}

// after yields the live rows with an id greater than id, in the order of ids.
func (s *stack) after(id string, yield func(seg, row int) bool) {
	next := make([]int, len(s.segments))
	for i, seg := range s.segments {
		at, found := seg.ids.search(id)
		if next[i] = at; found {
			next[i]++
		}
	}
	for {
		least := -1
		for i, seg := range s.segments {
			for next[i] < seg.len() && s.dead[i].Has(int32(next[i])) {
				next[i]++
			}
			if next[i] < seg.len() && (least < 0 || string(seg.ids.bytes(next[i])) < string(s.segments[least].ids.bytes(next[least]))) {
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

// view is the immutable state of a generation after a flush. Its segments stay open while it has references.
type view struct {
	stacks map[string]*stack // by table, and triples under edgesName
	refs   atomic.Int32
}

// edgesName is the key of the triples where tables have their names.
const edgesName = ""

// newView returns a view with one reference.
func newView(stacks map[string]*stack) *view {
	v := &view{stacks: stacks}
	v.refs.Store(1)
	for _, s := range stacks {
		for _, seg := range s.segments {
			seg.hold()
		}
	}
	return v
}

// release drops a reference. The last one releases the segments.
func (v *view) release() error {
	if v.refs.Add(-1) > 0 {
		return nil
	}
	return release(v.segments())
}

// segments returns the segments of all stacks.
func (v *view) segments() (all []*segment) {
	for _, s := range v.stacks {
		all = append(all, s.segments...)
	}
	return all
}
