// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// A question with a condition, or under a scope, is answered by a view: the system built from the documents that meet
// them, and from nothing else. So what is found and answered is what an index of these documents alone gives, for every
// system: no description, report, walk, tree or rarity of a word comes from another document. A view is built at its
// first question, from chunks and extractions that are there, and kept for the next ones. Of a flat system it is the
// index of all, limited to the permitted documents, whose words alone are counted.

// maxViews and maxViewTimes bound the cached views by number and by total chunks, as a multiple of the index; maxTexts
// bounds the cached condition texts. The view that was used last is always cached.
const (
	maxViews     = 64
	maxViewTimes = 2
	maxTexts     = 4096
)

// viewKey names a set of documents.
type viewKey [sha256.Size]byte

// allDocs names all documents.
var allDocs viewKey

// views are the views of one state; the one that was used last is the last one in order.
type views struct {
	mu    sync.Mutex
	texts map[string]viewKey // of conditions that were asked before
	made  map[viewKey]*view
	order []viewKey
}

// key returns the documents that a condition was found to leave, if they are all, or their view is there or being
// built.
func (v *views) key(text string) (key viewKey, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key, ok := v.texts[text]
	return key, ok && (key == allDocs || v.made[key] != nil)
}

// ask keeps which documents a condition leaves.
func (v *views) ask(text string, key viewKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.texts == nil || len(v.texts) >= maxTexts {
		v.texts = make(map[string]viewKey)
	}
	v.texts[text] = key
}

// view is a state of some documents, or one that is being built.
type view struct {
	done  chan struct{} // closed when it is built, or failed
	state *state        // nil if it failed
	err   error
}

// seen returns the state that a question sees, to be released: it contains the documents
// that the scope of ctx permits and that meet q.Where.
func (s *System) seen(ctx context.Context, now *state, q graphrag.Question) (*state, error) {
	scope := graphrag.ScopeOf(ctx)
	if scope == nil && q.Where == nil || s.frame.Blind {
		now.refs.Add(1)
		return now, nil
	}
	if now.pinned != nil && !s.tables.built {
		permitted, err := permits(ctx, now, scope, q.Where)
		if err != nil {
			return nil, err
		}
		st := &state{docs: now.docs}
		st.retriever, err = s.stored(now.pinned, permitted)
		st.refs.Store(1)
		return st, err
	}
	var limits, where string
	if scope != nil {
		limits = scope.String()
	}
	if q.Where != nil {
		where = q.Where.String()
	}
	// No where is taken for a part of another scope, and no scope for none.
	text := fmt.Sprintf("%t %d %s%s", scope != nil, len(limits), limits, where)
	for {
		key, known := now.views.key(text)
		var build func() (*state, error)
		if !known {
			permitted, err := permits(ctx, now, scope, q.Where)
			if err != nil {
				return nil, err
			}
			if l, ok := now.updater.(retrieve.Limiter); ok {
				key = sha256.Sum256([]byte(text))
				build = func() (*state, error) { return s.limited(now, l.Limit(text, permitted)), nil }
			} else if now.pinned != nil {
				c, err := now.pinned.content(ctx, permitted.Compile())
				if err != nil {
					return nil, err
				}
				key = keyOfDocs(c.docs, now)
				build = func() (*state, error) { return s.build(ctx, now, nil, c) }
			} else {
				docs := subset(now.docs, permitted.Compile())
				key = keyOfDocs(docs, now)
				build = func() (*state, error) { return s.build(ctx, now, docs, nil) }
			}
			now.views.ask(text, key)
		}
		if key == allDocs {
			now.refs.Add(1)
			return now, nil
		}
		st, err := s.view(ctx, now, key, build)
		if st != nil || err != nil {
			return st, err
		}
	}
}

// permits returns the condition that documents meet which a scope and a condition permit.
// A condition on a field that no document in scope has is an error.
func permits(ctx context.Context, now *state, scope *graphrag.Scope, where *graphrag.Condition) (graphrag.Condition, error) {
	inScope, permitted, err := conditions(scope, where)
	switch {
	case err != nil || where == nil:
	case now.pinned != nil:
		err = now.pinned.checkFields(ctx, inScope, where.Names())
	default:
		err = checkFields(now.docs, inScope.Compile(), where.Names())
	}
	return permitted, err
}

// conditions returns the condition of the scope, and the condition of the documents that a scope and
// a condition permit.
func conditions(scope *graphrag.Scope, where *graphrag.Condition) (inScope, permitted graphrag.Condition, err error) {
	if scope != nil {
		if err := scope.Check(); err != nil {
			return inScope, inScope, fmt.Errorf("the scope of the caller: %w", err)
		}
		inScope = scope.Condition()
	}
	if where == nil {
		return inScope, inScope, nil
	}
	if err := where.Check(); err != nil {
		return inScope, inScope, fmt.Errorf("the condition of the question: %w", err)
	}
	return inScope, graphrag.And(inScope, *where), nil
}

// keyOfDocs is the digest of the IDs of some documents, allDocs if they have all chunks.
func keyOfDocs(docs *library, all *state) viewKey {
	if docs.chunks == all.stats.Chunks {
		return allDocs
	}
	h := sha256.New()
	for id := range docs.all() {
		fmt.Fprintf(h, "%d %s", len(id), id)
	}
	return viewKey(h.Sum(nil))
}

// subset returns the documents whose fields meet a condition. Those without a chunk have nothing to be seen.
func subset(docs *library, meets func(graphrag.Fields) bool) *library {
	out := newLibrary()
	for id, chunks := range docs.all() {
		if len(chunks) > 0 && meets(chunks[0].Fields) {
			out.put(id, chunks)
		}
	}
	return out
}

