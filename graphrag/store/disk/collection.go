// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// collection implements [store.Collection]. Its fields are guarded by store.mu.
type collection struct {
	store *Store
	name  string
	entry *entry
	open  map[string]*generation
}

func (c *collection) Schema() store.Schema { return c.entry.Schema }

func (c *collection) Write(ctx context.Context, name string) (store.Generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if err := c.check(ctx, cmp.Or(store.CheckName("generation", name), errIf(c.store.lock == nil, errReader))); err != nil {
		return nil, fmt.Errorf("disk: %s: write %q: %w", c.name, name, err)
	}
	if _, ok := c.entry.Generations[name]; !ok {
		err := c.store.commit(func() func() {
			c.entry.Generations[name] = parts{}
			return func() { delete(c.entry.Generations, name) }
		})
		if err != nil {
			return nil, err
		}
	}
	g, err := c.generation(name)
	if err != nil {
		return nil, err
	}
	g.join()
	return &handle{g: g}, nil
}

// check returns an error if the collection or its store cannot be used, joined with err.
func (c *collection) check(ctx context.Context, err error) error {
	if c.store.collections[c.name] != c {
		err = errors.Join(err, fmt.Errorf("%w: the collection was dropped", store.ErrNotFound))
	}
	return errors.Join(err, ctx.Err(), errIf(c.store.closed, errClosed))
}

// generation returns the state of a generation, and opens it at the first call.
func (c *collection) generation(name string) (*generation, error) {
	if g := c.open[name]; g != nil {
		return g, nil
	}
	g, err := openGeneration(c, name)
	if err != nil {
		return nil, fmt.Errorf("disk: %s: generation %q: %w", c.name, name, err)
	}
	c.open[name] = g
	return g, nil
}

// commit replaces the segments of a generation in the catalog, then calls show.
func (c *collection) commit(g *generation, now parts, show func()) error {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.store.closed || c.open[g.name] != g || c.store.collections[c.name] != c {
		return errEnded
	}
	was := c.entry.Generations[g.name]
	err := c.store.commit(func() func() {
		c.entry.Generations[g.name] = now
		return func() { c.entry.Generations[g.name] = was }
	})
	if err == nil {
		show()
	}
	return err
}

// Fork implements [store.Collection]. The two generations share segments. The catalog on disk has the new one
// after its first flush.
func (c *collection) Fork(ctx context.Context, next, from string) (store.Generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	err := c.check(ctx, cmp.Or(store.CheckName("generation", next), errIf(c.store.lock == nil, errReader)))
	if _, ok := c.entry.Generations[next]; ok {
		err = errors.Join(err, fmt.Errorf("%w: a generation of this name exists: discard it, or choose another name", store.ErrConflict))
	}
	if _, ok := c.entry.Generations[from]; !ok {
		err = errors.Join(err, fmt.Errorf("%w: there is no generation %q", store.ErrNotFound, from))
	}
	var g *generation
	if err == nil {
		g, err = c.generation(from)
	}
	var v *view
	if err == nil {
		v, err = g.acquire()
	}
	if err != nil {
		return nil, fmt.Errorf("disk: %s: fork %q: %w", c.name, next, err)
	}
	c.entry.Generations[next] = maps.Clone(c.entry.Generations[from])
	fork := &generation{home: c, name: next, schema: g.schema, forked: true, view: newView(v.stacks)}
	fork.clear()
	fork.join()
	c.open[next] = fork
	return &handle{g: fork}, v.release()
}

// Pin implements [store.Collection]. With Options.ReadOnly it reads the catalog again, and once more if another
// process has replaced segments before they were opened.
func (c *collection) Pin(ctx context.Context) (store.Generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	var err error
	if c.store.lock == nil {
		err = c.store.reload()
	}
	for {
		err = c.check(ctx, err)
		if err == nil && c.entry.Published == "" {
			err = fmt.Errorf("%w: nothing was published yet", store.ErrNotFound)
		}
		if err != nil {
			return nil, fmt.Errorf("disk: %s: pin: %w", c.name, err)
		}
		g, failed := c.generation(c.entry.Published)
		if failed == nil {
			v, err := g.acquire()
			return &handle{g: g, pinned: v}, err
		}
		was := c.entry
		if c.store.lock == nil {
			err = c.store.reload()
		}
		if c.entry.same(was, was.Published) && c.entry.Published == was.Published {
			return nil, failed
		}
	}
}

// same reports whether a generation has the same segments in both entries.
func (e *entry) same(other *entry, name string) bool {
	return maps.EqualFunc(e.Generations[name], other.Generations[name], slices.Equal[[]int])
}

