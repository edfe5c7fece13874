// SPDX-License-Identifier: Apache-2.0

// Command anonyrag shows how much of what a system answers its model knew before: it
// asks about books as they are and with every name hidden, with retrieval and without.
//
//	go run ./examples/anonyrag
//
// takes the two retold stories shipped with the program, hides their names, and runs
// systems over both, offline. With -model NAME a language model answers, so that
// zero-shot and the reversion of names have figures too; -data DIR reads a data set in
// the files of AnonyRAG, -book makes one of your own book, -generate adds questions,
// and -build writes what was made. The exit status is that of wildgraphbench.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// settings are the parsed flags.
type settings struct {
	lab.Settings
	data, book, build string
	language          string
	generate, topK    int
	judged            bool
}

const (
	defaultOut = "anonyrag-out"
	sampleTopK = 5 // of fifteen passages; the paper's twenty would be all of them
)

// The systems of the table without -systems: the rules of the offline kit find no names
// in Chinese, and so make no graph of it.
var (
	flat   = []string{"zeroshot", "bm25", "naiverag"}
	graphs = []string{"lightrag", "hipporag2", "linearrag"}
)

func parse(args []string, getenv func(string) string, stderr io.Writer) (settings, error) {
	var s settings
	fs := cli.NewFlags("anonyrag")
	fs.Usage = func() {
		lab.Help(stderr, fs, "Hides the names in books, asks for them, and writes a report folder. Without flags: the\n"+
			"books shipped with the program, offline.",
			cli.Group{Title: "What to run", Flags: []string{"data", "book", "language", "generate", "build"}},
			cli.Group{Title: "What they read", Flags: []string{"topk"}},
			cli.Group{Title: "Models", Flags: []string{"judged"}})
	}
	fs.StringVar(&s.data, "data", "", "`DIR` with a data set: eng_corpus.json and eng_qa.json, or chs_… (default: the shipped books)")
	fs.StringVar(&s.book, "book", "", "`FILE` of a book to hide the names of: JSON as in the program's sample, or with -model a plain text")
	fs.StringVar(&s.language, "language", "eng", "eng or chs: the language of a plain text in -book")
	fs.IntVar(&s.generate, "generate", 0, "add up to `N` questions to each book: by the model, or offline by templates over extracted facts")
	fs.StringVar(&s.build, "build", "", "write the books with hidden names into `DIR`, in the files that -data reads, and run nothing")
	fs.IntVar(&s.topK, "topk", 0, fmt.Sprintf("chunks in a prompt (default: %d, of the books of the program %d)", anonyrag.TopK, sampleTopK))
	fs.BoolVar(&s.judged, "judged", false, "with -model: let the model judge, as in the published figures (default: by rules)")
	s.Flags(fs, getenv, defaultOut)
	fs.StringVar(&s.Model, "model", getenv("WILDGRAPH_MODEL"), "`NAME` of the answering model (default: $WILDGRAPH_MODEL)")
	fs.StringVar(&s.Mode, "mode", string(reader.Open), "open (may use own knowledge) or reject (must refuse without evidence)")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, cli.Usagef("unexpected argument %q", fs.Arg(0))
	}
	problems := append(s.Complete(fs, all.Names()), s.Folders(map[string]string{"data": s.data})...)
	if len(s.Systems) == 0 {
		if s.Systems = flat; s.IndexKit == kit.NameModel {
			s.Systems = append(slices.Clone(flat), graphs...)
		}
	}
	problems = append(problems, lab.AtLeast("generate", s.generate, 0)...)
	problems = append(problems, lab.AtLeast("topk", s.topK, 0)...)
	problems = append(problems, lab.OneOf("language", s.language, "eng", "chs")...)
	if s.data != "" && (s.book != "" || s.generate > 0 || s.build != "") {
		problems = append(problems, errors.New("-data is a finished data set: -book, -generate and -build are for making one"))
	}
	if s.book != "" && !strings.HasSuffix(s.book, ".json") && s.Model == "" {
		problems = append(problems, errors.New("-book: to find the names in a plain text takes -model; a book in JSON brings them along"))
	}
	if s.judged && !s.ByModel() {
		problems = append(problems, errors.New("-judged needs -model"))
	}
	if s.topK == 0 {
		if s.topK = anonyrag.TopK; s.data == "" {
			s.topK = sampleTopK
		}
	}
	if s.Out == "" {
		s.Out = filepath.Join(defaultOut, s.Folder(s.data, s.Model, map[string]any{"topk": s.topK}))
	}
	return s, cli.Usage(errors.Join(problems...))
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(lab.Status(os.Stderr, "anonyrag", run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)))
}

