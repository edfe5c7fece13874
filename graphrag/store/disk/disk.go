// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Store implements [store.Store] in a folder.
type Store struct {
	dir  string
	o    Options
	lock *journal.Journal // nil with Options.ReadOnly

	segments shared

	mu          sync.Mutex // guards the fields below, and the catalog on disk
	catalog     *catalog
	collections map[string]*collection
	closed      bool
}

// Open opens the store in a folder, or creates one. One process can have it open for writing: otherwise the
// error is [store.ErrConflict]. It is [store.ErrMismatch] if there are segments without a catalog, or the
// catalog is damaged or of another version.
func Open(dir string, o Options) (*Store, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, o: o, collections: map[string]*collection{}, segments: shared{open: map[int]*segment{}}}
	if o.ReadOnly {
		if _, err = os.Stat(filepath.Join(dir, catalogName)); err == nil {
			if err = s.reload(); err == nil {
				return s, nil
			}
		} else if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%w: there is no store yet: %w", store.ErrNotFound, err)
		}
		return nil, errIn("open", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, errIn("open", err)
	}
	lock, err := journal.Open(filepath.Join(dir, lockName), journal.Header{Schema: "wildgraph store lock"}, journal.Options{})
	if errors.Is(err, journal.ErrLocked) {
		return nil, fmt.Errorf("disk: open %s: %w: another process has the store open: end that process, or choose another folder", dir, store.ErrConflict)
	}
	if err != nil {
		return nil, errIn("open "+dir, err)
	}
	s.lock = lock
	if s.catalog, err = readCatalog(dir); err == nil {
		err = s.catalog.sweep(dir)
	}
	if err != nil {
		return nil, errors.Join(errIn("open", err), lock.Close())
	}
	return s, nil
}

func errIn(doing string, err error) error {
	if err != nil {
		err = fmt.Errorf("disk: %s: %w", doing, err)
	}
	return err
}

// Can implements [store.Store].
func (s *Store) Can() store.Capabilities {
	return store.Capabilities{FixedReads: true, OwnWords: true}
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, name string, schema store.Schema) (store.Collection, error) {
	if err := errors.Join(store.CheckName("collection", name), schema.Check(), ctx.Err()); err != nil {
		return nil, fmt.Errorf("disk: create collection: %w", err)
	}
	schema.Analyzer = cmp.Or(schema.Analyzer, s.o.Analyzer.Name())
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.entry(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("disk: create collection %q: %w", name, err)
	case s.closed:
		return nil, errClosed
	case e == nil:
		e = &entry{Schema: schema, Generations: map[string]parts{}}
		if err := s.commit(func() func() {
			s.catalog.Collections[name] = e
			return func() { delete(s.catalog.Collections, name) }
		}); err != nil {
			return nil, err
		}
	}
	if err := e.Schema.CheckSame(schema); err != nil {
		return nil, fmt.Errorf("disk: create collection %q: %w", name, err)
	}
	return s.open(name, e)
}

// entry returns the catalog entry of a collection, nil if there is none. With Options.ReadOnly it reads the
// catalog again. The caller holds s.mu.
func (s *Store) entry(name string) (*entry, error) {
	var err error
	if s.lock == nil && !s.closed {
		err = s.reload()
	}
	return s.catalog.Collections[name], err
}

var errClosed = errors.New("disk: the store is closed")

// Open implements [store.Store].
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.entry(name)
	if s.closed || ctx.Err() != nil || err != nil {
		return nil, errors.Join(ctx.Err(), errIf(s.closed, errClosed), err)
	}
	if e == nil {
		return nil, fmt.Errorf("disk: open collection %q: %w: create it first; the store has the collections %q", name, store.ErrNotFound, slices.Sorted(maps.Keys(s.catalog.Collections)))
	}
	return s.open(name, e)
}

func errIf(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// open opens a collection. The caller holds s.mu.
func (s *Store) open(name string, e *entry) (*collection, error) {
	if err := e.Schema.CheckAnalyzer(s.o.Analyzer.Name()); err != nil {
		return nil, fmt.Errorf("disk: collection %q: %w", name, err)
	}
	c := s.collections[name]
	if c == nil {
		c = &collection{store: s, name: name, entry: e, open: map[string]*generation{}}
		s.collections[name] = c
	}
	return c, nil
}

// Collections implements [store.Store].
func (s *Store) Collections(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.catalog.Collections)), ctx.Err()
}

