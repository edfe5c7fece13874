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

// A question with a condition, or under a scope, is answered by a view: a system built only from the documents
// that the condition and the scope permit. So results and answers are the same as with an index of these
// documents alone, for every system: no description, report, path, tree or rarity of a word comes from another
// document. A view is built at its first question, from stored chunks and extractions, and cached. The view of
// a flat system is the index of all documents, limited to the permitted ones, and counts words in these alone.

// maxViews and maxViewTimes limit the cached views by number and by their chunks in all, as a multiple of the
// index; maxTexts limits the cached texts of conditions. The view that was used last is always cached.
const (
	maxViews     = 64
	maxViewTimes = 2
	maxTexts     = 4096
)

// viewKey identifies a set of documents.
type viewKey [sha256.Size]byte

// allDocs identifies the set of all documents.
var allDocs viewKey

// views are the views of one state. order lists them by their last use, the most recent one last.
type views struct {
	mu    sync.Mutex
	texts map[string]viewKey // documents that meet a condition, by its text
	made  map[viewKey]*view
	order []viewKey
}

// key returns the set of documents that meet a condition. It is known if it was computed before, and is the set
// of all documents or has a view.
func (v *views) key(text string) (key viewKey, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key, ok := v.texts[text]
	return key, ok && (key == allDocs || v.made[key] != nil)
}

// ask stores the set of documents that meet a condition.
func (v *views) ask(text string, key viewKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.texts == nil || len(v.texts) >= maxTexts {
		v.texts = make(map[string]viewKey)
	}
	v.texts[text] = key
}

// view is the state of a set of documents, which may still be under construction.
type view struct {
	done  chan struct{} // closed when building has ended, also with an error
	state *state        // nil if building failed
	err   error
}

// seen returns the state for a question, which the caller releases: it contains the documents that the scope of
// ctx permits and that meet q.Where.
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
	// The lengths keep a condition from being read as part of a scope, and no scope differs from an empty one.
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
				c, err := now.pinned.content(ctx, permitted.Compile(), !s.frame.Extract.Whole)
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

// permits returns the condition that combines a scope and a condition. A field in the condition that no
// document in scope has is an error.
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

// conditions returns the condition of a scope, and its conjunction with the condition of a question.
func conditions(scope *graphrag.Scope, where *graphrag.Condition) (inScope, permitted graphrag.Condition, err error) {
	if scope != nil {
		if err := scope.Check(); err != nil {
			return inScope, inScope, fmt.Errorf("the condition of graphrag.WithScope: %w", err)
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

// keyOfDocs returns a digest of the IDs of some documents, allDocs if they have all chunks of the state.
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

// subset returns the documents whose fields meet a condition. Documents without a chunk are left out: they
// cannot be found.
func subset(docs *library, meets func(graphrag.Fields) bool) *library {
	out := newLibrary()
	for id, chunks := range docs.all() {
		if len(chunks) > 0 && meets(chunks[0].Fields) {
			out.put(id, chunks)
		}
	}
	return out
}

// checkFields returns an error if no document in scope has one of the fields.
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

// maxNames is the number of fields that an error lists.
const maxNames = 20

// view returns the state of a set of documents, which the caller releases; nil means that the caller has to ask
// again. Concurrent callers build a view once; if the caller that builds it is cancelled, the next one does.
func (s *System) view(ctx context.Context, now *state, key viewKey, build func() (*state, error)) (*state, error) {
	v, mine := now.views.get(key, build != nil)
	if v == nil {
		return nil, nil
	}
	if mine {
		st, err := (*state)(nil), errors.New("the index of the permitted documents could not be built")
		func() {
			defer func() { now.views.built(key, v, st, err, now.stats.Chunks) }() // deferred, since others wait even if build panics
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

// limitedShare is the ratio of the memory of a view with an index of its own to the memory of a view that
// limits the index of all documents.
const limitedShare = 64

// limited returns the state of a retriever that is limited to some documents.
func (s *System) limited(now *state, r graphrag.Retriever) *state {
	st := &state{docs: now.docs, retriever: s.frame.reranked(r)}
	st.stats.Chunks = now.stats.Chunks / limitedShare
	st.refs.Store(1)
	return st
}

// build makes the state of some documents: from c, their content in a store, or else from docs.
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
		d.base.Delete(others...) // in one call, since each call reads all extractions
	}
	return trace.Do(ctx, "index what is permitted", func(ctx context.Context) (*state, error) {
		return d.build(s.paid.copy().with(metering.WithStage(ctx, "index")), f) // a copy: what is saved must not depend on who asks questions
	}, s.named(), slog.Int("wildgraph.documents", docs.docs.Len()))
}

// get returns a view, and whether the caller has to build it. It is nil if there is no view and the caller
// cannot build one.
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

// built gives a view to the callers that wait for it, and removes the least recently used views above the
// limits. A view that failed is removed too.
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
		_ = st.release() // an error leaves at most temporary files
	}
}

// drop removes a view and returns its state.
func (v *views) drop(key viewKey) *state {
	st := v.made[key].state
	delete(v.made, key)
	v.order = slices.DeleteFunc(v.order, func(k viewKey) bool { return k == key })
	return st
}

// close releases all views as soon as no question uses them.
func (v *views) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, made := range v.made {
		if made.state != nil {
			_ = made.state.release()
		}
	}
}

// GraphFor returns the knowledge graph for a question: of the documents that the scope of ctx permits and that
// meet where. It is nil before Index and for systems without a graph.
func (s *System) GraphFor(ctx context.Context, where *graphrag.Condition) (*kg.Graph, error) {
	now := s.acquire()
	if now == nil {
		return nil, nil
	}
	defer now.release()
	seen, err := s.seen(ctx, now, graphrag.Question{Where: where})
	if err != nil {
		return nil, fmt.Errorf("%s: graph: %w", s.frame.Name, err)
	}
	defer seen.release()
	if seen.graph != nil || now.pinned == nil || s.frame.Extract.Extractor == nil {
		return seen.graph, nil
	}
	return s.graphOf(ctx, now.pinned, graphrag.ScopeOf(ctx), where)
}

// graphOf returns the graph of the permitted documents in a store.
func (s *System) graphOf(ctx context.Context, p *pinned, scope *graphrag.Scope, where *graphrag.Condition) (*kg.Graph, error) {
	_, permitted, err := conditions(scope, where)
	if err != nil {
		return nil, err
	}
	c, err := p.content(ctx, permitted.Compile(), true)
	if err != nil {
		return nil, err
	}
	f := s.frame
	f.Progress = nil
	f.Build = func(context.Context, *Corpus) (graphrag.Retriever, error) {
		return graphrag.RetrieverFunc(nil), nil
	}
	st, err := c.build(ctx, f, nil, scope == nil && where == nil)
	if err != nil {
		return nil, err
	}
	return st.graph, nil
}
