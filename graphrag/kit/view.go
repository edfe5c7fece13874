// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// A question with a condition, or under a scope, is answered by a view: the system built from
// the documents that meet them, and from nothing else. So what is found and answered is what
// an index of these documents alone gives, for every system: no description, report, walk,
// tree or rarity of a word comes from another document. A view is built at its first question,
// from chunks and extractions that are there, and kept for the next ones.

// Bounds of the views that are kept: so many, and together with so many times the chunks of
// the whole index. The one that was asked last is always kept.
const (
	maxViews     = 64
	maxViewTimes = 2
)

// views are those of one state; the one that was asked last stands last in order.
type views struct {
	mu    sync.Mutex
	made  map[[sha256.Size]byte]*view
	order [][sha256.Size]byte
}

// view is a state of some documents, or one that is being built.
type view struct {
	done  chan struct{} // closed when it is built, or failed
	state *state        // nil if it failed
	err   error
}

// seen returns the state that a question sees, to be released: that of the documents which
// the scope of ctx permits and which meet q.Where.
func (s *System) seen(ctx context.Context, now *state, q graphrag.Question) (*state, error) {
	permits := graphrag.ScopeOf(ctx)
	if permits == nil && q.Where == nil || s.frame.Blind {
		now.refs.Add(1)
		return now, nil
	}
	docs := now.docs
	if permits != nil {
		docs = some(docs, permits)
	}
	if q.Where != nil {
		if err := checkFields(docs, *q.Where); err != nil {
			return nil, err
		}
		docs = some(docs, q.Where.Compile())
	}
	if len(docs) == len(now.docs) {
		now.refs.Add(1)
		return now, nil
	}
	return s.view(ctx, now, docs)
}

// some returns the documents whose fields meet a condition. Those without a chunk have
// nothing to be seen.
func some(docs map[string][]graphrag.Chunk, meets func(graphrag.Fields) bool) map[string][]graphrag.Chunk {
	out := make(map[string][]graphrag.Chunk)
	for id, chunks := range docs {
		if len(chunks) > 0 && meets(chunks[0].Fields) {
			out[id] = chunks
		}
	}
	return out
}

// checkFields reports a field that no document has.
func checkFields(docs map[string][]graphrag.Chunk, where graphrag.Condition) error {
	if len(docs) == 0 {
		return nil
	}
	all := map[string]bool{}
	for _, chunks := range docs {
		if len(chunks) > 0 {
			for name := range chunks[0].Fields {
				all[name] = true
			}
		}
	}
	missing := slices.DeleteFunc(where.Names(), func(name string) bool { return all[name] })
	if len(missing) == 0 {
		return nil
	}
	have := slices.Sorted(maps.Keys(all))
	if len(have) > maxNames {
		have = append(have[:maxNames], "…")
	}
	return fmt.Errorf("%w: no document has the field %.80q; the fields are %s", ErrField, missing[0], strings.Join(have, ", "))
}

// maxNames is how many fields an error lists.
const maxNames = 20

// ErrField is wrapped by the errors about a condition on a field that no document has.
var ErrField = errors.New("unknown field")

// view returns the state of some documents, to be released. It is built once, whoever asks;
// if the one who builds it is cancelled, the next one does.
func (s *System) view(ctx context.Context, now *state, docs map[string][]graphrag.Chunk) (*state, error) {
	h := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(docs)) {
		fmt.Fprintf(h, "%d %s", len(id), id)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	for {
		v, mine := now.views.get(key)
		if mine {
			st, err := s.build(ctx, now, docs)
			now.views.built(key, v, st, err, len(now.shortest))
		}
		select {
		case <-v.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case v.state != nil && v.state.acquire():
			return v.state, nil
		case mine && v.err != nil:
			return nil, v.err
		}
	}
}

// build makes the state of some documents of another, in memory.
func (s *System) build(ctx context.Context, now *state, docs map[string][]graphrag.Chunk) (*state, error) {
	d := &draft{docs: docs, frame: s.frame}
	if now.base != nil {
		d.base = now.base.Clone()
		for id := range now.docs {
			if docs[id] == nil {
				d.base.Delete(id)
			}
		}
	}
	f := s.frame
	f.Progress = nil
	if f.Kit.Place.Store != nil { // as the store compares
		f.Kit.Place, f.Kit.Find = Place{}, ByVectors
	}
	return d.build(s.paid.with(llm.WithStage(ctx, "index")), f)
}

// get returns a view, and whether the caller is to build it.
func (v *views) get(key [sha256.Size]byte) (_ *view, mine bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.made == nil {
		v.made = make(map[[sha256.Size]byte]*view)
	}
	got := v.made[key]
	if got == nil {
		got, mine = &view{done: make(chan struct{})}, true
		v.made[key] = got
	}
	v.order = append(slices.DeleteFunc(v.order, func(k [sha256.Size]byte) bool { return k == key }), key)
	return got, mine
}

// built makes a view known to those who wait for it, and drops those that were not asked for
// longest. One that failed is forgotten.
func (v *views) built(key [sha256.Size]byte, made *view, st *state, err error, whole int) {
	v.mu.Lock()
	made.state, made.err = st, err
	close(made.done)
	if err != nil {
		v.drop(key)
	}
	chunks := 0
	for _, k := range v.order {
		if of := v.made[k].state; of != nil {
			chunks += len(of.shortest)
		}
	}
	var gone []*state
	for _, k := range slices.Clone(v.order) {
		if of := v.made[k].state; of != nil && k != key && (len(v.order) > maxViews || chunks > maxViewTimes*whole) {
			chunks -= len(of.shortest)
			gone = append(gone, v.drop(k))
		}
	}
	v.mu.Unlock()
	for _, st := range gone {
		_ = st.release() // in memory: nothing can fail to be closed
	}
}

// drop forgets a view and returns its state.
func (v *views) drop(key [sha256.Size]byte) *state {
	st := v.made[key].state
	delete(v.made, key)
	v.order = slices.DeleteFunc(v.order, func(k [sha256.Size]byte) bool { return k == key })
	return st
}

// close releases all views; nobody asks any more.
func (v *views) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, made := range v.made {
		if made.state != nil {
			_ = made.state.release()
		}
	}
}

// GraphFor returns the knowledge graph that a question sees: that of the documents which
// the scope of ctx permits and which meet where. It is nil before Index and for systems
// without one.
func (s *System) GraphFor(ctx context.Context, where *graphrag.Condition) (*kg.Graph, error) {
	now := s.acquire()
	if now == nil {
		return nil, nil
	}
	defer now.release()
	seen, err := s.seen(ctx, now, graphrag.Question{Where: where})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	defer seen.release()
	return seen.graph, nil
}