// run is the program without its process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	s, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	if s.ListSystems {
		return lab.WriteSystems(stdout)
	}
	parts, err := lab.NewParts(s.Settings, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	defer parts.Close()
	if !s.ByModel() {
		if parts.Kit.Read, err = newChooser(parts.Kit.Read); err != nil {
			return err
		}
	}
	set, about, err := s.load(ctx, parts)
	if err != nil {
		return err
	}
	for _, line := range append(about, set.Notes...) {
		fmt.Fprintln(stdout, text.OneLine(line))
	}
	if s.build != "" {
		return nil
	}
	if !s.ByModel() {
		set = withoutReversions(set)
	}
	o := anonyrag.Options{}
	if s.judged {
		o.Model = parts.Judge
	}
	judge, err := anonyrag.New(o)
	if err != nil {
		return err
	}
	runners := func(set *benchmark.Dataset, systems []benchmark.Entry) []*benchmark.Runner {
		topK := make(map[string]int)
		for _, t := range set.Types {
			topK[t.Key] = s.topK
		}
		return []*benchmark.Runner{{
			Dataset: set, Systems: systems, Judge: judge,
			Options: benchmark.Options{
				Dir: s.Out, Kit: s.KitName(), Limit: s.Limit, TopK: topK, ContextTokens: s.ContextTokens(), Settings: parts.Decisive(), Config: map[string]any{"topk": s.topK},
				Concurrency: s.Concurrency, CountTokens: parts.Count, NoTimings: s.NoTimings, MaxFailed: lab.MaxFailed(s.MaxFailed), Retry: s.Retry, Logger: parts.Log,
			},
		}}
	}
	if s.DryRun {
		return parts.DryRun(ctx, stdout, set, nil, runners)
	}
	if err := s.Forget(); err != nil {
		return err
	}
	entries, err := parts.Entries(ctx)
	if err != nil {
		return err
	}
	return s.compare(ctx, runners(set, entries)[0], parts, stdout, stderr)
}

// withoutReversions leaves out what no rule can answer.
func withoutReversions(set *benchmark.Dataset) *benchmark.Dataset {
	out := *set
	out.Types = slices.DeleteFunc(slices.Clone(set.Types), func(t benchmark.Type) bool { return strings.HasPrefix(t.Key, anonyrag.Reversion) })
	out.Domains = slices.Clone(set.Domains)
	for i, d := range set.Domains {
		out.Domains[i].Items = slices.DeleteFunc(slices.Clone(d.Items), func(it benchmark.Item) bool { return strings.HasPrefix(it.Type, anonyrag.Reversion) })
	}
	return &out
}

// compare runs what is not on record, prints the table and writes the report.
func (s settings) compare(ctx context.Context, runner *benchmark.Runner, parts *lab.Parts, stdout, stderr io.Writer) error {
	bar := lab.NewProgress(stderr)
	if s.ByModel() {
		runner.Options.Progress = bar.Event // offline it takes seconds
	}
	records, err := runner.Run(ctx)
	bar.Done()
	if err := errors.Join(err, parts.Account(s.Out, stderr)); err != nil {
		if records != nil { // of what there is
			_, e := report.Write(s.Out, records)
			err = errors.Join(err, e)
		}
		return err
	}
	r, err := report.Write(s.Out, records)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	if err := report.WriteText(stdout, table(records, r, s.topK, s.ByModel())); err != nil {
		return err
	}
	if !s.ByModel() {
		fmt.Fprintln(stdout, "\nWhat a model knows without the books: go run ./examples/anonyrag -model NAME")
	}
	fmt.Fprintln(stdout, "Simple and complex questions apart, with intervals:", filepath.Join(s.Out, "report.html"))
	return lab.Complete(r)
}
