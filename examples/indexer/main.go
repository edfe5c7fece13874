// SPDX-License-Identifier: Apache-2.0

// Command indexer indexes a folder that takes long: by a pool in this process, or by any
// number of workers behind a Temporal server. It may be killed at any time; started
// again it goes on, and pays for no reply twice.
//
//	go run . -docs DIR -store index                                 # offline, in a folder
//	go run . -docs DIR -store index -model NAME -reports            # with a model
//
//	go run . -temporal HOST:7233 -store postgres://… -model NAME    # a worker: as many as you like
//	go run . -temporal HOST:7233 -store postgres://… -model NAME -docs DIR -export OUT
//
// With -system it is the program ask over a store, in a database, too (docs/stores.md):
//
//	go run . -docs rows.jsonl -store postgres://… -system bm25
//	go run . -store postgres://… -system bm25 "question"
//
// All processes of a job have the same -name, -knowledge, -model, -embed-model and -batch.
// The model's server is named by OPENAI_BASE_URL and OPENAI_API_KEY, or OLLAMA_HOST.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/wildgraph/wildgraph/examples/ask/program"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/index/temporal"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

func main() {
	if slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		return strings.TrimLeft(arg, "-") == "system" || strings.HasPrefix(strings.TrimLeft(arg, "-"), "system=")
	}) {
		program.Main(open)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "indexer", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// flags are those of the command line.
type flags struct {
	docs, store, temporal     string
	model, embedModel, prices string
	export                    string
	temperature               *float64
	o                         index.Options
	far                       temporal.Options
	limit                     index.Limit
}

func parse(args []string, stderr io.Writer) (flags, error) {
	fs := cli.NewFlags("indexer")
	var f flags
	fs.StringVar(&f.docs, "docs", "", "`FOLDER` of files to index; without one the process is a worker")
	fs.StringVar(&f.store, "store", "", "`PLACE` of the index: a folder, or a connection string postgres://… that several processes share")
	fs.StringVar(&f.temporal, "temporal", "", "`HOST:PORT` of a Temporal server, by whose word all workers work")
	fs.StringVar(&f.o.Name, "name", "corpus", "`NAME` of the collection")
	fs.StringVar((*string)(&f.o.Knowledge), "knowledge", string(index.Records), "what is extracted: records, triples, or nothing (\"\")")
	fs.BoolVar(&f.o.Reports, "reports", false, "write reports on communities")
	fs.StringVar(&f.model, "model", "", "`NAME` of the model that extracts and reports; without one rules do")
	cli.Temperature(fs, &f.temperature)
	fs.StringVar(&f.embedModel, "embed-model", "", "`NAME` of the model that embeds, a server's or an encoder as docs/offline.md names them; without one there are no vectors")
	fs.IntVar(&f.o.Dim, "dim", 0, "`NUMBER` of components of a server's vectors")
	fs.StringVar(&f.prices, "prices", "", "`FILE` with the prices of models")
	fs.IntVar(&f.o.Batch, "batch", 0, "`NUMBER` of chunks of a task, up to 100 (default 16)")
	fs.IntVar(&f.far.Slots, "slots", 8, "`NUMBER` of tasks at a time that wait for a model, in this process")
	fs.IntVar(&f.limit.Concurrent, "concurrency", 0, "`NUMBER` of such tasks over all workers (default: no limit)")
	fs.Float64Var(&f.limit.PerSecond, "rate", 0, "`NUMBER` of such tasks that begin in a second, over all workers (default: no limit)")
	fs.DurationVar(&f.far.Heartbeat, "heartbeat", 30*time.Second, "`TIME` after which a silent worker is taken for dead")
	fs.StringVar(&f.far.Queue, "queue", "", "`NAME` of the task queues (default wildgraph)")
	fs.StringVar(&f.export, "export", "", "`FOLDER` to export the index to")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return f, err
	}
	switch {
	case f.store == "":
		return f, cli.Usagef("-store is missing: a folder, or postgres://…")
	case f.docs == "" && f.temporal == "":
		return f, cli.Usagef("-docs is missing: what is to be indexed?")
	case f.temporal != "" && !remote(f.store):
		return f, cli.Usagef("-store is the folder %q, which one process has at a time: with -temporal name a database, postgres://…", f.store)
	}
	return f, nil
}

