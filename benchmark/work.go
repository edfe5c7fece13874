// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// state is a run in progress.
type state struct {
	*Runner
	opts     Options
	set      *Dataset          // selected questions, as they are asked
	settings map[string]string // system → digest of its settings
	log      *record.Log
	total    int
	cells    int

	// documents reads the documents of the current domain when first called; words and tokens count theirs.
	documents func() ([]graphrag.Document, error)
	words     func() (*wordCounts, error)
	tokens    func() (int64, error)

	mu      sync.Mutex // guards the counters; held while an event is reported
	begun   int
	done    int
	resumed int
}

// Run answers and judges every selected question without a record, and returns the records of all. After an
// error the new records are kept, so that a second Run continues, and the returned Run has them too; it is nil
// if the run could not begin.
func (r *Runner) Run(ctx context.Context) (*Run, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	s := &state{Runner: r, opts: r.Options.withDefaults()}
	s.opts.Depth = cmp.Or(s.opts.Depth, r.Dataset.Depth, DefaultDepth)
	s.set = s.selected()
	if err := s.openLog(); err != nil {
		return nil, fmt.Errorf("benchmark: opening the records: %w", err)
	}
	if err := s.nameSettings(); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	err := s.runAll(ctx)
	return s.results(), errors.Join(err, s.log.Close())
}

// openLog opens and locks the folder of records, and removes partial files of a killed run.
func (s *state) openLog() (err error) {
	if s.opts.Dir == "" {
		s.log = record.New()
		return nil
	}
	if s.log, err = record.Open(s.opts.Dir); err != nil {
		return err
	}
	if torn := s.log.Recovered().TornBytes; torn > 0 {
		s.opts.Logger.Warn("benchmark: an incomplete record was removed: its work is repeated", "folder", s.opts.Dir, "bytes", torn)
	}
	for _, pattern := range []string{journal.TempPattern, "predictions/" + journal.TempPattern} {
		left, _ := filepath.Glob(filepath.Join(s.opts.Dir, pattern))
		for _, name := range left {
			_ = os.Remove(name)
		}
	}
	return nil
}

// selected returns the data set with the selected questions, and their form, top-k and depth filled in.
func (s *state) selected() *Dataset {
	set := *s.Dataset.Limited(s.opts.Limit)
	set.Types = slices.Clone(set.Types)
	for i, t := range set.Types {
		if own, ok := s.opts.TopK[t.Key]; ok {
			set.Types[i].K = own
		}
	}
	set.Domains = slices.Clone(set.Domains)
	for i, d := range set.Domains {
		var items []Item
		for _, it := range d.Items {
			it = s.asks(it, set.typeOf(it.Type))
			for it.Repeat = range max(s.opts.Repeat, 1) {
				again := it
				again.Question.ID += record.RepeatSuffix(it.Repeat)
				items = append(items, again)
			}
		}
		set.Domains[i].Items = items
	}
	return &set
}

// asks returns the item with the form, top-k, depth and budget with which its question is asked.
func (s *state) asks(it Item, t Type) Item {
	it.Question.Form, it.Question.K = t.Form, t.K
	it.Question.Depth = max(s.opts.Depth, t.K)
	if s.opts.ContextTokens != nil {
		it.Question.Tokens = s.opts.ContextTokens(it.Question.Text)
	}
	return it
}

// swept returns the questions of a domain that the sweep asks with top-k k.
func (s *state) swept(d Domain, k int) []Item {
	var out []Item
	for _, t := range s.set.Types {
		t.K = k
		for _, it := range d.Items {
			if t.Swept && it.Type == t.Key {
				out = append(out, s.asks(it, t))
			}
		}
	}
	return out
}

// asks reports whether the system is asked a question.
func (e Entry) asks(it Item) bool { return e.Only == nil || e.Only(it.Question) }

// questions returns all questions for a system in a domain. If a top-k of the sweep equals the top-k of the
// type, the question is asked only once.
func (s *state) questions(e Entry, d Domain) []Item {
	all := slices.DeleteFunc(slices.Clone(d.Items), func(it Item) bool { return !e.asks(it) })
	if e.Fixed {
		return all
	}
	for _, k := range s.opts.SweepTopK {
		all = append(all, slices.DeleteFunc(s.swept(d, k), func(it Item) bool { return s.set.typeOf(it.Type).K == k || !e.asks(it) })...)
	}
	return all
}

// nameSettings computes the digest of each system's settings, a part of the keys of records, and stores them.
func (s *state) nameSettings() error {
	s.settings = make(map[string]string)
	for _, e := range s.Systems {
		values := map[string]any{"kit": s.opts.Kit}
		maps.Copy(values, s.opts.Settings)
		maps.Copy(values, e.Settings)
		r, err := record.NewSettings(values)
		if err != nil {
			return fmt.Errorf("benchmark: encoding the settings of %s: %w", e.Name, err)
		}
		s.settings[e.Name] = r.Digest
		if _, ok := s.log.Settings(r.Digest); !ok && e.NotApplicable == "" {
			if err := s.log.Add(r); err != nil {
				return fmt.Errorf("benchmark: recording the settings of %s: %w", e.Name, err)
			}
		}
	}
	return nil
}

