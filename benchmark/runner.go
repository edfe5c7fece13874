// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// The defaults of [Options]: the number of ranked chunks that are measured is the depth of the deepest figure of
// [Evidence]; one failed piece of a system in twenty moves a mean by less than such small samples can show.
const (
	DefaultDepth     = 10
	DefaultMaxFailed = 0.05
)

// System has the methods that a runner calls; every graphrag.System is one. A panic ends the question or
// index, not the run. The graph of one with a method Graph() *kg.Graph is described as in Table 4 of
// WildGraphBench, unless it is nil.
type System interface {
	Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error)
	Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error)
	Close() error
}

// Entry is a system in a run.
type Entry struct {
	Name string
	// Also lists other names of the system.
	Also []string
	// New makes a system; it is called once per domain.
	New func(domain string) (System, error)
	// Again makes a system with another seed, for repeated questions; nil if these differ by the sample of a
	// model alone, and one system answers all.
	Again func(domain string, repeat int) (System, error)
	// Settings determine the answers of this system, in addition to Options.Settings.
	Settings map[string]any
	// NotApplicable, if set, says why the system cannot run with these settings: it is only listed in the
	// report.
	NotApplicable string
	// Fixed is true if the answers do not depend on top-k: the system takes no part in a sweep.
	Fixed bool
	// Baseline is true if every system is compared with this one.
	Baseline bool
	// Foreign is true if the answers were made by another program: their costs and prompt lengths are
	// unknown.
	Foreign bool
	// Only selects the questions for the system; nil is all. A system without all questions is not compared
	// with others.
	Only func(graphrag.Question) bool
}

// Options of a [Runner]. The zero value runs everything with the settings of the data set and stores nothing
// on disk.
type Options struct {
	// Dir is the folder for the records; "" keeps them in memory. A folder may hold the records of other
	// runs, of which matching ones are used, see package record.
	Dir string
	// TopK is the number of chunks in a prompt, by the type of the question; missing types have the K of the
	// data set.
	TopK map[string]int
	// SweepTopK are further top-k for the questions of swept types, ascending.
	SweepTopK []int
	// ContextTokens returns the budget of the evidence in the prompt of a question, which replaces its top-k
	// and is the same for every system; nil, or 0 for a question, is none.
	ContextTokens func(question string) int
	// Depth is the number of ranked chunks that are requested, at least TopK; 0 is the depth of the data set.
	Depth int
	// Limit is the largest number of questions per domain and type; 0 is all.
	Limit int
	// Kit names the parts of the systems; may be "".
	Kit string
	// Settings determine the answers of every system.
	Settings map[string]any
	// Config are further facts for the configuration in the report, which determine no answer.
	Config map[string]any
	// Changed are the settings that differ from a program's defaults, in its words, such as "-chunk-size
	// 600"; a report shows them above its tables.
	Changed []string
	// Repeat is the number of times that each question is asked, each time with another sample of the models
	// ([metering.WithSample]) or another seed of the system ([Entry].Again); 0 is once. The ID of the second time
	// ends with ~2.
	Repeat int
	// Concurrency is the number of concurrent questions; 0 is the number of CPUs.
	Concurrency int
	// ShowEvidence stores the texts of the prompt with each answer, for judges that need them.
	ShowEvidence bool
	// CountTokens counts the tokens of the context; without it they are unknown.
	CountTokens func(string) int
	// MaxFailed is the share of pieces of work that may fail in a step, from indexing to judging: above it
	// the system's row is marked, and it is not compared with others. 0 is DefaultMaxFailed, a negative one
	// allows none.
	MaxFailed float64
	// Retry repeats everything without a score, and rebuilds every index of which a part failed. Without it
	// that is done if the cause may have passed: an empty or truncated reply, an outage, a filter.
	Retry bool
	// Found measures the share of the gold statements in the evidence.
	Found bool
	// Price returns the cost of a usage in Currency, and false if it is unknown; nil without prices.
	Price    func(graphrag.Usage) (float64, bool)
	Currency string
	// NoTimings omits clock and memory figures from the report, so that equal runs give equal bytes.
	NoTimings bool
	// Progress is called, never concurrently, after every step; may be nil.
	Progress func(Event)
	// Logger receives warnings and errors; nil is silent.
	Logger *slog.Logger
}

// Event is the progress of a run.
type Event struct {
	System, Domain string
	// Stage is "index" or "answer", or "failed" if there is no index and nothing is asked.
	Stage string
	// Documents is the number of documents that the index has read so far.
	Documents int
	// Cell of Cells pairs of a system and a domain have begun.
	Cell, Cells int
	// Done of Total questions of the whole run are answered and judged; Resumed of them by an earlier start.
	Done, Total, Resumed int
}

