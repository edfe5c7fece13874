// SPDX-License-Identifier: Apache-2.0

// Command multihop runs question-answering systems over the multi-hop data sets and
// both GraphRAG-Benches, and writes a report folder.
//
//	go run ./examples/multihop
//
// runs every system on the small sample shipped with the program, offline. With -data
// it runs on the data sets of a folder, with -model through language models: each
// model and mode is a column of the tables, each top-k a table, in the form of
// Youtu-GraphRAG's (arXiv 2508.19855). A run that was stopped goes on when it is
// started again. -help lists the flags; the exit status is that of wildgraphbench.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/knowledge"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	reports "github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/liverag"
	"github.com/wildgraph/wildgraph/judge/shortanswer"
)

//go:embed sample/*.json
var sample embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(lab.Status(os.Stderr, "multihop", run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)))
}

// run is the program without its process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	s, err := parse(args, getenv, stderr, all.Names())
	if err != nil {
		return err
	}
	if s.ListSystems {
		return lab.WriteSystems(stdout)
	}
	if s.audited != "" {
		return printAudited(stdout, s.audited)
	}
	set, err := load(s)
	if err != nil {
		return err
	}
	if err := s.Forget(); err != nil {
		return err
	}
	describe(stderr, s, set)
	if s.audit != "" {
		return runAudit(ctx, s, set, stdout, stderr)
	}
	grid := &report.Grid{
		Heading: set.Name, TopK: s.topK, Set: multihop.SetOf, Title: title,
		Community: []string{reports.Stage, knowledge.Stage, summary.Stage},
		Ablation:  []string{noCommunity, youtu.NameNoAgent, noSchema, youtu.Name},
	}
	if s.data != "" {
		grid.Published = multihop.Published()
	}
	var took string
	for _, t := range s.trials() {
		records, line, err := t.run(ctx, set, stdout, stderr)
		if records != nil { // no dry run
			grid.Trials = append(grid.Trials, report.Trial{Model: t.Model, Mode: t.Mode, Run: records})
			took = line // of the last
		}
		if err != nil {
			return errors.Join(err, writeDone(s, grid))
		}
	}
	switch {
	case s.DryRun:
		return nil
	case s.graph:
		return graphs(stdout, s, grid)
	case s.experiment != "":
		return writeExperiment(stdout, s, set, grid)
	case s.judge == liverag.Profile:
		return writeLiveRAG(stdout, s, grid)
	}
	return write(stdout, s, grid, took)
}