// Publish implements [store.Collection]. First it flushes pending items and merges small segments; in a fork it
// merges them only if they are many.
func (c *collection) Publish(ctx context.Context, name, was string) error {
	g, err := c.known(ctx, name)
	if err == nil {
		err = g.flush(ctx, !g.forked)
	}
	if err != nil {
		return fmt.Errorf("disk: %s: publish %q: %w", c.name, name, err)
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	is := c.entry.Published
	if err := c.check(ctx, nil); err != nil || is != was {
		return fmt.Errorf("disk: %s: publish %q: %w", c.name, name, errors.Join(err, errIf(is != was,
			fmt.Errorf("%w: the published generation is %q, not %q: read it, and publish again if you still want to", store.ErrConflict, is, was))))
	}
	return c.store.commit(func() func() {
		c.entry.Published = name
		return func() { c.entry.Published = was }
	})
}

// known returns a generation, or an error if there is none of that name.
func (c *collection) known(ctx context.Context, name string) (*generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	err := c.check(ctx, nil)
	if _, ok := c.entry.Generations[name]; !ok {
		err = errors.Join(err, fmt.Errorf("generation %w: the collection has %q", store.ErrNotFound, slices.Sorted(maps.Keys(c.entry.Generations))))
	}
	if err != nil {
		return nil, err
	}
	return c.generation(name)
}

func (c *collection) Generations(ctx context.Context) ([]string, string, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if err := c.check(ctx, nil); err != nil {
		return nil, "", fmt.Errorf("disk: %s: generations: %w", c.name, err)
	}
	return slices.Sorted(maps.Keys(c.entry.Generations)), c.entry.Published, nil
}

func (c *collection) Discard(ctx context.Context, name string) error {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	of, ok := c.entry.Generations[name]
	err := c.check(ctx, nil)
	switch {
	case err != nil:
	case !ok:
		err = store.ErrNotFound
	case name == c.entry.Published:
		err = fmt.Errorf("%w: the generation is published: publish another one first", store.ErrConflict)
	default:
		err = c.store.commit(func() func() {
			delete(c.entry.Generations, name)
			return func() { c.entry.Generations[name] = of }
		})
	}
	if err != nil {
		return fmt.Errorf("disk: %s: discard %q: %w", c.name, name, err)
	}
	return c.store.forget(c, name, of)
}

const (
	catalogName    = "catalog.json"
	lockName       = "lock"
	segmentsFolder = "segments"
	catalogVersion = 2
)

// catalog lists all collections, generations and segments.
type catalog struct {
	Version     int               `json:"version"`
	Next        int               `json:"next_segment"`
	Collections map[string]*entry `json:"collections"`
	Sum         uint32            `json:"sum"` // checksum of the JSON with a Sum of 0
}

// sum returns the checksum of the catalog.
func (c catalog) sum() (uint32, error) {
	c.Sum = 0
	data, err := json.Marshal(c)
	return crc32.ChecksumIEEE(data), err
}

// entry describes a collection.
type entry struct {
	Schema      store.Schema     `json:"schema"`
	Published   string           `json:"published,omitempty"`
	Generations map[string]parts `json:"generations"`
}

// parts holds the numbers of the segments of a generation, by table.
type parts map[string][]int

// readCatalog reads the catalog of a folder. For a new folder it returns an empty one.
func readCatalog(dir string) (*catalog, error) {
	c := &catalog{Version: catalogVersion, Collections: map[string]*entry{}}
	name := filepath.Join(dir, catalogName)
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		// The first catalog is written before any segment, so a folder with segments and no catalog is no
		// store.
		if entries, _ := os.ReadDir(filepath.Join(dir, segmentsFolder)); len(entries) > 0 {
			return nil, fmt.Errorf("%s: %w: the folder has a subfolder %q but no catalog: restore the catalog, or choose another folder", dir, store.ErrMismatch, segmentsFolder)
		}
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.Version = 0
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w: the file is not the catalog of a store: restore it, or choose another folder: %w", name, store.ErrMismatch, err)
	}
	if c.Version != catalogVersion || c.Collections == nil {
		return nil, fmt.Errorf("%s: %w: the catalog has version %d, this release needs %d: open the store with the release that wrote it, or build it again", name, store.ErrMismatch, c.Version, catalogVersion)
	}
	if sum, err := c.sum(); err != nil || sum != c.Sum {
		return nil, errors.Join(fmt.Errorf("%s: %w: the checksum does not match, the file is damaged: restore it, or build the store again", name, store.ErrMismatch), err)
	}
	return c, nil
}

// save writes the catalog durably.
func (c *catalog) save(dir string) (err error) {
	if c.Sum, err = c.sum(); err != nil {
		return err
	}
	return journal.WriteFile(filepath.Join(dir, catalogName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(c)
	})
}

// names returns the numbers of the segments in the catalog, which name their folders.
func (c *catalog) names() map[string]bool {
	all := map[string]bool{}
	for _, listed := range c.Collections {
		for _, content := range listed.Generations {
			for _, numbers := range content {
				for _, n := range numbers {
					all[strconv.Itoa(n)] = true
				}
			}
		}
	}
	return all
}

// sweep removes segments that are not in the catalog: a flush was killed before it ended.
func (c *catalog) sweep(dir string) error {
	dir = filepath.Join(dir, segmentsFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	known := c.names()
	errs := []error{err}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil && !known[e.Name()] {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