func (s *state) cell(e Entry, d Domain) record.Cell {
	return record.Cell{System: e.Name, Domain: d.Name, Corpus: d.Fingerprint, Settings: s.settings[e.Name]}
}

func (s *state) runAll(ctx context.Context) error {
	for _, e := range s.Systems {
		for _, d := range s.set.Domains {
			if e.NotApplicable == "" {
				s.total += len(s.questions(e, d))
				s.cells++
			}
		}
	}
	for _, d := range s.set.Domains {
		if err := s.runDomain(memo.With(ctx), d); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// runDomain runs every system on a domain. Its documents are read once, and values that several systems derive
// alike from them are computed once. Chunks are parts of the texts that are kept.
func (s *state) runDomain(ctx context.Context, d Domain) error {
	s.documents = sync.OnceValues(func() (all []graphrag.Document, err error) {
		for doc, err := range d.Documents() {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return all, err
			}
			all = append(all, doc)
		}
		return all, nil
	})
	s.words = sync.OnceValues(func() (*wordCounts, error) { return countWords(ctx, s.documents) })
	s.tokens = sync.OnceValues(func() (n int64, err error) {
		docs, err := s.documents()
		for _, doc := range docs {
			n += int64(s.opts.CountTokens(doc.Text))
		}
		return n, err
	})
	// Memory is freed once per domain: doing it between systems would take a tenth of a run's time. The peak of
	// a system thus includes garbage of the systems before it.
	debug.FreeOSMemory()
	for _, e := range s.Systems {
		if e.NotApplicable != "" {
			continue
		}
		resetPeakRSS()
		s.begun++
		if err := s.runCell(ctx, e, d); err != nil {
			return fmt.Errorf("benchmark: %s on %s: %w", e.Name, d.Name, err)
		}
	}
	return nil
}

// runCell answers and judges the questions of one domain with one system. It builds the index if a question is
// unanswered, or again if the index had failed. If all records exist it costs nothing.
func (s *state) runCell(ctx context.Context, e Entry, d Domain) error {
	cell := s.cell(e, d)
	all := s.questions(e, d)
	_, closed := s.log.Closing(cell)
	index, indexed := s.log.Index(cell)
	anew := indexed && s.needsRebuild(index)
	missing, unanswered := s.missing(cell, all)
	if index.Error != "" && !anew {
		s.resume(e, d, len(all))
		return nil
	}
	if !anew {
		s.resume(e, d, len(all)-len(missing))
	}
	if closed && !anew && !unanswered {
		return s.work(ctx, nil, e, d, missing)
	}
	system, err := s.build(ctx, e, d)
	if err != nil {
		return err
	}
	if anew { // answers by the earlier index may be invalid now
		missing, _ = s.missing(cell, all)
		s.resume(e, d, len(all)-len(missing))
	}
	if system == nil {
		s.emit(Event{System: e.Name, Domain: d.Name, Stage: "failed"}, len(missing), 0)
		return nil
	}
	s.emit(Event{System: e.Name, Domain: d.Name, Stage: "answer"}, 0, 0)   // the index is ready
	other := func(it Item) bool { return e.Again != nil && it.Repeat > 0 } // asked of the system with another seed
	err = s.work(ctx, system, e, d, slices.DeleteFunc(slices.Clone(missing), other))
	if err = errors.Join(err, closeSystem(system)); err != nil {
		return err
	}
	if err := s.askAgain(ctx, e, d, missing); err != nil {
		return err
	}
	return s.log.Add(record.Closing{Cell: cell, PeakRSSMB: peakRSS()})
}

// askAgain asks the repeated questions of systems with other seeds. The first system's index stays recorded.
func (s *state) askAgain(ctx context.Context, e Entry, d Domain, missing []Item) error {
	for repeat := 1; e.Again != nil && repeat < s.opts.Repeat; repeat++ {
		asked := slices.DeleteFunc(slices.Clone(missing), func(it Item) bool { return it.Repeat != repeat })
		if len(asked) == 0 {
			continue
		}
		e.New = func(domain string) (System, error) { return e.Again(domain, repeat) }
		system, err := s.build(ctx, e, d)
		if err != nil || system == nil {
			return err
		}
		if err := errors.Join(s.work(ctx, system, e, d, asked), closeSystem(system)); err != nil {
			return err
		}
	}
	return nil
}

// missing returns the questions without a usable answer or judgment, and whether any of them lacks an answer.
func (s *state) missing(c record.Cell, all []Item) (missing []Item, unanswered bool) {
	for _, it := range all {
		a, answered := s.answered(c, it)
		_, judged := s.judged(it, a)
		if !answered || !judged && a.Error == "" {
			missing = append(missing, it)
		}
		unanswered = unanswered || !answered
	}
	return missing, unanswered
}

// needsRebuild reports whether to build an index again: too much of it failed for the system to be compared, or
// Options.Retry is set and anything failed.
func (s *state) needsRebuild(x record.Index) bool {
	if x.Error != "" {
		return s.opts.Retry
	}
	return slices.ContainsFunc(x.Stats.Stages, func(g graphrag.Stage) bool {
		return float64(g.Failed) > s.opts.MaxFailed*float64(g.Asked) || s.opts.Retry && g.Failed > 0
	})
}

// build makes a system and builds its index. If that panics, it records the error and returns no system.
func (s *state) build(ctx context.Context, e Entry, d Domain) (System, error) {
	system, err := guarded(func() (System, error) { return e.New(d.Name) })
	if err == nil {
		if err = s.index(ctx, system, e, d); err == nil {
			return system, nil
		}
		err = errors.Join(err, closeSystem(system))
	}
	var p *panicError
	if !errors.As(err, &p) || ctx.Err() != nil {
		return nil, err
	}
	s.opts.Logger.Error("panic", "system", e.Name, "domain", d.Name, "error", err, "stack", p.stack)
	return nil, s.log.Add(record.Index{Cell: s.cell(e, d), Error: p.Error(), Detail: p.stack})
}

// closeSystem closes a system. A panic becomes an error.
func closeSystem(system System) error {
	_, err := guarded(func() (none struct{}, err error) { return none, system.Close() })
	if err != nil {
		err = fmt.Errorf("closing the system: %w", err)
	}
	return err
}

func (s *state) index(ctx context.Context, system System, e Entry, d Domain) error {
	start := time.Now()
	var bytes int64
	cell := s.cell(e, d)
	r, err := guarded(func() (record.Index, error) {
		ctx, meter := metering.WithMeter(ctx)
		steps := &clock{start: start, open: make(map[string]int), seconds: make(map[string]float64)}
		ctx = trace.With(ctx, steps)
		stats, err := system.Index(ctx, s.stream(e, d, &bytes))
		if err != nil {
			return record.Index{}, fmt.Errorf("indexing: %w", err)
		}
		r := record.Index{Cell: cell, Stats: stats, Seconds: time.Since(start).Seconds(), Bytes: bytes, Usage: meter.Stages(), Steps: steps.seconds}
		if err = describe(system, &r); err == nil && r.Stats.Entities > 0 && s.opts.CountTokens != nil {
			r.Tokens, err = s.tokens()
		}
		return r, err
	})
	if err != nil {
		return err
	}
	// If a sound index was built again, its first record stays.
	old, ok := s.log.Index(cell)
	if ok && (!s.needsRebuild(old) || reflect.DeepEqual(old.Stats, r.Stats)) {
		return nil
	}
	if r.Build = old.Build; ok && old.Error == "" {
		r.Build++
	}
	return s.log.Add(r)
}

// describe adds the statistics of a system's graph. An edge is a pair of entities with a common fact.
func describe(system any, r *record.Index) error {
	g, ok := system.(interface{ Graph() *kg.Graph })
	if !ok || g.Graph() == nil {
		return nil
	}
	view, err := g.Graph().View(kg.ViewOptions{})
	if err != nil {
		return err
	}
	stats := view.Stats()
	r.Graph, r.Edges = true, stats.Edges
	r.Stats.Entities, r.Stats.Relations = stats.Nodes, len(g.Graph().Relations)
	r.Stats.AverageDegree, r.Stats.MaxDegree, r.Stats.IsolatedShare = stats.AverageDegree, stats.MaxDegree, stats.IsolatedShare
	return nil
}

func (s *state) work(ctx context.Context, system System, e Entry, d Domain, missing []Item) error {
	g, group := errgroup.WithContext(ctx)
	g.SetLimit(s.opts.Concurrency)
	for _, it := range missing {
		if group.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := s.question(group, system, e, d, it); err != nil {
				return fmt.Errorf("question %s: %w", it.Question.ID, err)
			}
			s.emit(Event{System: e.Name, Domain: d.Name, Stage: "answer"}, 1, 0)
			return nil
		})
	}
	return cmp.Or(g.Wait(), ctx.Err())
}

// stream yields the documents of a domain and reports how many were read; it adds their sizes to bytes.
func (s *state) stream(e Entry, d Domain, bytes *int64) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		docs, err := s.documents()
		for i, doc := range docs {
			*bytes += int64(len(doc.Text))
			if i%32 == 0 {
				s.emit(Event{System: e.Name, Domain: d.Name, Stage: "index", Documents: i + 1}, 0, 0)
			}
			if !yield(doc, nil) {
				return
			}
		}
		if err != nil {
			yield(graphrag.Document{}, err)
		}
	}
}

func (s *state) resume(e Entry, d Domain, n int) {
	if n > 0 {
		s.emit(Event{System: e.Name, Domain: d.Name, Stage: "answer"}, n, n)
	}
}

// emit counts questions and reports an event. Events are never reported concurrently.
func (s *state) emit(ev Event, done, resumed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += done
	s.resumed += resumed
	if s.opts.Progress != nil {
		ev.Done, ev.Total, ev.Resumed = s.done, s.total, s.resumed
		ev.Cell, ev.Cells = s.begun, s.cells
		s.opts.Progress(ev)
	}
}
