// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// size is that of a corpus.
type size struct {
	pages int
	bytes int64
}

// load opens the data set: the shipped sample, a folder, or a file of questions with a
// folder of documents.
func load(ctx context.Context, s settings) (*benchmark.Dataset, size, error) {
	set, of, err := open(ctx, s)
	if errors.Is(err, wildgraph.ErrUnknownDomain) {
		err = cli.Usagef("-domains: %w", err)
	}
	if err == nil {
		err = addGraphs(set, s.graphs)
	}
	return set, of, err
}

func open(ctx context.Context, s settings) (*benchmark.Dataset, size, error) {
	if s.questions != "" {
		return openOwn(ctx, s)
	}
	fsys, err := fs.Sub(sample, "sample")
	if err != nil {
		return nil, size{}, err
	}
	if s.data != "" {
		// Nothing outside of the folder is read, whatever links it holds. Pages
		// are read as long as the program runs.
		root, err := os.OpenRoot(s.data)
		if err != nil {
			return nil, size{}, err
		}
		if fsys = root.FS(); own.IsBEIR(fsys) {
			set, err := own.BEIR(fsys, filepath.Base(absolute(s.data)))
			return measured(s, set, err)
		}
	}
	set, stats, err := wildgraph.Load(fsys, wildgraph.Options{Domains: s.domains})
	if err == nil && s.data == "" {
		set.Name += " sample"
	}
	var of size
	for _, st := range stats {
		of.pages += st.Pages
		of.bytes += st.Bytes
	}
	return set, of, err
}

// openOwn reads a file of questions and a folder of documents.
func openOwn(ctx context.Context, s settings) (*benchmark.Dataset, size, error) {
	if rel, err := filepath.Rel(absolute(s.docs), absolute(s.questions)); err == nil && filepath.IsLocal(rel) {
		return nil, size{}, cli.Usagef("-questions %s is in the folder of -docs and may be indexed: move it out", s.questions)
	}
	root, err := os.OpenRoot(s.docs)
	if err != nil {
		return nil, size{}, err
	}
	defer root.Close() // all was read
	f, err := os.Open(s.questions)
	if err != nil {
		return nil, size{}, err
	}
	defer f.Close() // only read
	set, err := own.Load(ctx, filepath.Base(s.questions), f, root.FS())
	return measured(s, set, err)
}

// measured checks that the data set has no domains to choose from, and counts its pages.
func measured(s settings, set *benchmark.Dataset, err error) (*benchmark.Dataset, size, error) {
	var of size
	switch {
	case err != nil:
		return nil, of, err
	case len(s.domains) > 0:
		return nil, of, cli.Usagef("-domains: %s has one domain", set.Name)
	}
	for d, err := range set.Domains[0].Documents() {
		if err != nil {
			return nil, of, err
		}
		of.pages++
		of.bytes += int64(len(d.Text))
	}
	return set, of, nil
}

// absolute is the whole path of a file, as far as it is known.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// counted is a number of things.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return cli.Digits(n) + " " + one + "s"
}

// describe says what is going to be run.
func describe(w io.Writer, s settings, set *benchmark.Dataset, of size) {
	fmt.Fprintf(w, "%s: %s, %s (%.1f MB), %s. Kit: %s.\n",
		set.Name, counted(len(set.Domains)-len(s.graphs), "domain"), counted(of.pages, "page"), float64(of.bytes)/1e6, counted(len(questions(set, s.Limit)), "question"), s.KitName())
	for _, note := range set.Notes {
		fmt.Fprintln(w, "Note:", text.OneLine(note))
	}
}
