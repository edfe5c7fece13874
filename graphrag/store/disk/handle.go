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
	h.g.leave()
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
