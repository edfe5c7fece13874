// SPDX-License-Identifier: Apache-2.0

// Command wildgraphbench runs question-answering systems over WildGraphBench
// and writes a report folder.
//
//	go run ./examples/wildgraphbench
//
// runs every system on the small sample shipped with the program, offline.
// With -data it runs on a checkout of the real data set, with -model through a
// language model; -help lists the flags. A run that was stopped goes on when
// it is started again.
//
// The exit status is 0 on success, 1 on failure or when a figure is below its
// -min, 2 for a wrong command line, and 3 when the result is not complete: the
// run was stopped, its budget is spent, questions are left without a score, or so
// much of a system failed that it is not compared.
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
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/upstream"
)

//go:embed all:sample
var sample embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(lab.Status(os.Stderr, "wildgraphbench", run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)))
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
	if s.check != "" {
		return check(s, stdout)
	}
	set, size, err := load(ctx, s)
	if err != nil {
		return err
	}
	predictions, err := readScores(s.scores, set, s.Limit, s.partial)
	if err != nil {
		return err
	}
	parts, err := newParts(s, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	defer parts.Close()
	if s.DryRun {
		describe(stderr, s, set, size)
		return parts.DryRun(ctx, stdout, set, predictions, s.runners(parts, nil))
	}
	if err := s.Forget(); err != nil {
		return err
	}
	entries, err := parts.Entries(ctx)
	if err != nil {
		return err
	}
	describe(stderr, s, set, size)
	coverage, err := benchmark.NewCoverage("")
	if err != nil {
		return err
	}
	runners := s.runners(parts, coverage)(set, append(entries, predictions...))
	var verdicts []error
	for i, j := range parts.judges {
		if u, ok := j.Judge.(*upstream.Judge); ok {
			fmt.Fprintln(stderr, "Note:", u.Warning())
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
func (s settings) runners(p *parts, coverage *benchmark.Coverage) lab.Run {
	return func(set *benchmark.Dataset, systems []benchmark.Entry) (out []*benchmark.Runner) {
		for _, j := range p.judges {
			out = append(out, &benchmark.Runner{
				Dataset: set, Systems: systems, Judge: j.Judge,
				Options: benchmark.Options{
					Dir: s.Out, Kit: s.KitName(), Limit: s.Limit, TopK: s.topK(set), SweepTopK: s.sweepTopK, ContextTokens: s.ContextTokens(),
					Settings: p.Decisive(), Config: s.descriptive(j.profile), Concurrency: s.Concurrency,
					ShowEvidence: s.ByModel() || s.grounded || s.precisionRef == string(judge.RefEvidence),
					CountTokens:  p.Count, Coverage: coverage, NoTimings: s.NoTimings,
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
	if len(s.graphs) > 0 {
		runner.Options.Built = draw(ctx, s.graphs, folder, stdout)
	}
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
	if names := undescribed(r, s.graphs); len(names) > 0 {
		fmt.Fprintf(stderr, "Note: no system has a graph of %s to describe; add one that builds graphs to -systems, such as hipporag2.\n", strings.Join(names, ", "))
	}
	if s.verbose {
		err = report.WriteText(stdout, r.Tables()...)
	} else {
		err = r.WriteRanking(stdout)
	}
	if err != nil {
		return nil, err
	}
	if s.whole() {
		fmt.Fprintf(stdout, "With a model (-model NAME), about %s calls and %d million tokens: -dry-run tells first.\n", cli.Digits(sampleCalls), sampleTokens/1_000_000)
	}
	_, err = fmt.Fprintf(stdout, "%sAll tables: -v. Report: %s\n", bar.Took(time.Since(start), s.NoTimings), filepath.Join(folder, "report.html"))
	return r, err
}
