// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// System is a [graphrag.System] made of a [Frame].
type System struct {
	frame Frame
	// writing is the lock of changes. It is a channel so that waiting for it can be cancelled.
	writing chan struct{}
	// now is the state that questions use: nil before Index and after Close.
	now  atomic.Pointer[state]
	turn sync.RWMutex // locked while now changes, so that no question acquires a state that is being released
	paid *replies

	queue sync.Mutex
	waits []*waiting // changes that have not begun

	tables *tables // nil if the system is in memory

	saving sync.Mutex
	saved  savepoint // position of the last successful Save
}

var (
	_ graphrag.System   = (*System)(nil)
	_ graphrag.Streamer = (*System)(nil)
)

// New checks a frame and returns its system.
func New(f Frame) (*System, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return &System{frame: f, writing: make(chan struct{}, 1), paid: newReplies()}, nil
}

// Frame returns a copy of the frame of the system, from which a similar one can be made.
func (s *System) Frame() Frame { return s.frame }

// Name is the name of the frame.
func (s *System) Name() string { return s.frame.Name }

// Index builds the system from scratch.
func (s *System) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (_ graphrag.IndexStats, err error) {
	ctx, span := trace.Start(s.frame.Kit.Prompts.With(ctx), "index", s.named())
	defer func() { span.End(err) }()
	if s.tables != nil {
		return s.changed(ctx, "index", true, docs, nil)
	}
	d, err := newDraft(s.frame)
	if err != nil {
		return s.failed("index", err)
	}
	u, err := s.frame.update(ctx, docs, nil)
	if err != nil {
		return s.failed("index", err)
	}
	d.take(u)
	return s.replace(ctx, "index", d, newReplies())
}

// Insert adds documents; one with an existing ID replaces that document. Answers are the same as with an index
// that is built from scratch. Models are asked about new chunks only; rules read these and the few chunks in
// which a word has changed its meaning. In a flat system ([Frame].Flat) the time depends on the new chunks
// alone (less than a millisecond for a note). Other systems rebuild the rest of the index (3,000 notes: .2 s),
// so insert many documents in one call. Changes that wait for a running one are made together, in one build,
// and each returns the statistics of that build. Questions are answered from the old state until the new one is
// complete.
func (s *System) Insert(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return s.update(ctx, "insert", docs, nil)
}

// Delete removes documents. Unknown IDs change nothing.
func (s *System) Delete(ctx context.Context, ids ...string) (graphrag.IndexStats, error) {
	return s.update(ctx, "delete", nil, ids)
}

// Update is Delete and Insert with one build. docs may be nil.
func (s *System) Update(ctx context.Context, docs iter.Seq2[graphrag.Document, error], deleted ...string) (graphrag.IndexStats, error) {
	return s.update(ctx, "update", docs, deleted)
}

// waiting is a change that waits for a running one, and may be made together with others.
type waiting struct {
	ctx   context.Context
	of    *update
	stats graphrag.IndexStats
	err   error
	done  chan struct{}
}

func (s *System) update(ctx context.Context, what string, docs iter.Seq2[graphrag.Document, error], deleted []string) (_ graphrag.IndexStats, err error) {
	ctx, span := trace.Start(s.frame.Kit.Prompts.With(ctx), what, s.named())
	defer func() { span.End(err) }()
	if s.tables != nil {
		return s.changed(ctx, what, false, docs, deleted)
	}
	u, err := s.frame.update(ctx, docs, deleted)
	if err != nil {
		return s.failed(what, err)
	}
	w := &waiting{ctx: ctx, of: u, done: make(chan struct{})}
	s.queue.Lock()
	s.waits = append(s.waits, w)
	s.queue.Unlock()
	select {
	case s.writing <- struct{}{}:
		func() {
			defer func() { <-s.writing }()
			s.together(w)
		}()
	case <-w.done:
	case <-ctx.Done():
		s.queue.Lock()
		at := slices.Index(s.waits, w)
		if at >= 0 {
			s.waits = slices.Delete(s.waits, at, at+1)
		}
		s.queue.Unlock()
		if at >= 0 {
			return s.failed(what, ctx.Err())
		}
		<-w.done // another goroutine is making the change
	}
	if w.err != nil {
		return s.failed(what, w.err)
	}
	return w.stats, nil
}

