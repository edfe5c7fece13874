// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/internal/dry"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/judge/liverag"
)

// experiment compares variants of GeAR on one question of its papers.
type experiment struct {
	variants []variant
	pairs    [][2]string // of variants that are compared question by question
	// tables are further ones; paid tells that models were really asked.
	tables func(run *benchmark.Run, seed uint64, paid bool) ([]report.Table, error)
	// modelled runs offline through models that are asked nothing, for their calls are
	// what is measured.
	modelled bool
}

// variant is GeAR with some options.
type variant struct {
	name string
	o    gear.Options
	// outside is the share of the triples that make up a graph from elsewhere; 0 is the
	// graph of the corpus.
	outside float64
}

// experiments are those of -experiment.
var experiments = map[string]experiment{
	"recall": {variants: []variant{
		{"gear-nograph", gear.Options{Steps: 1, Expand: gear.ExpandNever}, 0}, {gear.Name, gear.Options{}, 0}, {gear.NameOriginal, gear.Options{Original: true}, 0},
	}, pairs: [][2]string{{"gear-nograph", gear.Name}, {"gear-nograph", gear.NameOriginal}, {gear.Name, gear.NameOriginal}}},
	"steps": stepped([]int{1, 2}),
	"match": {variants: []variant{
		{"sparse", gear.Options{Expand: gear.ExpandAlways}, 1}, {"dense-align", gear.Options{Expand: gear.ExpandAlways, Align: gear.Dense}, 1},
		{"dense-link", gear.Options{Expand: gear.ExpandAlways, Link: gear.Dense}, 1}, {"dense", gear.Options{Expand: gear.ExpandAlways, Align: gear.Dense, Link: gear.Dense}, 1},
	}, pairs: [][2]string{{"sparse", "dense-align"}, {"sparse", "dense-link"}, {"sparse", "dense"}}},
	"share": sharing([]int{5, 20, 50}),
	"expand": {variants: []variant{
		{never, gear.Options{Expand: gear.ExpandNever}, 0}, {always, gear.Options{Expand: gear.ExpandAlways}, 0},
	}, pairs: [][2]string{{never, always}}, tables: policyTables},
	"breakeven": {variants: []variant{
		{online, gear.Options{Expand: gear.ExpandAlways}, 1}, {naive, gear.Options{Naive: true, Expand: gear.ExpandAlways}, 0}, {"original-2-steps", gear.Options{Original: true, Steps: 2}, 0},
	}, tables: breakEvenTables, modelled: true},
}

// stepped compares numbers of steps, each with the first.
func stepped(steps []int) (x experiment) {
	for _, name := range []string{gear.Name, gear.NameOriginal} {
		first := ""
		for _, n := range steps {
			v := variant{fmt.Sprintf("%s-steps-%d", name, n), gear.Options{Original: name == gear.NameOriginal, Steps: n}, 0}
			x.variants = append(x.variants, v)
			if first == "" {
				first = v.name
			} else {
				x.pairs = append(x.pairs, [2]string{first, v.name})
			}
		}
	}
	return x
}

// sharing compares shares of a graph, in percent, and all of it, with none.
func sharing(shares []int) experiment {
	const none = "graph-0"
	x := experiment{variants: []variant{{none, gear.Options{Expand: gear.ExpandNever}, 1}}}
	for _, percent := range append(slices.Clone(shares), 100) {
		v := variant{fmt.Sprintf("graph-%d", percent), gear.Options{Expand: gear.ExpandAlways}, float64(percent) / 100}
		x.variants, x.pairs = append(x.variants, v), append(x.pairs, [2]string{none, v.name})
	}
	return x
}

// chosen is the experiment of the settings.
func (s settings) chosen() experiment {
	switch {
	case len(s.steps) > 0:
		return stepped(s.steps)
	case len(s.shares) > 0:
		return sharing(s.shares)
	default:
		return experiments[s.experiment]
	}
}

