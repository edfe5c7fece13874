// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/metering"
)

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
			r.Judgment, judged = s.log.Judgment(r.Answer.Key, s.Judge.Name(), s.digest(it, r.Answer))
			if r.Answer.Error != "" {
				r.Judgment, judged = s.unanswered(it, r.Answer), true
			}
			r.Evidence = Measure(it, r.Answer)
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