// together makes all waiting changes in one build, unless w was already made together with others. If the build
// fails, each change is made alone, so that none fails because of another.
func (s *System) together(w *waiting) {
	s.queue.Lock()
	all := s.waits
	if !slices.Contains(all, w) {
		all = nil
	} else {
		s.waits = nil
	}
	s.queue.Unlock()
	for _, x := range all {
		x.err = errTogether
		defer close(x.done) // deferred, since others wait even if the build panics
	}
	all = slices.DeleteFunc(all, func(x *waiting) bool {
		err := x.ctx.Err()
		if err != nil {
			x.err = err // cancelled before it began
		}
		return err != nil
	})
	run := func(ctx context.Context, some ...*waiting) (graphrag.IndexStats, error) {
		now := s.now.Load()
		if now == nil {
			return graphrag.IndexStats{}, errors.New("nothing is indexed yet: call Index or Open first")
		}
		d := now.draft()
		for _, x := range some {
			d.take(x.of)
		}
		return s.make(ctx, d)
	}
	if len(all) > 1 {
		if stats, err := run(w.ctx, all...); err == nil {
			for _, x := range all {
				x.stats, x.err = stats, nil
			}
			return
		}
	}
	for _, x := range all {
		x.stats, x.err = run(x.ctx, x)
	}
}

var errTogether = errors.New("another change in the same build panicked: make this change again")

// replace builds a state from scratch when no other change is running. It adds the given replies to the cache.
func (s *System) replace(ctx context.Context, what string, d *draft, paid *replies) (graphrag.IndexStats, error) {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return s.failed(what, ctx.Err())
	}
	s.paid.add(paid)
	stats, err := s.make(ctx, d)
	if err != nil {
		return s.failed(what, err)
	}
	return stats, nil
}

func (s *System) failed(what string, err error) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, fmt.Errorf("%s: %s: %w", s.frame.Name, what, err)
}

// make builds a new state, and then replaces the old one. After a failure the old state stays, and the replies
// of models up to then stay cached.
func (s *System) make(ctx context.Context, d *draft) (stats graphrag.IndexStats, err error) {
	ctx, meter := metering.WithMeter(metering.WithStage(ctx, "index"))
	if s.paid.many(d.docs.chunks) {
		d.from = nil // a build from scratch marks the replies that it uses, so that the others can be removed
	}
	if d.from == nil {
		s.paid.begin()
	}
	next, err := d.build(s.paid.with(ctx), s.frame)
	if err != nil {
		return stats, err
	}
	if d.from == nil {
		s.paid.prune()
	}
	s.paid.made.Turn()
	stats = next.stats
	stats.Usage = meter.Usage()
	return stats, s.show(next)
}

// named returns the attribute of a trace with the name of the system.
func (s *System) named() slog.Attr { return slog.String("wildgraph.system", s.frame.Name) }

// manyReplies is the number of unused replies, and of unsaved changes, up to which they are kept.
const manyReplies = 1 << 12

// show makes a state visible to questions, or none if next is nil.
func (s *System) show(next *state) error {
	s.turn.Lock()
	old := s.now.Swap(next)
	s.turn.Unlock()
	return old.release()
}

// acquire returns the visible state, which the caller releases; nil if there is none.
func (s *System) acquire() *state {
	s.turn.RLock()
	defer s.turn.RUnlock()
	now := s.now.Load()
	if now != nil {
		now.refs.Add(1)
	}
	return now
}

// Graph returns the knowledge graph of all documents (see [System.GraphFor]). It is nil before Index, for
// systems without a graph, and if it cannot be read from the store.
func (s *System) Graph() *kg.Graph {
	g, _ := s.GraphFor(context.Background(), nil)
	return g
}

// List returns the IDs of the documents that are indexed, in order.
func (s *System) List(ctx context.Context) ([]string, error) {
	now := s.acquire()
	if now == nil {
		return nil, nil
	}
	defer now.release()
	if now.pinned != nil {
		return now.pinned.list(ctx)
	}
	return now.docs.docs.Keys(), nil
}

