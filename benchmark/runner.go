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
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// DefaultDepth is how many ranked chunks are measured: as deep as the deepest
// figure of [Evidence] looks.
const DefaultDepth = 10

// DefaultMaxFailed is the share of failed pieces up to which a system is compared:
// one in twenty moves a mean by less than such small samples can show.
const DefaultMaxFailed = 0.05

// System has the methods of a system that a runner calls; every graphrag.System is one. A
// panic ends the question or the index it comes from, not the run.
type System interface {
	Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error)
	Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error)
	Close() error
}

// Entry is a system that takes part.
type Entry struct {
	Name string
	// Also are other names under which the same system is known.
	Also []string
	// New makes a fresh system; it is called once per domain.
	New func(domain string) (System, error)
	// Again makes a fresh system with another seed, for the questions that are asked once more;
	// nil where these differ by the sample of a model alone, and one system is asked all.
	Again func(domain string, repeat int) (System, error)
	// Settings decide the answers of this system, beside Options.Settings.
	Settings map[string]any
	// NotApplicable, when set, says why the system cannot run with these
	// settings: it is listed in the report and not run.
	NotApplicable string
	// Fixed is true if the answers do not depend on top-k: the system takes no
	// part in a sweep.
	Fixed bool
	// Baseline is true if every system is compared with this one.
	Baseline bool
	// Foreign is true if the answers were made elsewhere: what they cost and how
	// long their prompts were is not known.
	Foreign bool
	// Only chooses the questions that the system is asked; nil is all. One that is
	// not asked all is not compared with others.
	Only func(graphrag.Question) bool
}

// Options of a [Runner]. The zero value runs everything with the settings of
// the data set and keeps nothing on disk.
type Options struct {
	// Dir is the folder for the records; "" keeps them in memory. A folder may
	// hold the records of other runs: what matches is used, see package record.
	Dir string
	// TopK are the chunks put into a prompt, by the type of the question; a
	// type that is not there has the K of the data set.
	TopK map[string]int
	// SweepTopK are further top-k with which the questions of types that are swept
	// are asked, ascending.
	SweepTopK []int
	// ContextTokens is the budget of the evidence in the prompt of a question, in place
	// of its top-k and the same for every system; nil, or 0 for a question, is none.
	ContextTokens func(question string) int
	// Depth is how many ranked chunks are asked for, at least TopK; 0 is
	// DefaultDepth.
	Depth int
	// Limit is the largest number of questions per domain and type; 0 is all.
	Limit int
	// Kit names the set of parts the systems were built from; may be "". The figures
	// of a judge whose name begins with "lexical/" or "exact/" are reported under "lexical".
	Kit string
	// Settings are the settings of every system that decide its answers.
	Settings map[string]any
	// Config are further facts for the configuration in the report, which
	// decide no answer.
	Config map[string]any
	// Changed are the settings that differ from a program's defaults, in its words, such as
	// "-chunk-size 600"; they stand above the tables of a report.
	Changed []string
	// Repeat is how often each question is asked, each time as another sample of the models
	// ([llm.WithSample]), or of a system with another seed ([Entry].Again); 0 is once. The ID of the second time has ~2 behind it.
	Repeat int
	// Concurrency is how many questions are answered at a time; 0 is the
	// number of CPUs.
	Concurrency int
	// ShowEvidence keeps the texts of the prompt with each answer, for judges
	// that look at them.
	ShowEvidence bool
	// CountTokens measures the context; without it its length is not known.
	CountTokens func(string) int
	// MaxFailed is the share of pieces of work that may fail at a step, from
	// indexing to judging: with more the system's row is marked, and it is not
	// compared with others. 0 is DefaultMaxFailed, a negative one allows none.
	MaxFailed float64
	// Retry asks again for everything without a score, and rebuilds every
	// index of which a part failed. Without it that is done where the cause may
	// have passed: an empty or a cut reply, an outage, a filter.
	Retry bool
	// Found measures how many of the gold statements the evidence contains.
	Found bool
	// Price returns the cost of a usage in Currency, and false where it is unknown; nil
	// without prices.
	Price    func(graphrag.Usage) (float64, bool)
	Currency string
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
	// Stage is "index" or "answer", or "failed" where there is no index and nothing
	// is asked.
	Stage string
	// Documents counts what the index has read so far.
	Documents int
	// Cell of Cells pairs of a system and a domain are begun.
	Cell, Cells int
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

// validate reports everything that is wrong with a runner.
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
		if !ValidName(e.Name) {
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

// ValidName reports whether a system can have this name: letters, digits, "-", "_", ":"
// and "." but not at the start, at most 64 of them. It becomes a file name, see [FileName].
func ValidName(s string) bool { return validName.MatchString(s) }

var validName = regexp.MustCompile(`^[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,63}$`)

// FileName is the name of a system as a part of the names of files, which not every disk lets
// have a colon.
func FileName(system string) string { return strings.ReplaceAll(system, ":", "+") }

func (o Options) withDefaults() Options {
	o.Depth = cmp.Or(o.Depth, DefaultDepth)
	o.Concurrency = cmp.Or(o.Concurrency, runtime.GOMAXPROCS(0))
	o.MaxFailed = max(cmp.Or(o.MaxFailed, DefaultMaxFailed), 0)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