func remote(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	f, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err == nil {
		err = f.parts(ctx, stderr)
	}
	if err != nil {
		return err
	}
	if f.o.Store, err = open(ctx, f.store, false); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.o.Store.Close()) }()
	x, err := index.Open(ctx, f.o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	p, err := f.work(ctx, x, stderr)
	if err != nil || f.docs == "" {
		return err
	}
	if err := f.report(ctx, x, p, stdout); err != nil || f.export == "" {
		return err
	}
	return export(ctx, f.o.Store, f.o.Name, f.export)
}

// open opens the store at a place, for reading alone if nothing is indexed there.
func open(ctx context.Context, place string, reading bool) (store.Store, error) {
	switch {
	case remote(place):
		return postgres.Open(ctx, place, postgres.Options{})
	case strings.HasPrefix(place, "http://"), strings.HasPrefix(place, "https://"):
		return opensearch.Open(ctx, strings.Split(place, ","), opensearch.Options{})
	}
	return disk.Open(place, disk.Options{ReadOnly: reading})
}

// parts are the models, and their prices.
func (f *flags) parts(ctx context.Context, stderr io.Writer) error {
	if f.prices != "" {
		file, err := os.Open(f.prices)
		if err != nil {
			return cli.Usagef("-prices: %w", err)
		}
		defer file.Close()
		if f.o.Prices, err = paid.ReadPrices(file); err != nil {
			return cli.Usagef("-prices: %w", err)
		}
	}
	if f.limit != (index.Limit{}) {
		f.far.Limits = map[string]index.Limit{index.Chat: f.limit, index.Vectors: f.limit}
	}
	if name, ok := hub.Find(f.embedModel, hub.Options{}); ok {
		if err := f.encoder(ctx, name); err != nil {
			return cli.Usagef("-embed-model: %w", err)
		}
		f.embedModel = "" // no server's
	}
	if f.model == "" && f.embedModel == "" {
		return nil
	}
	provider, err := transport.ProviderFromEnv(transport.Options{Concurrency: f.far.Slots, Logger: cli.NewLogger(stderr)})
	if err != nil {
		return cli.Usagef("-model: %w", err)
	}
	if f.model != "" {
		m, err := provider.Model(f.model)
		if err == nil {
			f.o.Model, err = llm.Defaults(m, cli.Settings(f.temperature, 1))
		}
		if err != nil {
			return cli.Usagef("-model: %w", err)
		}
	}
	if f.embedModel != "" {
		if f.o.Embedder, err = provider.Embedder(f.embedModel); err != nil {
			return cli.Usagef("-embed-model: %w", err)
		}
	}
	return nil
}

// encoder opens the encoder that embeds, if the name is one.
func (f *flags) encoder(ctx context.Context, name string) error {
	e, err := hub.Open(ctx, name, hub.Options{})
	if err == nil && e != nil {
		f.o.Embedder, f.o.Dim = e, e.Dim()
	}
	return err
}

// work does the job, or helps with those of others.
func (f *flags) work(ctx context.Context, x *index.Index, stderr io.Writer) (p index.Progress, err error) {
	var c client.Client
	if f.temporal != "" {
		if c, err = f.dial(ctx, stderr); err != nil {
			return p, fmt.Errorf("-temporal: %w", err)
		}
		defer c.Close()
		w, err := temporal.NewWorker(c, x, f.far)
		if err != nil {
			return p, cli.Usage(err)
		}
		if f.docs == "" {
			return p, w.Run(ctx)
		}
		working, end := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- w.Run(working) }()
		defer func() {
			end()
			err = errors.Join(err, <-ended)
		}()
	}
	job, err := f.submit(ctx, x, stderr)
	if err != nil {
		return p, err
	}
	show := func(p index.Progress) { fmt.Fprintln(stderr, line(p)) }
	if c != nil {
		return temporal.Run(ctx, c, job, f.far, show)
	}
	local := index.Limit{Concurrent: f.far.Slots, PerSecond: f.limit.PerSecond}
	if f.limit.Concurrent > 0 {
		local.Concurrent = min(local.Concurrent, f.limit.Concurrent)
	}
	var shown time.Time
	return index.Run(ctx, x, job, index.RunOptions{
		Limits: map[string]index.Limit{index.Chat: local, index.Vectors: local},
		Progress: func(p index.Progress) {
			if time.Since(shown) > 2*time.Second {
				shown = time.Now()
				show(p)
			}
		},
	})
}

