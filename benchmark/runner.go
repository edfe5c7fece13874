// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// Defaults of WildGraphBench, section 4.1.
const (
	DefaultTopKFact    = 5
	DefaultTopKSummary = 10
	// DefaultDepth is how many ranked chunks are measured: as deep as the
	// deepest figure of [Evidence] looks.
	DefaultDepth = 10
)

// Config is the configuration of a run as it stands in the report: everything
// that decides the records, and nothing else. A folder with records of
// another Config is refused.
type Config map[string]any

// Entry is a system that takes part.
type Entry struct {
	Name string
	// New makes a fresh system; it is called once per domain.
	New func(domain string) (graphrag.System, error)
	// NotApplicable, when set, says why the system cannot run with these
	// settings: it is listed in the report and not run.
	NotApplicable string
	// Fixed tells that the answers do not depend on top-k: the system takes no
	// part in a sweep.
	Fixed bool
}

// Options of a [Runner]. The zero value runs everything with the paper's
// settings and keeps nothing on disk.
type Options struct {
	// Dir is the folder for journal and report; "" keeps records in memory.
	Dir string
	// TopKFact and TopKSummary are the chunks put into a prompt.
	TopKFact, TopKSummary int
	// SweepTopK are further top-k with which the summary questions are asked
	// (Figure 5), ascending. They are no part of the configuration: a sweep can
	// be added to a finished run, and answers nothing twice.
	SweepTopK []int
	// Depth is how many ranked chunks are asked for, at least TopK.
	Depth int
	// Limit is the largest number of questions per domain and type; 0 is all.
	Limit int
	// Kit names the set of parts the systems were built from. With "offline"
	// the judged figures are reported under "lexical".
	Kit string
	// Settings are further facts of the configuration: whatever the systems
	// and the judge were built with.
	Settings map[string]any
	// Concurrency is how many questions are answered at a time; 0 is the
	// number of CPUs.
	Concurrency int
	// ShowEvidence keeps the evidence text with each answer, for judges that
	// look at it.
	ShowEvidence bool
	// CountTokens measures the context; nil leaves its length 0.
	CountTokens func(string) int
	// Coverage measures how much of the gold statements the evidence holds;
	// nil leaves it out.
	Coverage *Coverage
	// NoTimings leaves clock and memory figures out of the report, so that
	// equal runs give equal bytes.
	NoTimings bool
	// Progress is called, never concurrently, after every step; may be nil.
	Progress func(Event)
	// Logger gets what is worth knowing later; nil is silent.
	Logger *slog.Logger
}

// Event tells how far a run is.
type Event struct {
	System, Domain string
	// Stage is "index" or "answer".
	Stage string
	// Documents counts what the index has read so far.
	Documents int
	// Done of Total questions of the whole run are answered and judged;
	// Resumed of them by an earlier start.
	Done, Total, Resumed int
}

// Runner runs systems over a data set.
type Runner struct {
	Dataset *Dataset
	Systems []Entry
	Judge   judge.Judge
	Options Options
}

// Run answers and judges whatever the folder does not hold yet and returns
// the report of the whole run. When it returns an error, all records made so
// far are kept and a second Run goes on from them.
func (r *Runner) Run(ctx context.Context) (*Report, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	s := &state{Runner: r, opts: r.Options.withDefaults()}
	s.selectItems()
	s.config = s.describe()
	log, err := openLog(r.Options.Dir, s.config)
	if err != nil {
		return nil, err
	}
	s.log = log
	err = s.runAll(ctx)
	if err == nil {
		var report *Report
		if report, err = s.report(); err == nil && s.opts.Dir != "" {
			err = s.writeFolder(report)
		}
		if err == nil {
			return report, s.log.close()
		}
	}
	return nil, errors.Join(err, s.log.close())
}

func (r *Runner) validate() error {
	var problems []error
	if r.Dataset == nil || len(r.Dataset.Domains) == 0 {
		problems = append(problems, errors.New("benchmark: no data set"))
	}
	if len(r.Systems) == 0 {
		problems = append(problems, errors.New("benchmark: no system"))
	}
	seen := make(map[string]bool)
	for _, e := range r.Systems {
		if !ValidName(e.Name) {
			problems = append(problems, fmt.Errorf("benchmark: system name %q: use letters, digits, '-', '_' and '.', it becomes a file name", e.Name))
		}
		if e.New == nil && e.NotApplicable == "" {
			problems = append(problems, fmt.Errorf("benchmark: system %q has no constructor", e.Name))
		}
		if seen[e.Name] {
			problems = append(problems, fmt.Errorf("benchmark: two systems are named %q", e.Name))
		}
		seen[e.Name] = true
	}
	if r.Judge == nil {
		problems = append(problems, errors.New("benchmark: no judge"))
	}
	o := r.Options
	for _, n := range []struct {
		name  string
		value int
	}{{"TopKFact", o.TopKFact}, {"TopKSummary", o.TopKSummary}, {"Depth", o.Depth}, {"Limit", o.Limit}, {"Concurrency", o.Concurrency}} {
		if n.value < 0 {
			problems = append(problems, fmt.Errorf("benchmark: %s is %d, want at least 0", n.name, n.value))
		}
	}
	for i, k := range o.SweepTopK {
		if k < 1 || i > 0 && k <= o.SweepTopK[i-1] {
			problems = append(problems, fmt.Errorf("benchmark: SweepTopK is %v, want positive numbers in ascending order", o.SweepTopK))
			break
		}
	}
	return errors.Join(problems...)
}

// ValidName reports whether a system can have this name: letters, digits, "-",
// "_" and "." but not at the start, at most 64 of them. It becomes a file name.
func ValidName(s string) bool {
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return s != "" && s[0] != '.' && len(s) <= 64
}