// load opens the data sets: the shipped sample, or those of a folder.
func load(s settings) (*benchmark.Dataset, error) {
	fsys, err := fs.Sub(sample, "sample")
	if err != nil {
		return nil, err
	}
	if s.data != "" {
		root, err := os.OpenRoot(s.data) // nothing outside is read, whatever links it holds
		if err != nil {
			return nil, err
		}
		defer root.Close() // all was read
		fsys = root.FS()
	}
	set, err := read(fsys, s)
	if errors.Is(err, multihop.ErrUnknownSet) {
		return nil, cli.Usagef("-dataset: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if s.data == "" {
		set.Name += " sample"
	}
	if s.graph {
		set.Published = &benchmark.Published{Graphs: wildgraph.PublishedGraphs()}
		for i := range set.Domains {
			set.Domains[i].Items = nil
		}
	} else if !slices.ContainsFunc(set.Domains, func(d benchmark.Domain) bool { return len(d.Items) > 0 }) {
		return nil, cli.Usagef("-dataset: %s has no questions that are asked here; -graph describes its graph", strings.Join(s.sets, ", "))
	}
	return set, nil
}

// read reads the data sets that are chosen, or all there are.
func read(fsys fs.FS, s settings) (*benchmark.Dataset, error) {
	others := slices.DeleteFunc(slices.Clone(s.sets), func(name string) bool { return name == anonyName })
	named := len(others) < len(s.sets)
	info, err := fs.Stat(fsys, anonyName)
	there := err == nil && info.IsDir()
	if named && !there {
		return nil, fmt.Errorf("%w: no folder %s here", multihop.ErrUnknownSet, anonyName)
	}
	set, err := multihop.Load(fsys, multihop.Options{Sets: others, Corpora: s.graph})
	if there && errors.Is(err, multihop.ErrUnknownSet) && len(others) == 0 || named && len(others) == 0 {
		set, err = &benchmark.Dataset{Name: multihop.Name}, nil
	}
	if err == nil && there && (named || len(s.sets) == 0) {
		err = addAnonyRAG(set, fsys)
	}
	return set, err
}

// describe says what is going to be run.
func describe(w io.Writer, s settings, set *benchmark.Dataset) {
	n := 0
	for range set.Limited(s.Limit).Items() {
		n++
	}
	corpora := "corpora"
	if len(set.Domains) == 1 {
		corpora = "corpus"
	}
	fmt.Fprintf(w, "%s: %d %s, %s questions. Kit: %s.\n", set.Name, len(set.Domains), corpora, cli.Digits(n), s.KitName())
	for _, note := range set.Notes {
		fmt.Fprintln(w, "Note:", text.OneLine(note))
	}
}

// The variants of Youtu-GraphRAG of -ablation.
const (
	noCommunity = youtu.Name + "-nocommunity"
	noSchema    = youtu.Name + "-noschema"
)

// entries make the systems take part, and the variants that are asked for.
func (t trial) entries(ctx context.Context, p *lab.Parts) ([]benchmark.Entry, error) {
	if t.experiment != "" {
		return t.variantEntries(ctx, p)
	}
	out, err := p.Entries(ctx)
	for i, e := range out {
		if e.Fixed && t.Mode == string(reader.Reject) && e.NotApplicable == "" {
			out[i].NotApplicable = "answers from memory: there is no evidence to reject by"
		}
	}
	if err != nil || !t.ablation {
		return out, err
	}
	base, _ := all.Find(youtu.Name)
	for name, o := range map[string]youtu.Options{noCommunity: {NoCommunities: true}, noSchema: {NoSchema: true}} {
		variant := base
		variant.Name, variant.Also = name, nil
		variant.New = func(k kit.Kit, c kit.Common) (*kit.System, error) {
			o.Common = c
			return youtu.New(k, o)
		}
		e, err := p.Entry(ctx, variant)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b benchmark.Entry) int { return variantOrder(a.Name) - variantOrder(b.Name) })
	return out, nil
}

func variantOrder(name string) int { return slices.Index([]string{noCommunity, noSchema}, name) }

// run runs one model in one mode over everything, or estimates what that takes. It
// says how long it took. With an error the records are those that there are, if any.
func (t trial) run(ctx context.Context, set *benchmark.Dataset, stdout, stderr io.Writer) (records *benchmark.Run, took string, err error) {
	parts, err := lab.NewParts(t.Settings, cli.NewLogger(stderr))
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, parts.Close()) }()
	j, err := newJudge(parts, set, t.judge)
	if err != nil {
		return nil, "", err
	}
	coverage, err := benchmark.NewCoverage("")
	if err != nil {
		return nil, "", err
	}
	runners := func(set *benchmark.Dataset, systems []benchmark.Entry) []*benchmark.Runner {
		return []*benchmark.Runner{{Dataset: set, Systems: systems, Judge: j, Options: t.options(parts, set, coverage)}}
	}
	if t.DryRun {
		return nil, "", parts.DryRun(ctx, stdout, set, nil, runners)
	}
	entries, err := t.entries(ctx, parts)
	if err != nil {
		return nil, "", err
	}
	bar := lab.NewProgress(stderr)
	if t.data == "" && !bar.Terminal() { // the sample takes seconds
		bar = lab.NewProgress(io.Discard)
	}
	runner := runners(set, entries)[0]
	runner.Options.Progress = bar.Event
	start := time.Now()
	records, err = runner.Run(ctx)
	bar.Done()
	if err := errors.Join(err, parts.Account(t.Out, stderr)); err != nil {
		return records, "", err
	}
	return records, bar.Took(time.Since(start), t.NoTimings), nil
}