// Get returns the chunks of a document, in order, and whether it is indexed.
func (s *System) Get(ctx context.Context, id string) (chunks []graphrag.Chunk, ok bool, err error) {
	now := s.acquire()
	if now == nil {
		return nil, false, nil
	}
	defer now.release()
	return now.get(ctx, id)
}

// Retrieve returns the evidence for a question, within the budget of the question. Without a budget
// ([graphrag.Question].K) it returns [graphrag.DefaultK] chunks; if a model answers, it returns more chunks if
// these have fewer than 2,000 tokens, and twice as much for an overview. With a condition, or under a scope
// ([graphrag.WithScope]), the result is the same as with a system over the permitted documents alone. The first
// such question waits until their index is built; this asks models if the recipe describes its graph by models.
func (s *System) Retrieve(ctx context.Context, q graphrag.Question) (found graphrag.Found, err error) {
	now := s.acquire()
	if now != nil {
		defer now.release()
	}
	return s.retrieve(ctx, now, s.frame.Kit.amount(q))
}

// retrieve searches a state; a nil state, before Index, is an error.
func (s *System) retrieve(ctx context.Context, now *state, q amount) (found graphrag.Found, err error) {
	ctx, span := trace.Start(s.frame.Kit.Prompts.With(ctx), "retrieve", s.named())
	defer func() {
		span.Set(slog.Int("wildgraph.hits", len(found.Ranked)), slog.Int("wildgraph.steps", len(found.Steps)))
		span.End(err)
	}()
	if now == nil {
		return graphrag.Found{}, fmt.Errorf("%s: asked before Index: nothing is indexed yet", s.frame.Name)
	}
	ctx, meter := metering.WithMeter(metering.WithStage(newReplies().with(ctx), "retrieve"))
	seen, err := s.seen(ctx, now, q.Question)
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("%s: select documents: %w", s.frame.Name, err)
	}
	defer seen.release()
	found, err = seen.retriever.Retrieve(ctx, seen.deepen(q))
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("%s: retrieve: %w", s.frame.Name, err)
	}
	found.Usage = found.Usage.Add(meter.Usage())
	return s.within(q, found), nil
}

// within limits a result to the depth and the budget of a question, and fills it up to the floor.
func (s *System) within(q amount, found graphrag.Found) graphrag.Found {
	if q.Tokens > 0 && found.Evidence == nil {
		found.Evidence = found.Ranked
	}
	found.Evidence = found.Read(q.Question)
	if len(found.Evidence) == q.K {
		found.Evidence = q.fill(found, s.frame.Kit.Count)
	}
	if q.Tokens > 0 {
		found.Evidence, found.Derived = retrieve.Fit(found.Evidence, found.Derived, q.Tokens, s.frame.Kit.Count)
	}
	if found.Ranked != nil {
		found.Ranked = found.Ranked[:min(max(q.Want(), len(found.Evidence)), len(found.Ranked))]
	}
	return found
}

// Answer retrieves evidence, and reads the answer from it.
func (s *System) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	var last graphrag.Answer
	for a, err := range s.answers(ctx, q, func(ctx context.Context, q graphrag.Question, found graphrag.Found) iter.Seq2[graphrag.Answer, error] {
		return oneAnswer(s.frame.Kit.Read.Read(ctx, q, found.Evidence, found.Derived))
	}) {
		if err != nil {
			return graphrag.Answer{}, err
		}
		last = a
	}
	return last, nil
}

// Stream is Answer with partial answers, if the kit's reader can stream.
func (s *System) Stream(ctx context.Context, q graphrag.Question) iter.Seq2[graphrag.Answer, error] {
	return s.answers(ctx, q, func(ctx context.Context, q graphrag.Question, found graphrag.Found) iter.Seq2[graphrag.Answer, error] {
		return reader.Stream(ctx, s.frame.Kit.Read, q, found.Evidence, found.Derived)
	})
}

func oneAnswer(a graphrag.Answer, err error) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) { yield(a, err) }
}

