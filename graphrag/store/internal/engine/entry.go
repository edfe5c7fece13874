// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// version is that of what is kept in an engine.
const version = 1

// entry is the register of a collection.
type entry struct {
	Version     int               `json:"version"`
	ID          string            `json:"id"` // another, if it is dropped and created
	Schema      store.Schema      `json:"schema"`
	Generations map[string]string `json:"generations"` // the ids by the names
	Published   string            `json:"published,omitempty"`
	Gone        []gone            `json:"gone,omitempty"` // discarded, not yet removed
	Dropped     bool              `json:"dropped,omitempty"`
}

// gone is a generation that was discarded.
type gone struct {
	ID     string `json:"id"`
	Tables int    `json:"tables"`
}

func goneOf(id string, s store.Schema) gone { return gone{id, len(s.Tables)} }

// indexes are those of a generation.
func (g gone) indexes() []string {
	names := []string{edgesIndex(g.ID)}
	for i := range g.Tables {
		names = append(names, tableIndex(g.ID, i))
	}
	return names
}

func tableIndex(generation string, i int) string { return fmt.Sprintf("%st%d", generation, i) }
func edgesIndex(generation string) string        { return generation + "e" }

// newID is of 16 letters and digits, and no other is it.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // which does not fail
	return "g" + hex.EncodeToString(b[:])
}

// load reads the entry of a collection; one without an ID if there is none.
func (s *Store) load(ctx context.Context, name string) (e entry, was string, err error) {
	if err = s.alive(ctx); err != nil {
		return e, "", err
	}
	data, was, err := s.engine.Load(ctx, name)
	if err == nil && data != nil {
		if json.Unmarshal(data, &e) != nil || e.Version != version {
			err = fmt.Errorf("collection %q: %w: it is of version %d, and %d is known: open it with the release that wrote it", name, store.ErrMismatch, e.Version, version)
		}
	}
	return e, was, err
}

// changes is how often a change is tried that another came before.
const changes = 30

// change changes the entry of a collection by compare-and-set.
func (s *Store) change(ctx context.Context, name string, do func(*entry) error) error {
	var err error
	for n := range changes {
		e, was, errLoad := s.load(ctx, name)
		if errLoad != nil {
			return errLoad
		}
		before, _ := json.Marshal(e)
		if err := do(&e); err != nil {
			return err
		}
		after, errJSON := json.Marshal(e)
		if errJSON != nil || string(after) == string(before) {
			return errJSON
		}
		if e.Dropped && len(e.Gone) == 0 {
			after = nil
		}
		if err = s.engine.Save(ctx, name, after, was); !errors.Is(err, store.ErrConflict) {
			return err
		}
		select {
		case <-time.After(time.Duration(n+1) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// hold keeps a generation from being removed by this store.
func (s *Store) hold(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id]++
}

// release ends a hold. What was discarded meanwhile is removed.
func (s *Store) release(id string) error {
	s.mu.Lock()
	if s.held[id]--; s.held[id] > 0 {
		s.mu.Unlock()
		return nil
	}
	delete(s.held, id)
	collection, isGone := s.gone[id]
	delete(s.gone, id)
	closed := s.closed
	s.mu.Unlock()
	if !isGone || closed {
		return nil
	}
	return s.sweep(context.Background(), collection)
}

// sweep removes generations that are gone and not held. The last that was discarded
// stays until the next is, for readers elsewhere.
func (s *Store) sweep(ctx context.Context, name string) error {
	e, _, err := s.load(ctx, name)
	if err != nil || len(e.Gone) == 0 {
		return err
	}
	some := e.Gone
	if !e.Dropped {
		some = some[:len(some)-1]
	}
	var removed []gone
	var indexes []string
	s.mu.Lock()
	for _, g := range e.Gone {
		if s.held[g.ID] > 0 {
			s.gone[g.ID] = name
		} else if slices.Contains(some, g) {
			removed = append(removed, g)
			indexes = append(indexes, g.indexes()...)
		}
	}
	if len(removed) > 0 {
		s.sweeps.Add(1)
	}
	s.mu.Unlock()
	if len(removed) == 0 {
		return nil
	}
	if err := s.engine.Drop(ctx, indexes...); err != nil {
		return err
	}
	return s.change(ctx, name, func(e *entry) error {
		e.Gone = slices.DeleteFunc(e.Gone, func(g gone) bool { return slices.Contains(removed, g) })
		return nil
	})
}
