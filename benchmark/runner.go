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

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
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
	for _, n := range []struct {
		name  string
		value int
	}{{"Depth", o.Depth}, {"Limit", o.Limit}, {"Repeat", o.Repeat}, {"Concurrency", o.Concurrency}} {
		if n.value < 0 {
			problems = append(problems, fmt.Errorf("benchmark: %s is %d, want at least 0", n.name, n.value))
		}
	}
	if !(o.MaxFailed <= 1) {
		problems = append(problems, fmt.Errorf("benchmark: MaxFailed is %v, want a share of at most 1", o.MaxFailed))
	}
	for _, key := range slices.Sorted(maps.Keys(o.TopK)) {
		if r.Dataset != nil && !r.Dataset.has(key) {
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
