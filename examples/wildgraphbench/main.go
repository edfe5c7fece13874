// SPDX-License-Identifier: Apache-2.0

// Command wildgraphbench runs question-answering systems over WildGraphBench, the
// multi-hop data sets, both GraphRAG-Benches, AnonyRAG or data of one's own, and writes a
// report folder.
//
//	go run ./examples/wildgraphbench                     # every system on a small sample, offline
//	go run ./examples/wildgraphbench -data DIR           # a data set: the folder's layout says which
//	go run ./examples/wildgraphbench compare OUT1 OUT2   # two finished runs
//	go run ./examples/wildgraphbench anonyrag -out DIR   # make a data set whose names are hidden
//
// With -model a language model answers and judges; -help lists the flags. A run that was
// stopped goes on when it is started again.
//
// The exit status is 0 on success, 1 on failure or when a figure is below its
// -min, 64 for a wrong command line, and 3 when the result is not complete: the
// run was stopped, its budget is spent, questions are left without a score, or so
// much of a system failed that it is not compared, or a figure fell by more than -max-loss.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/examples/wildgraphbench/compare"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/judge/short"
)

//go:embed all:sample
var sample embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	status := lab.Status(os.Stderr, "wildgraphbench", err)
	if errors.Is(err, compare.ErrLost) {
		status = lab.ExitIncomplete
	}
	os.Exit(status)
}

// run is the program without its process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "compare" {
		return compare.Run(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "anonyrag" {
		return runAnonyRAG(ctx, args[1:], getenv, stdout, stderr)
	}
	s, err := parse(args, getenv, stderr, all.Names())
	if err != nil {
		return err
	}
	if s.ListSystems {
		return lab.WriteSystems(stdout)
	}
	d, err := load(ctx, s)
	if err != nil {
		return err
	}
	predictions, err := readScores(s.scores, d.Dataset, s.Limit, s.partial)
	if err != nil {
		return err
	}
	parts, err := newParts(s, d, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	defer parts.Close()
	if s.DryRun {
		describe(stderr, s, d)
		return parts.DryRun(ctx, stdout, d.Dataset, predictions, s.runners(d, parts))
	}
	if err := s.Forget(); err != nil {
		return err
	}
	entries, err := parts.Entries(ctx)
	if err != nil {
		return err
	}
	describe(stderr, s, d)
	runners := s.runners(d, parts)(d.Dataset, append(entries, predictions...))
	var verdicts []error
	for i, j := range parts.judges {
		if m, ok := j.Judge.(*model.Judge); ok && m.Warning() != "" {
			fmt.Fprintln(stderr, "Note:", m.Warning())
		}
		folder := s.Out
		if i > 0 { // judged again, from the same records
			folder = filepath.Join(s.Out, j.profile)
			fmt.Fprintf(stdout, "\nThe same answers, judged by %s:\n", j.Name())
		}
		r, err := runOnce(ctx, s, runners[i], parts, folder, stdout, stderr)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, lab.Complete(r), missed(s.minima, r))
	}
	return errors.Join(verdicts...)
}

// runners run entries over a data set, one for each judge.
func (s settings) runners(d data, p *parts) lab.Run {
	return func(set *benchmark.Dataset, systems []benchmark.Entry) (out []*benchmark.Runner) {
		for _, j := range p.judges {
			out = append(out, &benchmark.Runner{
				Dataset: set, Systems: systems, Judge: j.Judge,
				Options: benchmark.Options{
					Dir: s.Out, Kit: s.KitName(), Limit: s.Limit, TopK: s.topK(set), SweepTopK: s.sweep, Depth: d.depth, ContextTokens: s.ContextTokens(),
					Settings: p.Decisive(), Config: s.descriptive(d, j.profile), Concurrency: s.Concurrency,
					ShowEvidence: s.ByModel() || s.grounded || j.profile == short.LiveRAGProfile || s.precisionRef == string(judge.RefEvidence),
					CountTokens:  p.Count, Found: true, NoTimings: s.NoTimings,
					MaxFailed: lab.MaxFailed(s.MaxFailed), Retry: s.Retry, Logger: p.Log,
				},
			})
		}
		return out
	}
}

// runOnce runs what is not on record, and writes the report into a folder.
func runOnce(ctx context.Context, s settings, runner *benchmark.Runner, p *parts, folder string, stdout, stderr io.Writer) (*report.Report, error) {
	bar := lab.NewProgress(stderr)
	runner.Options.Progress = bar.Event
	start := time.Now()
	records, err := runner.Run(ctx)
	bar.Done()
	if err := errors.Join(err, p.Account(s.Out, stderr)); err != nil {
		if records != nil {
			_, e := report.Write(folder, records)
			err = errors.Join(err, e)
		}
		return nil, err
	}
	r, err := report.Write(folder, records)
	if err != nil {
		return nil, err
	}
	switch graphs := r.GraphTable(); {
	case s.indexOnly && len(graphs.Rows) == 0:
		return nil, errors.New("no system has a graph to describe; add one that builds graphs to -systems, such as hipporag2")
	case s.indexOnly:
		err = report.WriteText(stdout, graphs)
	case s.verbose:
		err = report.WriteText(stdout, r.Tables()...)
	default:
		err = r.WriteRanking(stdout)
	}
	if err != nil {
		return nil, err
	}
	if strings.Contains(records.Judge, short.LiveRAGProfile) {
		writeLiveRAG(stdout, r)
	}
	if s.whole() {
		fmt.Fprintf(stdout, "With a model (-model NAME), about %s calls and %d million tokens: -dry-run tells first.\n", cli.Digits(sampleCalls), sampleTokens/1_000_000)
	}
	_, err = fmt.Fprintf(stdout, "%sAll tables: -v.\nReport: %s\n", bar.Took(time.Since(start), s.NoTimings), text.OneLine(filepath.Join(folder, "report.html")))
	return r, err
}