// The variants whose names others look for.
const (
	never  = "never"
	always = "always"
	online = "gear-online"
	naive  = "gear-naive"
)

func experimentNames() []string { return slices.Sorted(maps.Keys(experiments)) }

// variantEntries make the variants of the experiment take part.
func (t trial) variantEntries(ctx context.Context, p *lab.Parts) ([]benchmark.Entry, error) {
	x := t.chosen()
	source, err := readTriples(t.triples, t.Seed)
	if err != nil {
		return nil, err
	}
	k := p.Kit
	if x.modelled && !t.Paid() {
		if k, err = dryKit(p.Count); err != nil {
			return nil, err
		}
	}
	var out []benchmark.Entry
	for _, v := range x.variants {
		v.o.Common = t.Common()
		v.o.Cut.KeepLinks = true // recorded triples are of passages as they are
		if v.outside == 0 && !x.modelled {
			v.o.Extract = source.extractor()
		}
		probe, err := gear.New(k, v.o)
		if err != nil {
			return nil, err
		}
		out = append(out, benchmark.Entry{
			Name: v.name, Settings: map[string]any{"experiment": t.experiment, "triples": source.digest},
			New: func(string) (benchmark.System, error) {
				return &made{k: k, v: v, source: source}, p.Reachable(ctx)
			},
		})
		if err := probe.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dryKit asks models nothing and counts what it would ask.
func dryKit(count func(string) int) (kit.Kit, error) {
	m, err := dry.NewServer(count).Model("none")
	if err != nil {
		return kit.Kit{}, err
	}
	return kit.ByModel(kit.ModelOptions{Model: m, Count: count})
}

// made is a system that is made when its corpus is known: the graph from elsewhere may
// be of that.
type made struct {
	k      kit.Kit
	v      variant
	source source
	system *kit.System
}

func (s *made) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (stats graphrag.IndexStats, err error) {
	o := s.v.o
	if s.v.outside > 0 {
		if o.Graph, err = s.source.graph(ctx, o.Cut, docs, s.v.outside); err != nil {
			return stats, err
		}
	}
	if s.system, err = gear.New(s.k, o); err != nil {
		return stats, err
	}
	return s.system.Index(ctx, docs)
}

func (s *made) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return s.system.Answer(ctx, q)
}

func (s *made) Close() error {
	if s.system == nil {
		return nil
	}
	return s.system.Close()
}

// experimentFile holds the tables of an experiment, in the report folder.
const experimentFile = "experiment.txt"

// writeExperiment prints the tables of the experiment and keeps them in the folder.
func writeExperiment(w io.Writer, s settings, set *benchmark.Dataset, grid *report.Grid) error {
	x := s.chosen()
	var tables []report.Table
	for _, t := range grid.Trials {
		found, err := x.measure(s, set, t.Run)
		if err != nil {
			return err
		}
		for i := range found {
			found[i].Title = fmt.Sprintf("%s: %s, %s", s.experiment, found[i].Title, label(s, t, x.modelled))
		}
		tables = append(tables, found...)
	}
	return writeTables(w, s.Out, experimentFile, tables)
}

// measure makes the tables: recall at three depths, the pairs, and what the experiment
// has of its own.
func (x experiment) measure(s settings, set *benchmark.Dataset, run *benchmark.Run) (out []report.Table, err error) {
	for i := range run.Systems {
		if _, failed := rankings(run, i, ""); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", run.Systems[i].Name, failed))
		}
	}
	if err != nil {
		return nil, err
	}
	if !x.modelled {
		out = append(out, recallTable(set, run))
	}
	if len(x.pairs) > 0 {
		t, err := pairTable(set, run, x.pairs, judged(s.judge), s.Seed)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if s.judge == liverag.Profile && !x.modelled {
		t, err := liveRAGTable(run, s.Seed)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if x.tables != nil {
		more, err := x.tables(run, s.Seed, s.Paid())
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}
