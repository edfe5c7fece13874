// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// collection implements [store.Collection]. Its fields are guarded by store.mu.
type collection struct {
	store *Store
	name  string
	entry *entry
	open  map[string]*generation
}

// Schema implements [store.Collection].
func (c *collection) Schema() store.Schema { return c.entry.Schema }

// Write implements [store.Collection].
func (c *collection) Write(ctx context.Context, name string) (store.Generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if err := c.check(ctx, store.CheckName("generation", name)); err != nil {
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

// check tells why nothing can be done.
func (c *collection) check(ctx context.Context, err error) error {
	if c.store.collections[c.name] != c {
		err = errors.Join(err, fmt.Errorf("%w: the collection was dropped", store.ErrNotFound))
	}
	return errors.Join(err, ctx.Err(), errIf(c.store.closed, errClosed))
}

// generation opens a generation, once.
func (c *collection) generation(name string) (*generation, error) {
	if g := c.open[name]; g != nil {
		return g, nil
	}
	g, err := openGeneration(c.home(), name, c.entry.Schema, c.entry.Generations[name])
	if err != nil {
		return nil, fmt.Errorf("disk: %s: generation %q: %w", c.name, name, err)
	}
	c.open[name] = g
	return g, nil
}

// home is what the generations have of the collection.
func (c *collection) home() home {
	return home{o: c.store.o, folder: c.store.folder, number: c.store.number, commit: c.commit}
}

// commit replaces the segments of a generation.
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

// Pin implements [store.Collection].
func (c *collection) Pin(ctx context.Context) (store.Generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	err := c.check(ctx, nil)
	if err == nil && c.entry.Published == "" {
		err = fmt.Errorf("%w: nothing was published yet", store.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("disk: %s: pin: %w", c.name, err)
	}
	g, err := c.generation(c.entry.Published)
	if err != nil {
		return nil, err
	}
	v, err := g.acquire()
	if err != nil {
		return nil, err
	}
	return &handle{g: g, pinned: v}, nil
}

// Publish implements [store.Collection]. What was not flushed is flushed, and small
// segments are merged, before the generation is shown.
func (c *collection) Publish(ctx context.Context, name, was string) error {
	g, err := c.known(ctx, name)
	if err == nil {
		err = g.flush(ctx, true)
	}
	if err != nil {
		return fmt.Errorf("disk: %s: publish %q: %w", c.name, name, err)
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	is := c.entry.Published
	if err := c.check(ctx, nil); err != nil || is != was {
		return fmt.Errorf("disk: %s: publish %q: %w", c.name, name, errors.Join(err, errIf(is != was,
			fmt.Errorf("%w: generation %q is published, not %q: look at it and decide anew", store.ErrConflict, is, was))))
	}
	return c.store.commit(func() func() {
		c.entry.Published = name
		return func() { c.entry.Published = was }
	})
}

// known is a generation that was begun.
func (c *collection) known(ctx context.Context, name string) (*generation, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	err := c.check(ctx, nil)
	if _, ok := c.entry.Generations[name]; !ok {
		err = errors.Join(err, fmt.Errorf("%w: there are %q", store.ErrNotFound, slices.Sorted(maps.Keys(c.entry.Generations))))
	}
	if err != nil {
		return nil, err
	}
	return c.generation(name)
}

// Generations implements [store.Collection].
func (c *collection) Generations(ctx context.Context) ([]string, string, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if err := c.check(ctx, nil); err != nil {
		return nil, "", fmt.Errorf("disk: %s: generations: %w", c.name, err)
	}
	return slices.Sorted(maps.Keys(c.entry.Generations)), c.entry.Published, nil
}

// Discard implements [store.Collection].
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
		err = fmt.Errorf("%w: it is published: publish another before", store.ErrConflict)
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