// Runner runs systems over a data set.
type Runner struct {
	Dataset *Dataset
	Systems []Entry
	Judge   judge.Judge
	Options Options
}

// validate reports all faults of a runner.
func (r *Runner) validate() error {
	var problems []error
	if r.Dataset == nil || len(r.Dataset.Domains) == 0 {
		problems = append(problems, errors.New("benchmark: no data set"))
	} else {
		problems = append(problems, r.Dataset.check()...)
	}
	if len(r.Systems) == 0 {
		problems = append(problems, errors.New("benchmark: no system"))
	}
	seen := make(map[string]bool)
	for _, e := range r.Systems {
		if !record.ValidName(e.Name) {
			problems = append(problems, fmt.Errorf("benchmark: system name %q: use letters, digits, '-', '_', '.' and ':', it becomes a file name", e.Name))
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
	for i, n := range []int{o.Depth, o.Limit, o.Repeat, o.Concurrency} {
		if n < 0 {
			problems = append(problems, fmt.Errorf("benchmark: %s is %d, want at least 0", [...]string{"Depth", "Limit", "Repeat", "Concurrency"}[i], n))
		}
	}
	if !(o.MaxFailed <= 1) {
		problems = append(problems, fmt.Errorf("benchmark: MaxFailed is %v, want a share of at most 1", o.MaxFailed))
	}
	for _, key := range slices.Sorted(maps.Keys(o.TopK)) {
		if r.Dataset != nil && r.Dataset.typeOf(key).Key == "" {
			problems = append(problems, fmt.Errorf("benchmark: TopK: the data set has no questions of type %q", key))
		}
		if k := o.TopK[key]; k < 0 {
			problems = append(problems, fmt.Errorf("benchmark: TopK of %s is %d, want at least 0", key, k))
		}
	}
	if len(o.SweepTopK) > 0 && o.ContextTokens != nil {
		problems = append(problems, errors.New("benchmark: SweepTopK with ContextTokens: a budget takes the place of top-k, sweep one or set the other"))
	}
	for i, k := range o.SweepTopK {
		if k < 1 || i > 0 && k <= o.SweepTopK[i-1] {
			problems = append(problems, fmt.Errorf("benchmark: SweepTopK is %v, want positive numbers in ascending order", o.SweepTopK))
			break
		}
	}
	return errors.Join(problems...)
}

func (o Options) withDefaults() Options {
	o.Concurrency = cmp.Or(o.Concurrency, runtime.GOMAXPROCS(0))
	o.MaxFailed = max(cmp.Or(o.MaxFailed, DefaultMaxFailed), 0)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Run is the input of a report: the selected questions and the records of each system.
type Run struct {
	// Dataset holds the selected questions and their types, with the K of this run.
	Dataset *Dataset
	// Kit names the parts of the systems, Judge the judge, which JudgeInfo describes.
	Kit       string
	Judge     string
	JudgeInfo judge.Info
	// MaxFailed is the largest share of failures of a system that is compared.
	MaxFailed float64
	// Config is the configuration, for readers and programs.
	Config map[string]any
	// NoTimings keeps clock and memory figures out of a report.
	NoTimings bool
	// Price and Currency are copied from [Options].
	Price    func(graphrag.Usage) (float64, bool)
	Currency string
	Systems  []SystemRun
}

// SystemRun holds the records of one system.
type SystemRun struct {
	Name string
	Also []string // other names of the same system
	// NotApplicable says why the system was not run: it has no records.
	NotApplicable string
	// Foreign is true if costs and prompts of the answers are unknown.
	Foreign bool
	// Baseline is true if every system is compared with this one.
	Baseline bool
	// Domains are in the order of the data set.
	Domains []DomainRun
	// Sweep are the top-k of the sweep, ascending.
	Sweep []SweepRun
}

// DomainRun is one system on one domain.
type DomainRun struct {
	Index     record.Index
	PeakRSSMB float64
	// Results are in the order of the questions.
	Results []Result
}

// SweepRun holds the swept questions of all domains at one top-k. At the run's own top-k the results are the
// run's.
type SweepRun struct {
	K       int
	Results []Result
}

// Result is one question with its records. Without a run of the system it has the question alone.
type Result struct {
	Domain string
	Item   Item
	// Skipped is true if the system was not asked this question, see Entry.Only; with Pending, if the run
	// stopped before it was answered and judged.
	Skipped  bool
	Pending  bool
	Answer   record.Answer
	Judgment record.Judgment
	Evidence Evidence
}

// results collects the selected records.
func (s *state) results() *Run {
	out := &Run{
		Dataset: s.set, Kit: s.opts.Kit, Judge: s.Judge.Name(), JudgeInfo: judge.InfoOf(s.Judge), Config: s.config(),
		MaxFailed: s.opts.MaxFailed, NoTimings: s.opts.NoTimings, Price: s.opts.Price, Currency: s.opts.Currency,
	}
	for _, e := range s.Systems {
		of := SystemRun{Name: e.Name, Also: e.Also, NotApplicable: e.NotApplicable, Foreign: e.Foreign, Baseline: e.Baseline}
		for _, d := range s.set.Domains {
			cell := s.cell(e, d)
			index, _ := s.log.Index(cell)
			closing, _ := s.log.Closing(cell)
			of.Domains = append(of.Domains, DomainRun{index, closing.PeakRSSMB, s.recorded(e, d, d.Items)})
		}
		if !e.Fixed && e.NotApplicable == "" {
			for _, k := range s.opts.SweepTopK {
				sweep := SweepRun{K: k}
				for _, d := range s.set.Domains {
					sweep.Results = append(sweep.Results, s.recorded(e, d, s.swept(d, k))...)
				}
				of.Sweep = append(of.Sweep, sweep)
			}
		}
		out.Systems = append(out.Systems, of)
	}
	return out
}

func (s *state) recorded(e Entry, d Domain, items []Item) []Result {
	var out []Result
	cell := s.cell(e, d)
	index, _ := s.log.Index(cell)
	for _, it := range items {
		r := Result{Domain: d.Name, Item: it}
		if r.Skipped = !e.asks(it); e.NotApplicable == "" && !r.Skipped {
			var judged bool
			r.Answer, _ = s.log.Answer(answerKey(cell, it.Question))
			if index.Error != "" {
				r.Answer = record.Answer{Key: answerKey(cell, it.Question), Error: "no index: " + index.Error}
			}
			shown := s.digest(it, r.Answer)
			r.Judgment, judged = s.log.Judgment(r.Answer.Key, s.Judge.Name(), shown)
			if r.Answer.Error != "" {
				none := record.Judgment{Key: r.Answer.Key, Judge: s.Judge.Name(), Case: shown}
				r.Judgment, judged = s.fixedJudgment(none, it, judge.NoScore("no answer: "+r.Answer.Error)), true
			}
			r.Evidence = it.Measure(r.Answer)
			r.Skipped, r.Pending = !judged, !judged
		}
		out = append(out, r)
	}
	return out
}

// config returns the configuration for reports.
func (s *state) config() map[string]any {
	c := map[string]any{
		"dataset": s.set.Name,
		"kit":     s.opts.Kit,
		"judge":   s.Judge.Name(),
		"depth":   s.opts.Depth,
		"limit":   s.opts.Limit,
	}
	var domains, systems []string
	prints := make(map[string]string)
	for _, d := range s.set.Domains {
		domains = append(domains, d.Name)
		prints[d.Name] = d.Fingerprint
	}
	for _, e := range s.Systems {
		systems = append(systems, e.Name)
		maps.Copy(c, e.Settings)
	}
	maps.Copy(c, s.opts.Settings)
	maps.Copy(c, s.opts.Config)
	if len(s.opts.Changed) > 0 {
		c["changed"] = s.opts.Changed
	}
	c["domains"], c["systems"], c["fingerprints"] = domains, systems, prints
	return c
}

// clock is a tracer that measures the time during which spans of a name are open; overlapping spans count
// once. A call of a model has the name of its stage, as in the usage.
type clock struct {
	start   time.Time
	mu      sync.Mutex
	open    map[string]int
	seconds map[string]float64
}

// clockSpan is an open span of a clock.
type clockSpan struct {
	c    *clock
	name string
}

// Start implements [trace.Tracer].
func (c *clock) Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, trace.Span) {
	for _, a := range attrs {
		switch a.Key {
		case "wildgraph.stage":
			name = a.Value.String()
		case "wildgraph.texts":
			name = metering.StageEmbed
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[name]++; c.open[name] == 1 {
		c.seconds[name] -= time.Since(c.start).Seconds()
	}
	return ctx, clockSpan{c, name}
}

// Set implements [trace.Span].
func (clockSpan) Set(...slog.Attr) {}

// End implements [trace.Span].
func (t clockSpan) End(error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if t.c.open[t.name]--; t.c.open[t.name] == 0 {
		t.c.seconds[t.name] += time.Since(t.c.start).Seconds()
	}
}
