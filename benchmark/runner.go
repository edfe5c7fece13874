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

// DefaultDepth is the depth of the deepest figure of [Evidence]. DefaultMaxFailed is the default of
// [Options].MaxFailed: so few failures move a mean by less than its interval.
const (
	DefaultDepth     = 10
	DefaultMaxFailed = 0.05
)

// System has the methods that a runner calls; every graphrag.System is one. A panic ends the question or the
// index, not the run. If a system has a method Graph() *kg.Graph, the report describes its graph as in Table 4
// of WildGraphBench, unless it is nil.
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
	// Again makes a system with another seed, for repeated questions. It is nil if the system has no seed: then
	// one system answers every repetition, with other samples of its model.
	Again func(domain string, repeat int) (System, error)
	// Settings are the settings that determine this system's answers, in addition to Options.Settings.
	Settings map[string]any
	// NotApplicable, if set, is the reason why the system cannot run. The report lists it without figures.
	NotApplicable string
	// Fixed is true if top-k does not affect the answers. The system is then left out of a sweep.
	Fixed bool
	// Baseline is true if every system is compared with this one.
	Baseline bool
	// Foreign is true if another program made the answers, so that costs and lengths of prompts are unknown.
	Foreign bool
	// Only reports whether the system is asked a question; with nil it is asked all. A system that is not asked
	// all questions is not compared with others.
	Only func(graphrag.Question) bool
}

// Options of a [Runner]. The zero value has the settings of the data set and stores nothing on disk.
type Options struct {
	// Dir is the folder for the records; with "" they are only in memory. A folder may hold records of other
	// runs. Those that match this run are used, see package record.
	Dir string
	// TopK is the number of chunks in a prompt by type of questions; a missing type has the K of the data set.
	TopK map[string]int
	// SweepTopK are further numbers of chunks with which the questions of swept types are asked, ascending.
	SweepTopK []int
	// ContextTokens returns the number of tokens of evidence that a question's prompt may have, the same for
	// every system. It replaces top-k. Without the function, or if it returns 0, top-k holds.
	ContextTokens func(question string) int
	// Depth is the number of ranked chunks that systems must return, at least TopK; 0 means the data set's.
	Depth int
	// Limit is the largest number of questions per domain and type; 0 means all.
	Limit int
	// Kit is the name of the kit from which the systems are made; may be "".
	Kit string
	// Settings are the settings that determine every system's answers.
	Settings map[string]any
	// Config are further facts for the report. They affect no answer.
	Config map[string]any
	// Changed are the settings that differ from the defaults of the calling program, as its user writes them,
	// such as "-chunk-size 600". A report shows them above its tables.
	Changed []string
	// Repeat is how often each question is asked, each time with another sample of the models
	// ([metering.WithSample]) or another seed of the system ([Entry].Again); 0 means once. The second time the
	// ID ends with ~2.
	Repeat int
	// Concurrency is the number of questions that are asked concurrently; 0 means GOMAXPROCS.
	Concurrency int
	// ShowEvidence stores the texts of the prompt with each answer, for judges that need them.
	ShowEvidence bool
	// CountTokens returns the number of tokens of a text of a prompt; with nil they are not counted.
	CountTokens func(string) int
	// MaxFailed is the largest share of the pieces of a step, from indexing to judging, that may fail. If more
	// fail, the system is marked and not compared. 0 means DefaultMaxFailed, a negative number that none may
	// fail.
	MaxFailed float64
	// Retry repeats every question without a score, and every index of which a part failed. Without it they are
	// repeated only if the cause may have passed: an empty or truncated reply, an outage, a filter.
	Retry bool
	// Found computes the share of the gold statements that the evidence contains.
	Found bool
	// Price returns the price of a usage in Currency, and false if it is unknown; nil if there are no prices.
	Price    func(graphrag.Usage) (float64, bool)
	Currency string
	// NoTimings omits clock and memory figures from the report, so that equal runs give equal bytes.
	NoTimings bool
	// Progress, if not nil, is called after every step, never concurrently.
	Progress func(Event)
	// Logger receives warnings and errors; with nil they are dropped.
	Logger *slog.Logger
}

// Event is the progress of a run.
type Event struct {
	System, Domain string
	// Stage is "index" or "answer" for the work that is done, "failed" if there is no index to ask.
	Stage string
	// Documents is the number of documents that the index has read so far.
	Documents int
	// Cell is the number of pairs of a system and a domain that have begun, Cells the number of all pairs.
	Cell, Cells int
	// Done is the number of questions that are answered and judged, Total the number of all questions of the
	// run, Resumed the number of questions in Done that an earlier run had recorded.
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

// Run is the result of a run and the input of a report: the selected questions, and the records of each system.
type Run struct {
	// Dataset holds the selected questions and their types, with the K of the run.
	Dataset *Dataset
	// Kit is the name of the systems' kit, Judge the name of the judge, JudgeInfo its description.
	Kit       string
	Judge     string
	JudgeInfo judge.Info
	// MaxFailed is the largest share of failures with which a system is compared.
	MaxFailed float64
	// Config is the configuration as a report shows it.
	Config map[string]any
	// NoTimings keeps clock and memory figures out of a report.
	NoTimings bool
	// Price and Currency are copied from [Options].
	Price    func(graphrag.Usage) (float64, bool)
	Currency string
	Systems  []SystemRun
}

// SystemRun holds the records of a system.
type SystemRun struct {
	Name string
	Also []string // other names of the same system
	// NotApplicable is the reason why the system was not run; it then has no records.
	NotApplicable string
	// Foreign is true if costs and prompts of the answers are unknown.
	Foreign bool
	// Baseline is true if every system is compared with this one.
	Baseline bool
	// Domains are in the order of the data set.
	Domains []DomainRun
	// Sweep are the results at the top-k of the sweep, ascending.
	Sweep []SweepRun
}

// DomainRun holds the records of a system on a domain.
type DomainRun struct {
	Index     record.Index
	PeakRSSMB float64
	// Results are in the order of the questions.
	Results []Result
}

// SweepRun holds the results of swept questions over all domains at one top-k. At the top-k of the run itself
// they are the results of the run.
type SweepRun struct {
	K       int
	Results []Result
}

// Result is a question with its records. If the system was not run it is the question alone.
type Result struct {
	Domain string
	Item   Item
	// Skipped is true if the system was not asked this question, see Entry.Only. Then Pending is true if the
	// run stopped before the question was answered and judged.
	Skipped  bool
	Pending  bool
	Answer   record.Answer
	Judgment record.Judgment
	Evidence Evidence
}

// results returns the run with the records of the selected questions.
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

// clock is a tracer that measures for how long spans of each name are open. Overlapping spans of a name count
// once. A call of a model has the name of its stage, as in usage figures.
type clock struct {
	start   time.Time
	mu      sync.Mutex
	open    map[string]int
	seconds map[string]float64
}

// clockSpan is an open span that a clock measures.
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