func (o Options) withDefaults() Options {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.TopKFact, DefaultTopKFact)
	set(&o.TopKSummary, DefaultTopKSummary)
	set(&o.Depth, DefaultDepth)
	set(&o.Concurrency, runtime.GOMAXPROCS(0))
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// state is a run in progress.
type state struct {
	*Runner
	opts   Options
	config Config
	items  map[string][]Item // domain → the selected questions
	log    *runLog
	total  int

	mu      sync.Mutex // guards the counters and keeps events apart
	done    int
	resumed int
}

// selectItems picks the first Limit questions of each type in each domain and
// sets the depth they are asked with.
func (s *state) selectItems() {
	s.items = make(map[string][]Item)
	for _, d := range s.Dataset.Domains {
		taken := make(map[graphrag.QuestionType]int)
		for _, it := range d.Items {
			if s.opts.Limit > 0 && taken[it.Question.Type] == s.opts.Limit {
				continue
			}
			taken[it.Question.Type]++
			s.items[d.Name] = append(s.items[d.Name], s.asks(it, s.topK(it.Question.Type)))
		}
	}
	for _, e := range s.Systems {
		for _, d := range s.Dataset.Domains {
			if e.NotApplicable == "" {
				s.total += len(s.items[d.Name]) + len(s.swept(e, d))
			}
		}
	}
}

func (s *state) topK(t graphrag.QuestionType) int {
	if t == graphrag.Summary {
		return s.opts.TopKSummary
	}
	return s.opts.TopKFact
}

// describe collects everything that decides the records.
func (s *state) describe() Config {
	c := Config{
		"dataset":      s.Dataset.Name,
		"kit":          s.opts.Kit,
		"judge":        s.Judge.Name(),
		"topk_qa":      s.opts.TopKFact,
		"topk_summary": s.opts.TopKSummary,
		"depth":        s.opts.Depth,
		"limit":        s.opts.Limit,
	}
	for k, v := range s.opts.Settings {
		c[k] = v
	}
	var domains, systems []string
	prints := make(map[string]string)
	for _, d := range s.Dataset.Domains {
		domains = append(domains, d.Name)
		prints[d.Name] = d.Fingerprint
	}
	for _, e := range s.Systems {
		systems = append(systems, e.Name)
	}
	c["domains"], c["systems"], c["fingerprints"] = domains, systems, prints
	return c
}

func (s *state) runAll(ctx context.Context) error {
	for _, e := range s.Systems {
		if e.NotApplicable != "" {
			continue
		}
		debug.FreeOSMemory() // so that the peak is this system's
		resetPeakRSS()
		for _, d := range s.Dataset.Domains {
			if err := s.runCell(ctx, e, d); err != nil {
				return fmt.Errorf("benchmark: %s on %s: %w", e.Name, d.Name, err)
			}
		}
	}
	return ctx.Err()
}

// runCell works off the questions of one domain with one system. A cell whose
// records are complete costs nothing.
func (s *state) runCell(ctx context.Context, e Entry, d Domain) error {
	all := slices.Concat(s.items[d.Name], s.swept(e, d))
	missing := slices.DeleteFunc(slices.Clone(all), func(it Item) bool {
		_, ok := get(s.log, s.log.judgments, s.place(e, d, it))
		return ok
	})
	s.resume(e, d, len(all)-len(missing))
	if _, closed := get(s.log, s.log.cells, cell{e.Name, d.Name}); closed && len(missing) == 0 {
		return nil
	}
	system, err := e.New(d.Name)
	if err != nil {
		return err
	}
	err = s.work(ctx, system, e, d, missing)
	if err = errors.Join(err, system.Close()); err != nil {
		return err
	}
	return s.log.addCell(CellRecord{System: e.Name, Domain: d.Name, PeakRSSMB: peakRSS()})
}

func (s *state) work(ctx context.Context, system graphrag.System, e Entry, d Domain, missing []Item) error {
	start := time.Now()
	var bytes int64
	stats, err := system.Index(ctx, s.counted(e, d, &bytes))
	if err != nil {
		return fmt.Errorf("indexing: %w", err)
	}
	// A rebuilt index repeats the first one; its record stays.
	if _, ok := get(s.log, s.log.indexes, cell{e.Name, d.Name}); !ok {
		rec := IndexRecord{System: e.Name, Domain: d.Name, Stats: stats, Seconds: time.Since(start).Seconds(), Bytes: bytes}
		if rec.Degrees, rec.Edges, err = degreesOf(system); err != nil {
			return err
		}
		if err := s.log.addIndex(rec); err != nil {
			return err
		}
	}
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
			s.advance(e, d)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// counted passes the documents of a domain on and reports how many; their size
// is added up in bytes.
func (s *state) counted(e Entry, d Domain, bytes *int64) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		n := 0
		for doc, err := range d.Documents() {
			n++
			*bytes += int64(len(doc.Text))
			if n%32 == 1 {
				s.emit(Event{System: e.Name, Domain: d.Name, Stage: "index", Documents: n}, 0, 0)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

func (s *state) resume(e Entry, d Domain, n int) {
	if n > 0 {
		s.emit(Event{System: e.Name, Domain: d.Name, Stage: "answer"}, n, n)
	}
}

func (s *state) advance(e Entry, d Domain) {
	s.emit(Event{System: e.Name, Domain: d.Name, Stage: "answer"}, 1, 0)
}

// emit counts and reports, one event at a time.
func (s *state) emit(ev Event, done, resumed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += done
	s.resumed += resumed
	if s.opts.Progress != nil {
		ev.Done, ev.Total, ev.Resumed = s.done, s.total, s.resumed
		s.opts.Progress(ev)
	}
}
