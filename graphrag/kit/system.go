// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
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
	// writing is the lock of writers. It is a channel so that waiting can be cancelled.
	writing chan struct{}
	// now is the state that readers see: nil before Index and after Close.
	now  atomic.Pointer[state]
	turn sync.RWMutex // held while now changes, so that no reader acquires a state being released
	paid *replies

	queue sync.Mutex
	waits []*waiting // for their turn

	tables *tables // nil: in memory

	saving sync.Mutex
	saved  savepoint // the last one, if it counts
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

// Frame returns a copy of what the system was made of, to make another one around it.
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

// Insert adds documents; one with an existing ID replaces that document. The answers are the same as from an index that is built from
// scratch. Models are asked about new chunks, and rules read these and the few chunks in which a word has changed its meaning. A flat
// system ([Frame].Flat) takes time for new chunks alone (less than a millisecond for a note), any other rebuilds the rest of its index
// (3,000 notes: .2 s), so insert many at once. Changes that wait for another one are made together, in one build whose statistics each
// of them returns. Questions meanwhile are answered from the state before.
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

// waiting is a change that waits for its turn, or is made together with another.
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
		<-w.done // it is being made
	}
	if w.err != nil {
		return s.failed(what, w.err)
	}
	return w.stats, nil
}

// together makes all changes that wait in one build, unless w was made in the turn of another. If
// that fails each is made alone, so that none fails for another.
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
		defer close(x.done) // after a panic too: others wait
	}
	all = slices.DeleteFunc(all, func(x *waiting) bool {
		err := x.ctx.Err()
		if err != nil {
			x.err = err // given up before it began
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

var errTogether = errors.New("a change that was made together with this one did not end")

// replace builds a state from scratch, reusing the given replies, once no other change is running.
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

// make builds a new state aside and replaces the old one. If anything fails the old state
// stays; replies of models until then stay cached.
func (s *System) make(ctx context.Context, d *draft) (stats graphrag.IndexStats, err error) {
	ctx, meter := metering.WithMeter(metering.WithStage(ctx, "index"))
	if s.paid.many(d.docs.chunks) {
		d.from = nil // a build from scratch uses the current replies, and the others are dropped
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

// named is the name of the system in a trace.
func (s *System) named() slog.Attr { return slog.String("wildgraph.system", s.frame.Name) }

// manyReplies is the number of unused replies, and of unsaved changes, that is tolerated.
const manyReplies = 1 << 12

// show makes a state, or none, visible to readers.
func (s *System) show(next *state) error {
	s.turn.Lock()
	old := s.now.Swap(next)
	s.turn.Unlock()
	return old.release()
}

// acquire returns the visible state, to be released; nil if there is none.
func (s *System) acquire() *state {
	s.turn.RLock()
	defer s.turn.RUnlock()
	now := s.now.Load()
	if now != nil {
		now.refs.Add(1)
	}
	return now
}

// Graph returns the knowledge graph of all documents, see [System.GraphFor]; nil before Index,
// for systems without one, and where it cannot be made of what is in a store.
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

// Retrieve returns the evidence for a question, within its budget; of a question without one
// ([graphrag.Question].K), [graphrag.DefaultK] chunks, or, where a model answers, as many as have
// 2,000 tokens if these are more, and twice as much for an overview. With a condition, or under a scope ([graphrag.WithScope]), it is what a system over the
// permitted documents alone returns: the first such question waits until their index is
// built, which may ask models, as far as a recipe describes its graph by them.
func (s *System) Retrieve(ctx context.Context, q graphrag.Question) (found graphrag.Found, err error) {
	now := s.acquire()
	if now != nil {
		defer now.release()
	}
	return s.retrieve(ctx, now, s.frame.Kit.amount(q))
}

// retrieve searches a state, nil before Index.
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
		return graphrag.Found{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	defer seen.release()
	found, err = seen.retriever.Retrieve(ctx, seen.deepen(q))
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	found.Usage = found.Usage.Add(meter.Usage())
	return s.within(q, found), nil
}

// within cuts a result to the depth and the budget, and fills it up to the floor.
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

// Answer searches and reads.
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

// answers retrieves, reads, and completes the answers of the reader.
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

// Encode computes ahead of time the vectors that the retriever would compute on demand. It stops when ctx ends and keeps
// the vectors that it has. Other retrievers are left as they are.
func (s *System) Encode(ctx context.Context) error {
	now := s.acquire()
	if now == nil {
		return nil
	}
	defer now.release()
	type lazy interface{ Encode(context.Context) error }
	l, ok := now.retriever.(lazy)
	if !ok {
		l, ok = now.updater.(lazy) // the retriever reranks the results of this one
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

// mostSources bounds the passages of one fact or report that a sentence is compared with.
const mostSources = 1000

// sourced adds to an answer the passages that its cited facts and reports were made from: for
// each citation the passage with the most words of the sentence, the first of equal ones.
func (s *state) sourced(ctx context.Context, a graphrag.Answer) (graphrag.Answer, error) {
	at := make(map[string]int) // in Sources, by ID of the chunk
	for _, c := range slices.Clip(a.Citations) {
		if c.Of != graphrag.OfDerived {
			continue
		}
		chunk, ok, err := s.nearest(ctx, a.Derived[c.Evidence].Provenance, a.Text[c.Start:c.End])
		if err != nil {
			return a, err
		}
		if !ok {
			continue
		}
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

// nearest returns the chunk of a provenance with the most words of a sentence.
func (s *state) nearest(ctx context.Context, from graphrag.Provenance, sentence string) (best graphrag.Chunk, ok bool, err error) {
	wanted, most := text.Default().Terms(sentence), -1
	compared := 0
	for _, doc := range from.Docs {
		chunks, _, err := s.get(ctx, doc)
		if err != nil {
			return best, false, err
		}
		for _, c := range chunks {
			if _, among := slices.BinarySearch(from.Chunks, c.ID); !among || compared == mostSources {
				continue
			}
			compared++
			terms := text.Default().Terms(strings.Join([]string{c.Title, c.Text}, "\n"))
			slices.Sort(terms)
			shared := 0
			for _, t := range wanted {
				if _, has := slices.BinarySearch(terms, t); has {
					shared++
				}
			}
			if shared > most {
				best, most, ok = c, shared, true
			}
		}
	}
	return best, ok, nil
}