// answers retrieves evidence, calls read, and completes the answers that read returns.
func (s *System) answers(ctx context.Context, q graphrag.Question, read func(context.Context, graphrag.Question, graphrag.Found) iter.Seq2[graphrag.Answer, error]) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		ctx, span := trace.Start(s.frame.Kit.Prompts.With(ctx), "answer", s.named())
		asked := s.frame.Kit.amount(q)
		now := s.acquire()
		if now != nil {
			defer now.release()
		}
		found, err := s.retrieve(ctx, now, asked)
		defer func() { span.End(err) }()
		if err != nil {
			yield(graphrag.Answer{}, err)
			return
		}
		if found.Declined {
			ctx = reader.Declined(ctx)
		}
		ctx, reading := trace.Start(ctx, "read", slog.Int("wildgraph.passages", len(found.Evidence)), slog.Int("wildgraph.derived", len(found.Derived)))
		defer func() { reading.End(err) }()
		var a graphrag.Answer
		for a, err = range read(ctx, asked.Question, found) {
			a.Ranked, a.Steps = found.Ranked, found.Steps
			a.Usage = a.Usage.Add(found.Usage)
			if err == nil {
				a, err = now.sourced(ctx, a)
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// Encode computes in advance the vectors that the retriever would compute on demand. It stops when ctx ends,
// and keeps the vectors computed up to then. For a retriever without such vectors it does nothing.
func (s *System) Encode(ctx context.Context) error {
	now := s.acquire()
	if now == nil {
		return nil
	}
	defer now.release()
	type lazy interface{ Encode(context.Context) error }
	l, ok := now.retriever.(lazy)
	if !ok {
		l, ok = now.updater.(lazy) // the retriever reranks the results of the updater
	}
	if !ok {
		return nil
	}
	return l.Encode(ctx)
}

// Close releases the index. It waits for a running change.
func (s *System) Close() error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.paid = newReplies()
	return s.show(nil)
}

// mostSources limits the passages of one fact or report that are compared with a sentence.
const mostSources = 1000

// sourced adds to an answer the passages from which its cited facts and reports were made: for each citation
// the passage with the most words of the sentence, the first one of several.
func (s *state) sourced(ctx context.Context, a graphrag.Answer) (graphrag.Answer, error) {
	at, of := make(map[string]int), make(map[int][]graphrag.Chunk) // index in Sources by ID of the chunk, chunks by index in Derived
	terms := make(map[string]map[string]bool)                      // terms by ID of the chunk
	for _, c := range slices.Clip(a.Citations) {
		if c.Of != graphrag.OfDerived {
			continue
		}
		if _, ok := of[c.Evidence]; !ok {
			ids := a.Derived[c.Evidence].Provenance.Chunks
			chunks, err := s.chunks(ctx, ids[:min(len(ids), mostSources)])
			if err != nil {
				return a, err
			}
			of[c.Evidence] = chunks
		}
		if len(of[c.Evidence]) == 0 {
			continue
		}
		chunk := closest(of[c.Evidence], a.Text[c.Start:c.End], terms)
		n, listed := at[chunk.ID]
		if !listed {
			n = len(a.Sources)
			at[chunk.ID] = n
			a.Sources = append(a.Sources, graphrag.Hit{Chunk: chunk, Source: a.Derived[c.Evidence].Kind})
		}
		a.Citations = append(slices.Clip(a.Citations), graphrag.Citation{Start: c.Start, End: c.End, Of: graphrag.OfSource, Evidence: n})
	}
	return a, nil
}

// closest returns the chunk that has the most words of a sentence, and caches the terms of chunks by their IDs.
func closest(chunks []graphrag.Chunk, sentence string, terms map[string]map[string]bool) graphrag.Chunk {
	best, most := chunks[0], -1
	if len(chunks) == 1 {
		return best
	}
	wanted := text.Default().Terms(sentence)
	for _, c := range chunks {
		if terms[c.ID] == nil {
			terms[c.ID] = make(map[string]bool)
			for _, t := range text.Default().Terms(c.Title + "\n" + c.Text) {
				terms[c.ID][t] = true
			}
		}
		shared := 0
		for _, t := range wanted {
			if terms[c.ID][t] {
				shared++
			}
		}
		if shared > most {
			best, most = c, shared
		}
	}
	return best
}
