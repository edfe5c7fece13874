// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/display"
)

// layouts are the data sets that -data recognises. A further one is a line here.
var layouts = []benchmark.Layout{own.Layout, wildgraph.Layout, multihop.Layout}

// loaded opens the data set: the shipped sample, a folder, or a file of questions with a folder of documents.
func loaded(ctx context.Context, s settings) (*benchmark.Dataset, error) {
	d, err := open(ctx, s)
	if errors.Is(err, benchmark.ErrUnknownDomain) {
		err = cli.Usagef("-domains: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if s.indexOnly {
		for i := range d.Domains {
			d.Domains[i].Items = nil
		}
	} else if len(questions(d, 0)) == 0 {
		return nil, cli.Usagef("%s has no questions that are asked here; -index-only describes its graphs", d.Name)
	}
	d.Notes = append(slices.Clone(d.Notes), unfit(d, reader.Mode(s.Mode))...)
	return d, nil
}

// unfit returns notes on questions that make figures misleading.
func unfit(set *benchmark.Dataset, mode reader.Mode) (notes []string) {
	all, unanswerable := 0, 0
	texts := make(map[string]int)
	for _, d := range set.Domains {
		for _, it := range d.Items {
			all++
			texts[d.Name+"\x00"+strings.ToLower(display.OneLine(it.Question.Text))]++
			if it.Unanswerable {
				unanswerable++
			}
		}
	}
	if unanswerable > 0 && !mode.Rejects() {
		notes = append(notes, fmt.Sprintf("%d of %s have no answer, but -mode %s answers them: -mode reject refuses if the documents have no answer", unanswerable, display.Counted(all, "question"), mode))
	}
	if again := all - len(texts); again > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s repeat an earlier one word for word: they count again without new information", again, display.Counted(all, "question")))
	}
	if all < report.MinQuestions {
		notes = append(notes, fmt.Sprintf("%s: with fewer than %d there is no interval and no test, and no system is called better", display.Counted(all, "question"), report.MinQuestions))
	}
	return notes
}

func open(ctx context.Context, s settings) (*benchmark.Dataset, error) {
	if s.questions != "" {
		return openOwn(ctx, s)
	}
	if s.data == "" {
		folder, err := fs.Sub(sample, "sample")
		if err != nil {
			return nil, err
		}
		set, err := wildgraph.Load(folder, benchmark.LoadOptions{Domains: s.domains})
		if err == nil {
			set.Name += " sample"
		}
		return set, err
	}
	// Links out of the folder are not followed. Pages are read as long as the program runs.
	root, err := os.OpenRoot(s.data)
	if err != nil {
		return nil, err
	}
	return benchmark.Open(root.FS(), benchmark.LoadOptions{
		Name: filepath.Base(absolute(s.data)), Domains: s.domains, K: s.k, Mode: s.Mode, OwnPrompt: s.Instruction == "" || len(s.Replaced()) > 1,
	}, layouts...)
}

// openOwn reads a file of questions and a folder of documents.
func openOwn(ctx context.Context, s settings) (*benchmark.Dataset, error) {
	if len(s.domains) > 0 {
		return nil, cli.Usagef("-domains: %s has one domain", filepath.Base(s.questions))
	}
	if rel, err := filepath.Rel(absolute(s.docs), absolute(s.questions)); s.docs != "" && err == nil && filepath.IsLocal(rel) {
		return nil, cli.Usagef("-questions %s is in the folder of -docs and may be indexed: move it out", s.questions)
	}
	var docs fs.FS
	if s.docs != "" {
		var err error
		if docs, err = load.Root(s.docs); err != nil {
			return nil, cli.Usagef("-docs: %w", err)
		}
	}
	f, err := os.Open(s.questions)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	files := cli.NewFiles()
	defer files.Close() // all was read
	return own.Load(ctx, filepath.Base(s.questions), f, docs, files.Options)
}

// absolute returns the absolute path of a file, or name if it cannot be determined.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// describe prints the data set and the kit of a run.
func describe(w io.Writer, s settings, d *benchmark.Dataset) {
	var domains []string
	pages, bytes := 0, int64(0)
	for _, of := range d.Domains {
		pages, bytes, domains = pages+of.Pages, bytes+of.Bytes, append(domains, of.Name)
	}
	name := d.Name
	if len(domains) < 10 && domains[0] != name {
		name += " (" + strings.Join(domains, ", ") + ")"
	}
	fmt.Fprintf(w, "%s: %s, %s (%.1f MB), %s. Kit: %s.\n",
		name, display.Counted(len(d.Domains), "domain"), display.Counted(pages, "page"), float64(bytes)/1e6, display.Counted(len(questions(d, s.Limit)), "question"), s.KitName())
	for _, note := range d.Notes {
		fmt.Fprintln(w, "Note:", display.OneLine(note))
	}
}