// checkFields reports a field that no document in scope has, if there is one.
func checkFields(docs *library, inScope func(graphrag.Fields) bool, names []string) error {
	all, any := map[string]bool{}, false
	missing := slices.Clone(names)
	for _, chunks := range docs.all() {
		if len(missing) == 0 {
			return nil
		}
		if len(chunks) == 0 || !inScope(chunks[0].Fields) {
			continue
		}
		any = true
		for name := range chunks[0].Fields {
			if !all[name] {
				all[name] = true
				missing = slices.DeleteFunc(missing, func(of string) bool { return of == name })
			}
		}
	}
	if len(missing) == 0 || !any {
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

// view returns the state of some documents, to be released, nil if it has to be asked for again. Concurrent callers
// build it once; if the builder is cancelled, the next caller builds it.
func (s *System) view(ctx context.Context, now *state, key viewKey, build func() (*state, error)) (*state, error) {
	v, mine := now.views.get(key, build != nil)
	if v == nil {
		return nil, nil
	}
	if mine {
		st, err := (*state)(nil), errors.New("the index of the permitted documents could not be built")
		func() {
			defer func() { now.views.built(key, v, st, err, now.stats.Chunks) }() // after a panic too: others wait
			st, err = build()
		}()
	}
	select {
	case <-v.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case v.state != nil && v.state.acquire():
		return v.state, nil
	case mine:
		return nil, v.err
	}
	return nil, nil
}

// limitedShare is how much less than a view of its own index one takes that limits another.
const limitedShare = 64

// limited is the state of the documents that a retriever is limited to.
func (s *System) limited(now *state, r graphrag.Retriever) *state {
	st := &state{docs: now.docs, retriever: s.frame.reranked(r)}
	st.stats.Chunks = now.stats.Chunks / limitedShare
	st.refs.Store(1)
	return st
}

// build makes the state of some documents of another, or of the content that its store has of them.
func (s *System) build(ctx context.Context, now *state, docs *library, c *content) (*state, error) {
	f := s.frame
	f.Progress = nil
	if c != nil {
		st, err := c.build(ctx, f, now.source, false)
		if err == nil {
			st.strip()
		}
		return st, err
	}
	d := &draft{docs: docs}
	if now.base != nil {
		others := slices.DeleteFunc(now.docs.docs.Keys(), func(id string) bool { _, ok := docs.docs.Get(id); return ok })
		d.base = now.base.Clone()
		d.base.Delete(others...) // at once: each call reads all
	}
	return trace.Do(ctx, "index what is permitted", func(ctx context.Context) (*state, error) {
		return d.build(s.paid.copy().with(metering.WithStage(ctx, "index")), f) // what is saved does not depend on who asked
	}, s.named(), slog.Int("wildgraph.documents", docs.docs.Len()))
}

// get returns a view, and whether the caller is to build it. It is nil if it is not there and
// the caller cannot build it.
func (v *views) get(key viewKey, can bool) (_ *view, mine bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	got := v.made[key]
	if got == nil && !can {
		return nil, false
	}
	if got == nil {
		if v.made == nil {
			v.made = make(map[viewKey]*view)
		}
		got, mine = &view{done: make(chan struct{})}, true
		v.made[key] = got
	}
	v.order = append(slices.DeleteFunc(v.order, func(k viewKey) bool { return k == key }), key)
	return got, mine
}

// built makes a view known to those who wait for it, and drops those that were not asked for
// longest. One that failed is forgotten.
func (v *views) built(key viewKey, made *view, st *state, err error, whole int) {
	v.mu.Lock()
	made.state, made.err = st, err
	close(made.done)
	if err != nil {
		v.drop(key)
	}
	chunks := 0
	for _, k := range v.order {
		if of := v.made[k].state; of != nil {
			chunks += of.stats.Chunks
		}
	}
	var gone []*state
	for _, k := range slices.Clone(v.order) {
		if of := v.made[k].state; of != nil && k != key && (len(v.order) > maxViews || chunks > maxViewTimes*whole) {
			chunks -= of.stats.Chunks
			gone = append(gone, v.drop(k))
		}
	}
	v.mu.Unlock()
	for _, st := range gone {
		_ = st.release() // in memory: nothing can fail to be closed
	}
}

// drop forgets a view and returns its state.
func (v *views) drop(key viewKey) *state {
	st := v.made[key].state
	delete(v.made, key)
	v.order = slices.DeleteFunc(v.order, func(k viewKey) bool { return k == key })
	return st
}

// close releases all views when they are not used any more.
func (v *views) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, made := range v.made {
		if made.state != nil {
			_ = made.state.release()
		}
	}
}

// GraphFor returns the knowledge graph that a question sees: the graph of the documents that the scope of ctx permits
// and that meet where. It is nil before Index and for systems without one.
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
	if seen.graph != nil || now.pinned == nil || s.frame.Extract.Extractor == nil {
		return seen.graph, nil
	}
	return s.graphOf(ctx, now.pinned, graphrag.ScopeOf(ctx), where)
}

// graphOf makes the graph of permitted documents in a store.
func (s *System) graphOf(ctx context.Context, p *pinned, scope *graphrag.Scope, where *graphrag.Condition) (*kg.Graph, error) {
	_, permitted, err := conditions(scope, where)
	if err != nil {
		return nil, err
	}
	c, err := p.content(ctx, permitted.Compile())
	if err != nil {
		return nil, err
	}
	f := s.frame
	f.Build = func(context.Context, *Corpus) (graphrag.Retriever, error) {
		return graphrag.RetrieverFunc(nil), nil
	}
	st, err := c.build(ctx, f, nil, scope == nil && where == nil)
	if err != nil {
		return nil, err
	}
	return st.graph, nil
}
