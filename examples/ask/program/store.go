// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	api "github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/display"
)

// openStore opens the store in a folder. Another process may write to a store that is opened read-only.
func openStore(_ context.Context, place string, reading bool) (store.Store, error) {
	if strings.Contains(place, "://") {
		return nil, fmt.Errorf("-store %s: this program opens only folders; use examples/indexer for databases", place)
	}
	return disk.Open(place, disk.Options{ReadOnly: reading})
}

// stored indexes -docs in a store, if they are given, and answers from the store.
func stored(ctx context.Context, s settings, std streams) (err error) {
	if s.Out, err = os.UserCacheDir(); err != nil {
		return err
	}
	s.Out = filepath.Join(s.Out, "wildgraph", "store") // cache of vectors
	parts, err := setup.NewParts(ctx, s.Settings, cli.NewLogger(std.err))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parts.Close()) }()
	common := s.Settings.Common()
	common.Progress = rate(std.err)
	base, err := parts.System(s.system, parts.Kit, common)
	if err != nil {
		return err
	}
	frame := base.Frame()
	searched := frame.Words != nil || frame.Vectors && frame.Kit.Trained
	works := !searched && s.stores.Share != nil && s.docs == "" && s.question == "" && s.serve == ""
	st, err := s.stores.Open(ctx, s.store, s.docs == "" && !works)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	fill := func(ctx context.Context, system *kit.System) (graphrag.IndexStats, error) {
		return system.Index(ctx, rows(ctx, s.docs, std.err))
	}
	if !searched && s.stores.Share != nil && (s.docs != "" || works) {
		x, err := index.Open(ctx, index.Options{Store: st, Name: base.Name(), System: func() (*kit.System, error) { return kit.New(frame) }})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.Close()) }()
		if !works {
			if _, err := x.Put(ctx, rows(ctx, s.docs, std.err)); err != nil {
				return err
			}
		}
		if ended, err := s.stores.Share(ctx, x, works, std.err); ended || err != nil {
			return err
		}
		fill = x.Build
	}
	system, err := kit.Open(ctx, frame, st, base.Name())
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("the store %s has no documents for -system %s: add them with -docs: %w", s.store, base.Name(), err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	if s.docs != "" {
		stats, err := fill(ctx, system)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.err, "%s documents, %s passages\n", display.Digits(stats.Documents), display.Digits(stats.Chunks))
		for _, note := range stats.Notes() {
			fmt.Fprintln(std.err, note)
		}
	}
	if s.serve != "" {
		return serveStore(ctx, system, s, std.err)
	}
	return answered(ctx, s, system, std.out)
}

// answered writes the answer to the question of the command line, if there is one.
func answered(ctx context.Context, s settings, system *kit.System, out io.Writer) error {
	if s.question == "" {
		return nil
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: s.question, K: s.k, Where: s.where})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, display.Printable(a.Text))
	for _, c := range a.Citations {
		if chunk, ok := a.Passage(c); ok {
			fmt.Fprintf(out, "   %s  “%s”\n", display.OneLine(chunk.Doc), short(a.Text[c.Start:c.End]))
		}
	}
	if a.Refused {
		return cli.ErrNoAnswer
	}
	return nil
}

// serveStore serves an API in OpenAI's form over the store, and refreshes the index every second.
func serveStore(ctx context.Context, system *kit.System, s settings, log io.Writer) error {
	h, err := api.New(system, api.Options{Tokens: s.tokens, K: s.k, ReadOnly: s.docs == ""})
	if err != nil {
		return err
	}
	l, err := api.Listen(s.serve, s.tokens)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "Chat programs ask http://%s/v1; Ctrl-C ends it.\n", l.Addr())
	go func() {
		for tick := time.NewTicker(time.Second); ctx.Err() == nil; <-tick.C {
			if err := system.Refresh(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintln(log, err)
			}
		}
	}()
	return api.Serve(ctx, l, h)
}

// rate prints the number of documents indexed and the rate, every two seconds.
func rate(w io.Writer) func(graphrag.IndexStats) {
	begun := time.Now()
	last := begun
	return func(s graphrag.IndexStats) {
		if now := time.Now(); now.Sub(last) > 2*time.Second {
			last = now
			fmt.Fprintf(w, "%s documents, %s a second\n", display.Digits(s.Documents), display.Digits(int(float64(s.Documents)/now.Sub(begun).Seconds())))
		}
	}
}

// rows returns the documents of a file of records ([load.Rows]) or the files of a folder, and prints their problems.
func rows(ctx context.Context, name string, told io.Writer) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		if !slices.Contains([]string{".jsonl", ".csv", ".tsv"}, strings.ToLower(filepath.Ext(name))) {
			files, err := load.Root(name)
			if err != nil {
				yield(graphrag.Document{}, err)
				return
			}
			o := cli.NewFiles()
			defer o.Close() // only read
			o.Skipped = func(list []error) { fmt.Fprintln(told, errors.Join(list...)) }
			o.Documents(ctx, files)(yield)
			return
		}
		f, err := os.Open(name)
		if err != nil {
			yield(graphrag.Document{}, err)
			return
		}
		defer f.Close() // only read
		load.Rows(filepath.Base(name), f, func(err error) { fmt.Fprintln(told, err) })(yield)
	}
}