// patience is how long a worker waits for a server that is not there, or not yet.
const patience = time.Minute

func (f *flags) dial(ctx context.Context, stderr io.Writer) (c client.Client, err error) {
	o := client.Options{HostPort: f.temporal, Logger: log.NewStructuredLogger(cli.NewLogger(stderr))}
	for begun := time.Now(); ctx.Err() == nil; time.Sleep(time.Second) {
		if c, err = client.DialContext(ctx, o); err == nil || time.Since(begun) > patience {
			return c, err
		}
	}
	return nil, ctx.Err()
}

// submit reads the folder, a file at a time.
func (f *flags) submit(ctx context.Context, x *index.Index, stderr io.Writer) (index.Job, error) {
	var skipped []error
	job, err := x.Submit(ctx, func(yield func(graphrag.Document, error) bool) {
		docs, err := load.Root(f.docs)
		if err != nil {
			yield(graphrag.Document{}, err)
			return
		}
		o := cli.NewFiles()
		defer o.Close() // all was read
		read := 0
		for raw, err := range o.Files(ctx, docs) {
			var file *load.File
			if err == nil {
				file, err = o.Read(raw.Name, raw.Data)
			}
			if err != nil {
				skipped = append(skipped, err)
				continue
			}
			if file.Problem != nil {
				skipped = append(skipped, file.Problem)
			}
			read++
			if !yield(file.Document, nil) {
				return
			}
		}
		if err = ctx.Err(); err == nil && read == 0 {
			err = o.Nothing(skipped)
		}
		if err != nil {
			yield(graphrag.Document{}, err)
		}
	})
	for _, problem := range load.Together(skipped) {
		fmt.Fprintln(stderr, "skipped:", problem)
	}
	return job, err
}

// line is the progress in a line.
func line(p index.Progress) string {
	var b strings.Builder
	for _, s := range p.Stages {
		if s.Tasks > 0 {
			fmt.Fprintf(&b, "%s %d/%d  ", s.Name, s.Done, s.Tasks)
		}
	}
	return b.String() + "cost " + p.Cost.String()
}

// report prints what came of it.
func (f *flags) report(ctx context.Context, x *index.Index, p index.Progress, w io.Writer) error {
	fmt.Fprintf(w, "%-12s%10s%10s%10s%10s%14s\n", "stage", "tasks", "items", "failed", "calls", "tokens")
	for _, s := range p.Stages {
		fmt.Fprintf(w, "%-12s%10s%10s%10s%10s%14s\n", s.Name, text.Digits(s.Done), text.Digits(s.Items), text.Digits(s.Failed), text.Digits(s.Usage.Calls), text.Digits(s.Usage.Tokens()))
	}
	fmt.Fprintf(w, "cost %s\n", p.Cost)
	doubtful, err := x.Doubtful(ctx)
	for _, c := range doubtful {
		fmt.Fprintf(w, "may have been paid for in vain: %s, begun by %s at %s\n", c.Key[:16], c.Process, c.Begun.Format(time.RFC3339))
	}
	return err
}

func export(ctx context.Context, s store.Store, name, dir string) error {
	c, err := s.Open(ctx, name)
	if err != nil {
		return err
	}
	g, err := c.Pin(ctx)
	if err != nil {
		return err
	}
	return errors.Join(store.Export(ctx, dir, c.Schema(), g), g.Close())
}