// Drop implements [store.Store].
func (s *Store) Drop(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.catalog.Collections[name]
	if err := errors.Join(ctx.Err(), errIf(s.closed, errClosed)); err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("disk: drop collection %q: %w", name, store.ErrNotFound)
	}
	err := s.commit(func() func() {
		delete(s.catalog.Collections, name)
		return func() { s.catalog.Collections[name] = e }
	})
	if err != nil {
		return err
	}
	c := s.collections[name]
	delete(s.collections, name)
	for content, numbers := range e.Generations {
		err = errors.Join(err, s.forget(c, content, numbers))
	}
	return err
}

// forget closes a generation that was removed from the catalog, and removes its segments when no reader uses
// them. The caller holds s.mu.
func (s *Store) forget(c *collection, name string, of parts) error {
	if c != nil && c.open[name] != nil {
		g := c.open[name]
		delete(c.open, name)
		return g.end(true)
	}
	var errs []error
	named := s.catalog.names()
	for _, numbers := range of {
		for _, n := range numbers {
			if !named[strconv.Itoa(n)] {
				errs = append(errs, os.RemoveAll(s.folder(n)))
			}
		}
	}
	return errors.Join(errs...)
}

// drop marks segments that are not in the catalog: their last release removes them. The caller holds s.mu.
func (s *Store) drop(some ...*segment) {
	named := s.catalog.names()
	for _, x := range some {
		x.dropped.Store(!named[strconv.Itoa(x.number)])
	}
}

// reload reads the catalog of a store that another process may write. Generations that changed are opened again
// when they are pinned. The caller holds s.mu, unless s is new.
func (s *Store) reload() error {
	now, err := readCatalog(s.dir)
	if err != nil {
		return err
	}
	var errs []error
	s.catalog = now
	for name, c := range s.collections {
		was := c.entry
		if c.entry = now.Collections[name]; c.entry == nil {
			delete(s.collections, name)
			c.entry = &entry{}
		}
		for of, g := range c.open {
			if !was.same(c.entry, of) {
				delete(c.open, of)
				errs = append(errs, g.end(false))
			}
		}
	}
	return errors.Join(errs...)
}

// number returns the number of the next segment.
func (s *Store) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalog.Next++
	return s.catalog.Next
}

// commit changes the catalog and writes it to disk, or else undoes the change. The caller holds s.mu.
func (s *Store) commit(change func() (undo func())) error {
	if s.lock == nil {
		return errReader
	}
	undo := change()
	if err := s.catalog.save(s.dir); err != nil {
		undo()
		return fmt.Errorf("disk: write catalog: %w", err)
	}
	return nil
}

var errReader = fmt.Errorf("disk: %w: the store was opened with Options.ReadOnly", store.ErrReadOnly)

func (s *Store) folder(number int) string {
	return filepath.Join(s.dir, segmentsFolder, strconv.Itoa(number))
}

// Close implements [store.Store]. It waits for a flush in progress, which fails. Pinned generations stay
// readable until they are closed.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	var open []*generation
	for _, c := range s.collections {
		for _, g := range c.open {
			open = append(open, g)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, g := range open {
		g.flushing.Lock()
		errs = append(errs, g.end(false))
		g.flushing.Unlock()
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// The defaults of Options.
const (
	DefaultMemory      = 128 << 20
	DefaultSegmentRows = 1 << 19
)

// Options of a store.
type Options struct {
	// Analyzer makes the words of texts and queries; nil means [text.Default]. A collection that was made with
	// another analyzer cannot be opened.
	Analyzer text.Analyzer
	// Memory is the approximate number of bytes of puts in memory; more are flushed without a call of Flush.
	Memory int
	// SegmentRows is about the largest number of rows of a segment that is made by merging others.
	SegmentRows int
	// ReadOnly opens a store without a lock, even while another process writes it: Pin returns the generation
	// that is published at that time.
	ReadOnly bool
}

func (o Options) resolve() (Options, error) {
	c := opt.Checks{Of: "disk: options"}
	opt.Min(&c, "Memory", o.Memory, 0)
	opt.Min(&c, "SegmentRows", o.SegmentRows, 0)
	o.Analyzer = cmp.Or[text.Analyzer](o.Analyzer, text.Default())
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	o.SegmentRows = cmp.Or(o.SegmentRows, DefaultSegmentRows)
	return o, c.Err()
}