func newJudge(p *lab.Parts, set *benchmark.Dataset, name string) (judge.Judge, error) {
	if name == liverag.Profile {
		return liverag.New(liverag.Options{Model: p.Judge})
	}
	o := shortanswer.Options{Model: p.Judge, Schemes: multihop.Schemes()}
	if p.Embedder != nil {
		o.Embedder = p.Embedder
	}
	short, err := shortanswer.New(o)
	if err != nil {
		return nil, err
	}
	var hidden []string
	for _, t := range set.Types {
		if _, ok := o.Schemes[t.Key]; !ok {
			hidden = append(hidden, t.Key)
		}
	}
	if len(hidden) == 0 {
		return short, nil
	}
	other, err := anonyrag.New(anonyrag.Options{Model: p.Judge})
	return judges{short, other, hidden}, err
}

// depth is how deep rankings are measured: the deepest recall that papers give.
const depth = 20

func (t trial) options(p *lab.Parts, set *benchmark.Dataset, coverage *benchmark.Coverage) benchmark.Options {
	o := benchmark.Options{
		Dir: t.Out, Kit: t.KitName(), Limit: t.Limit, TopK: make(map[string]int), ContextTokens: t.ContextTokens(), Depth: depth,
		Settings: p.Decisive(), Config: map[string]any{"topk": t.topK}, Concurrency: t.Concurrency,
		ShowEvidence: t.ByModel() || t.judge == liverag.Profile, CountTokens: p.Count, Coverage: coverage, NoTimings: t.NoTimings,
		MaxFailed: lab.MaxFailed(t.MaxFailed), Retry: t.Retry, Logger: p.Log,
	}
	if t.ByModel() {
		o.Config["judge_model"] = t.JudgeModel
	}
	for _, kind := range set.Types {
		o.TopK[kind.Key] = t.topK[0]
	}
	o.SweepTopK = slices.Sorted(slices.Values(t.topK[1:]))
	return o
}

// write writes the folder of the grid and one for each trial, and prints the tables;
// those of the sample in one.
func write(w io.Writer, s settings, grid *report.Grid, took string) error {
	tables, err := report.WriteGrid(s.Out, grid)
	if err != nil {
		return err
	}
	var verdicts []error
	for i, t := range s.trials() {
		r := tables.Reports[i]
		if err := r.Write(filepath.Join(s.Out, t.folder), grid.Trials[i].Run); err != nil {
			return err
		}
		verdicts = append(verdicts, lab.Complete(r))
	}
	shown := tables.All
	if s.data == "" {
		shown = []report.Table{tables.Overview}
	}
	if err := report.WriteText(w, shown...); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%sReport: %s (and one of each model and mode in folders beside it)\n", took, filepath.Join(s.Out, "report.html")); err != nil {
		return err
	}
	return errors.Join(verdicts...)
}

// writeDone writes the reports of what there is when a run is stopped, of each trial that
// was begun. The tables over all trials, and those of experiments, are of whole runs.
func writeDone(s settings, grid *report.Grid) error {
	if s.experiment != "" || s.judge == liverag.Profile {
		return nil
	}
	var errs []error
	for i, t := range grid.Trials {
		folder := s.trials()[i].folder
		if s.graph {
			folder = graphsFolder
		}
		_, err := report.Write(filepath.Join(s.Out, folder), t.Run)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// graphsFolder is where the report of -graph is, in the report folder.
const graphsFolder = "graphs"

// graphs prints the statistics of all graphs.
func graphs(w io.Writer, s settings, grid *report.Grid) error {
	r, err := report.Write(filepath.Join(s.Out, graphsFolder), grid.Trials[0].Run)
	if err != nil {
		return err
	}
	t := r.GraphTable()
	if len(t.Rows) == 0 {
		return fmt.Errorf("no system has a graph to describe; add one that builds graphs to -systems, such as hipporag2")
	}
	if err := report.WriteText(w, t); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Report: %s\n", filepath.Join(s.Out, graphsFolder, "report.html"))
	return errors.Join(err, lab.Complete(r))
}
