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
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/upstream"
)

//go:embed all:sample
var sample embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(status(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr), os.Stderr))
}

// run is the program without its process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	s, err := parse(args, getenv, stderr, all.Names())
	if err != nil {
		return err
	}
	if s.listSystems {
		_, err := fmt.Fprintln(stdout, strings.Join(all.Names(), "\n"))
		return err
	}
	if s.check != "" {
		return check(s, stdout)
	}
	set, stats, err := load(s)
	if err != nil {
		return err
	}
	predictions, err := readScores(s.scores, set, s.limit, s.partial)
	if err != nil {
		return err
	}
	parts, err := newParts(s, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	defer parts.close()
	if s.dryRun {
		describe(stderr, s, set, stats)
		return dryRun(ctx, stdout, s, set, parts, predictions)
	}
	entries, err := entries(ctx, s, parts)
	if err != nil {
		return err
	}
	describe(stderr, s, set, stats)
	coverage, err := benchmark.NewCoverage("")
	if err != nil {
		return err
	}
	var verdicts []error
	for i, j := range parts.judges {
		if u, ok := j.Judge.(*upstream.Judge); ok {
			fmt.Fprintln(stderr, "Note:", u.Warning())
		}
		folder := s.out
		if i > 0 { // judged again, from the same records
			folder = filepath.Join(s.out, j.profile)
			fmt.Fprintf(stdout, "\nThe same answers, judged by %s:\n", j.Name())
		}
		runner := &benchmark.Runner{
			Dataset: set,
			Systems: append(entries, predictions...),
			Judge:   j.Judge,
			Options: benchmark.Options{
				Dir: s.out, Kit: s.kitName(), Limit: s.limit, TopK: s.topK(), SweepTopK: s.sweepTopK,
				Settings: parts.decisive(s), Config: s.descriptive(j.profile), Concurrency: s.concurrency,
				ShowEvidence: s.answerKit == kitModel || s.grounded || s.precisionRef == string(judge.RefEvidence),
				CountTokens:  parts.count, Coverage: coverage, NoTimings: s.noTimings,
				MaxFailed: maxFailed(s.maxFailed), Retry: s.retry, Logger: parts.log,
			},
		}
		r, err := runOnce(ctx, s, runner, parts, folder, stdout, stderr)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, verdict(s.minima, r))
	}
	return errors.Join(verdicts...)
}

// runOnce runs what is not on record, and writes the report into a folder.
func runOnce(ctx context.Context, s settings, runner *benchmark.Runner, p *parts, folder string, stdout, stderr io.Writer) (*report.Report, error) {
	bar := newProgress(stderr)
	runner.Options.Progress = bar.event
	start := time.Now()
	records, err := runner.Run(ctx)
	bar.done()
	if err := errors.Join(err, p.account(s.out, stderr)); err != nil {
		return nil, err
	}
	r, err := report.Write(folder, records)
	if err != nil {
		return nil, err
	}
	if names := undescribed(r, s.graphs); len(names) > 0 {
		fmt.Fprintf(stderr, "Note: no system has a graph of %s to describe; add one that builds graphs to -systems, such as hipporag2.\n", strings.Join(names, ", "))
	}
	fmt.Fprintln(stdout)
	if err := report.WriteText(stdout, r.Tables()...); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(stdout, "\n%sReport: %s (also report.json, report.md, report.csv)\n",
		took(s, bar, time.Since(start)), filepath.Join(folder, "report.html"))
	return r, err
}

// maxFailed translates the flag: 0 allows none, and is not the default.
func maxFailed(share float64) float64 {
	if share == 0 {
		return -1
	}
	return share
}

func took(s settings, bar *progress, d time.Duration) string {
	if bar.answered() == 0 {
		return fmt.Sprintf("Nothing to do, %d answers are there. ", bar.last.Done)
	}
	if s.noTimings {
		return ""
	}
	return fmt.Sprintf("%d questions answered and judged in %s. ", bar.answered(), d.Round(10*time.Millisecond))
}

// load opens the data set: the shipped sample, or a folder.
func load(s settings) (*benchmark.Dataset, []wildgraph.Stats, error) {
	fsys, err := fs.Sub(sample, "sample")
	if err != nil {
		return nil, nil, err
	}
	if s.data != "" {
		// Nothing outside of the folder is read, whatever links it holds. Pages
		// are read as long as the program runs.
		root, err := os.OpenRoot(s.data)
		if err != nil {
			return nil, nil, err
		}
		fsys = root.FS()
	}
	set, stats, err := wildgraph.Load(fsys, wildgraph.Options{Domains: s.domains})
	if errors.Is(err, wildgraph.ErrUnknownDomain) {
		err = cli.Usagef("-domains: %w", err)
	}
	if err == nil && s.data == "" {
		set.Name += " sample"
	}
	if err == nil {
		err = addGraphs(set, s.graphs)
	}
	return set, stats, err
}

// describe says what is going to be run.
func describe(w io.Writer, s settings, set *benchmark.Dataset, stats []wildgraph.Stats) {
	var pages int
	var bytes int64
	for _, st := range stats {
		pages += st.Pages
		bytes += st.Bytes
	}
	fmt.Fprintf(w, "%s: %d domains, %d pages (%.1f MB), %d questions. Kit: %s.\n",
		set.Name, len(stats), pages, float64(bytes)/1e6, len(questions(set, s.limit)), s.kitName())
	for _, note := range set.Notes {
		fmt.Fprintln(w, "Note:", text.OneLine(note))
	}
}

// entries make the selected systems take part.
func entries(ctx context.Context, s settings, p *parts) ([]benchmark.Entry, error) {
	var out []benchmark.Entry
	for _, sys := range s.selected() {
		e, err := entry(ctx, sys, s, p)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
