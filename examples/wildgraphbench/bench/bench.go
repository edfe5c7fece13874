// SPDX-License-Identifier: Apache-2.0

// Package bench is the command line of the benchmark. Other programs add their systems to it.
//
//	func main() {
//		bench.Main(bench.System{Name: "mine", New: newMine})
//	}
//
// has every flag of examples/wildgraphbench, and a row "mine" in its tables.
package bench

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

//go:embed all:sample
var sample embed.FS

// System is a system that the calling program adds to a run.
type System struct {
	// Name is the name in tables and in -systems: letters, digits, '-', '_', '.' and ':'.
	Name string
	// New makes a new system for each domain. k has the models, the encoder and the seed of the
	// command line, c its chunk sizes.
	New func(k kit.Kit, c kit.Common) (benchmark.System, error)
}

// Main runs the benchmark with the command line of the process, and ends the process. The given systems are
// added to the registry, so that -systems can name them.
func Main(systems ...System) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr, systems...)
	stop()
	status := setup.Status(os.Stderr, "wildgraphbench", err)
	if errors.Is(err, errLost) {
		status = setup.ExitIncomplete
	}
	os.Exit(status)
}

// run runs the program with these arguments and streams.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer, own ...System) error {
	if len(args) > 0 && args[0] == "compare" {
		return runCompare(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "anonyrag" {
		return runAnonyRAG(ctx, args[1:], getenv, stdout, stderr)
	}
	if len(args) > 0 && args[0] == "kg" {
		return runKG(ctx, args[1:], stdout, stderr)
	}
	names, err := allNames(own)
	if err != nil {
		return err
	}
	s, err := parseFlags(args, getenv, stderr, names)
	if err != nil {
		return err
	}
	if s.ListSystems {
		for _, sys := range own {
			fmt.Fprintf(stdout, "%s   of this program\n", sys.Name)
		}
		return setup.WriteSystems(stdout)
	}
	if s.ListOptions {
		return s.WriteOptions(stdout)
	}
	if s.ShowPrompts {
		s.WritePrompts(stdout)
		return nil
	}
	d, err := loaded(ctx, s)
	if err != nil {
		return err
	}
	predictions, err := readScores(s.scores, d, s.Limit, s.partial)
	if err != nil {
		return err
	}
	parts, err := newParts(ctx, s, d, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	defer parts.Close()
	others := append(parts.own(s, own), predictions...)
	if s.DryRun {
		describe(stderr, s, d)
		return parts.DryRun(ctx, stdout, d, others, s.runners(d, parts))
	}
	if s.Fresh {
		if err := record.Forget(s.Out); err != nil {
			return err
		}
	}
	entries, err := parts.Entries()
	if err != nil {
		return err
	}
	describe(stderr, s, d)
	return s.runAll(ctx, d, parts, append(entries, others...), stdout, stderr)
}

// allNames returns the names that -systems accepts.
func allNames(own []System) ([]string, error) {
	names := all.Names()
	for _, sys := range own {
		switch {
		case !record.ValidName(sys.Name):
			return nil, fmt.Errorf("bench: the name %q of a system may hold letters, digits, '-', '_', '.' and ':'", sys.Name)
		case slices.Contains(names, sys.Name):
			return nil, fmt.Errorf("bench: two systems have the name %q", sys.Name)
		case sys.New == nil:
			return nil, fmt.Errorf("bench: the system %q has no New", sys.Name)
		}
		names = append(names, sys.Name)
	}
	return names, nil
}

// own returns entries of the calling program's systems that are named by -systems, or of all.
func (p *runParts) own(s settings, systems []System) (out []benchmark.Entry) {
	for _, sys := range systems {
		if len(s.Systems) > 0 && !slices.Contains(s.Systems, sys.Name) {
			continue
		}
		e := benchmark.Entry{Name: sys.Name}
		p.Seeded(&e, func(k kit.Kit) (benchmark.System, error) { return sys.New(k, s.Common()) })
		out = append(out, e)
	}
	return out
}

// runAll runs the entries, lets each judge judge them, and writes the reports.
func (s settings) runAll(ctx context.Context, d *benchmark.Dataset, parts *runParts, entries []benchmark.Entry, stdout, stderr io.Writer) error {
	runners := s.runners(d, parts)(d, entries)
	var verdicts []error
	var tests testsuites
	for i, j := range parts.judges {
		folder, profile := s.Out, ""
		if i > 0 { // the records exist, so only the judging is new
			folder, profile = filepath.Join(s.Out, j.profile), j.profile
			fmt.Fprintf(stdout, "\nThe same answers, judged by %s:\n", j.Name())
		}
		records, r, err := runOnce(ctx, s, runners[i], parts, folder, stdout, stderr)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, setup.Complete(r), missed(s.minima, records, r))
		tests.add(records, profile, s.minima)
	}
	if s.junit != "" {
		verdicts = append(verdicts, tests.write(s.junit))
	}
	return errors.Join(verdicts...)
}

// runners returns a function that makes a runner for each judge.
func (s settings) runners(d *benchmark.Dataset, p *runParts) setup.Run {
	return func(set *benchmark.Dataset, systems []benchmark.Entry) (out []*benchmark.Runner) {
		for _, j := range p.judges {
			out = append(out, &benchmark.Runner{
				Dataset: set, Systems: systems, Judge: j.Judge,
				Options: benchmark.Options{
					Dir: s.Out, Kit: s.KitName(), Limit: s.Limit, TopK: s.topK(set), SweepTopK: s.sweep, ContextTokens: s.ContextTokens(),
					Settings: p.Decisive(), Config: s.descriptive(d, j.profile), Changed: s.NonDefault(), Concurrency: s.Concurrency,
					ShowEvidence: s.worksheet != "" || s.ByModel() || s.grounded || judge.InfoOf(j.Judge).ReadsEvidence,
					CountTokens:  p.Count, Found: true, NoTimings: s.NoTimings,
					MaxFailed: cmp.Or(s.MaxFailed, -1), // for the library 0 means the default, -1 none
					Retry:     s.Retry, Logger: p.Log, Repeat: s.repeat,
					Price: s.Price(), Currency: s.Currency(),
				},
			})
		}
		return out
	}
}

// runOnce runs everything that has no record, and writes the report into a folder.
func runOnce(ctx context.Context, s settings, runner *benchmark.Runner, p *runParts, folder string, stdout, stderr io.Writer) (*benchmark.Run, *report.Report, error) {
	bar := setup.NewProgress(stderr)
	runner.Options.Progress = bar.Event
	start := time.Now()
	records, err := runner.Run(ctx)
	bar.Done()
	if err := errors.Join(err, p.Account(s.Out, stderr)); err != nil {
		if records != nil {
			_, e := report.Write(folder, records)
			err = errors.Join(err, e)
		}
		return nil, nil, err
	}
	r, err := report.Write(folder, records)
	if err != nil {
		return nil, nil, err
	}
	switch graphs := r.GraphTable(); {
	case s.indexOnly && len(graphs.Rows) == 0:
		return nil, nil, errors.New("no system has a graph to describe; add one that builds graphs to -systems, such as hipporag2")
	case s.indexOnly:
		err = report.WriteText(stdout, graphs)
	case s.verbose:
		if err = r.WriteRanking(stdout); err == nil {
			_, err = fmt.Fprintln(stdout)
		}
		err = errors.Join(err, report.WriteText(stdout, r.Tables()...))
	default:
		err = r.WriteRanking(stdout)
	}
	if err != nil {
		return nil, nil, err
	}
	if scales := records.JudgeInfo.Scales; scales != nil {
		if err := report.WriteText(stdout, scalesOf(r, scales)); err != nil {
			return nil, nil, err
		}
	}
	if s.worksheet != "" {
		if err := writeWorksheets(s.worksheet, records, stdout); err != nil {
			return nil, nil, err
		}
	}
	if s.whole() {
		fmt.Fprintf(stdout, "With a model (-model NAME), about %s calls and %d million tokens: -dry-run estimates them.\n", display.Digits(sampleCalls), sampleTokens/1_000_000)
	}
	_, err = fmt.Fprintf(stdout, "%sAll tables: -v.\nReport: %s\n", bar.Took(time.Since(start), s.NoTimings), display.OneLine(filepath.Join(folder, "report.html")))
	return records, r, err
}

// sampleGraph opens the small graph of the shipped sample.
func sampleGraph() (*triples.Index, error) {
	f, err := sample.Open("sample/graph.tsv")
	if err != nil {
		return nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	return triples.New(context.Background(), triples.TSV("sample/graph.tsv", f).All(), triples.Options{})
}

// runKG builds a folder of a graph for -kg. The graph can be larger than memory.
func runKG(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("wildgraphbench kg")
	fs.Usage = func() {
		cli.Help(stderr, fs, "wildgraphbench kg -out FOLDER PATH builds a folder of a graph, for -kg FOLDER. PATH is a file .tsv, .jsonl or\n"+
			".nt (perhaps with .gz), or a folder with Wikidata5M's three files.", cli.Group{Title: "Flags", Flags: []string{"out"}})
	}
	out := fs.String("out", "", "the `FOLDER` to build")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if *out == "" || fs.NArg() != 1 {
		return cli.Usagef("want: wildgraphbench kg -out FOLDER PATH")
	}
	var bad triples.Bad
	printed := time.Now()
	progress := func(done int) {
		if time.Since(printed) > 5*time.Second {
			printed = time.Now()
			fmt.Fprintf(stderr, "%s triples\n", display.Digits(done))
		}
	}
	if err := triples.Build(ctx, *out, triples.Files(fs.Arg(0), &bad), triples.Options{Progress: progress}); err != nil {
		return err
	}
	ix, err := triples.Open(*out, nil)
	if err != nil {
		return err
	}
	defer ix.Close() // closing an index that was only read cannot lose data
	for _, err := range bad.First {
		fmt.Fprintln(stderr, "skipped:", err)
	}
	fmt.Fprintf(stdout, "%s triples of %s entities and values, %s lines skipped: -kg %s\n", display.Digits(ix.Len()), display.Digits(ix.Entities()), display.Digits(bad.Lines), prompts.Printable(*out))
	return nil
}
