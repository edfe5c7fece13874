// SPDX-License-Identifier: Apache-2.0

// Command scale measures retrieval over a corpus and a graph of any size: it makes up
// passages, triples and questions from a seed, indexes them in a store, opens that
// again, and asks.
//
//	go run ./examples/scale -dir DIR -queries 200                          # 100,000 passages: a minute
//	go run ./examples/scale -dir DIR -passages 5000000 -triples 20000000
//
// A build that was stopped goes on where its last flush ended when the program is
// started again; one that is done is only asked.
//
// Words, names and relations are made up, with the frequencies of real ones: words and
// relations by Zipf's law, entities with hubs, topics with words of their own. Half of
// the questions can be answered by two passages that have words of the question; of the
// other half, only the first has, and the way to the second leads through the graph,
// past some 250 triples that share names with it. How they are made is in planted.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "scale", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// flags are those of the command line.
type flags struct {
	settings
	dir, json string
	queries   int
	memory    int // megabytes
	exact     bool
}

func parse(args []string, stderr io.Writer) (flags, error) {
	fs := cli.NewFlags("scale")
	var f flags
	fs.StringVar(&f.dir, "dir", "", "`FOLDER` of the store, which is made if it is not there")
	fs.Uint64Var(&f.Seed, "seed", 1, "seed of corpus, graph and questions")
	fs.IntVar(&f.Passages, "passages", 100_000, "`NUMBER` of passages, of 100 to 120 words")
	fs.IntVar(&f.Triples, "triples", 400_000, "`NUMBER` of triples")
	fs.IntVar(&f.Questions, "questions", 400, "`NUMBER` of questions with known evidence")
	fs.IntVar(&f.queries, "queries", 1000, "`NUMBER` of questions that are timed")
	fs.IntVar(&f.memory, "memory", 2048, "`MEGABYTES` that the store holds before it writes them")
	fs.BoolVar(&f.exact, "exact", false, "compare questions with all vectors, instead of those that their signs say are nearest")
	fs.StringVar(&f.json, "json", "", "`FILE` to write the figures to")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return f, err
	}
	switch {
	case fs.NArg() > 0:
		return f, cli.Usagef("unexpected argument %q", fs.Arg(0))
	case f.dir == "":
		return f, cli.Usagef("-dir is missing: name the folder of the store")
	case f.Questions < 4 || f.queries < 1 || f.memory < 1:
		return f, cli.Usagef("-questions %d, -queries %d and -memory %d: want 4, 1 and 1 or more", f.Questions, f.queries, f.memory)
	}
	return f, nil
}

// figures are what was measured.
type figures struct {
	Cores   int           `json:"cores"`
	Build   progress      `json:"build"`
	Disk    int64         `json:"disk_bytes"`
	Start   time.Duration `json:"start_ns"` // from opening the store to the first answer
	With    latency       `json:"with"`
	Without latency       `json:"without"`
	Words   latency       `json:"words"`
	Nearest float64       `json:"vector_recall"` // of the ten nearest vectors
	Bridged compared      `json:"bridged"`       // the questions that need the graph
	Plain   compared      `json:"plain"`
	Memory  memory        `json:"memory"` // of everything
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parse(args, stderr)
	if err != nil {
		return err
	}
	w, err := newWorld(f.settings)
	if err != nil {
		return cli.Usage(err)
	}
	e := newHashed(w)
	out := figures{Cores: runtime.GOMAXPROCS(0)}
	if out.Build, err = index(ctx, f, w, e, stderr); err != nil {
		return err
	}
	if out.Disk, err = size(f.dir); err != nil {
		return err
	}
	if err := out.ask(ctx, f, w, e); err != nil {
		return err
	}
	out.Memory.look()
	if f.json != "" {
		data, err := json.MarshalIndent(out, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.json, append(data, '\n'), 0o644); err != nil {
			return fmt.Errorf("-json: %w", err)
		}
	}
	return out.write(stdout)
}

// openStore opens the store in the folder.
func openStore(f flags) (store.Store, error) {
	return disk.Open(f.dir, disk.Options{Memory: f.memory << 20})
}

// index builds the store and closes it.
func index(ctx context.Context, f flags, w *world, e *hashed, stderr io.Writer) (p progress, err error) {
	s, err := openStore(f)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	b := builder{world: w, embedder: e, flushed: func(p progress) {
		fmt.Fprintf(stderr, "%s of %s passages, %s of %s triples, %s\n", cli.Digits(p.Passages), cli.Digits(w.Passages),
			cli.Digits(p.Triples), cli.Digits(w.Triples), (p.Generating + p.Indexing).Round(time.Second))
	}}
	return b.build(ctx, s)
}

// ask opens the store again and asks everything.
func (out *figures) ask(ctx context.Context, f flags, w *world, e *hashed) (err error) {
	start := time.Now()
	var s store.Store
	if s, err = openStore(f); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	search, err := open(ctx, s, e, f.exact)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, search.generation.Close()) }()
	if _, err = search.with.Retrieve(ctx, graphrag.Question{Text: w.questions[0].Text, K: evidence}); err != nil {
		return err
	}
	out.Start = time.Since(start)
	if err = warm(f.dir); err != nil {
		return err
	}
	if out.With, err = w.time(ctx, search.with, f.queries); err != nil {
		return err
	}
	if out.Without, err = w.time(ctx, search.without, f.queries); err != nil {
		return err
	}
	if out.Words, err = w.time(ctx, search.words, f.queries); err != nil {
		return err
	}
	if out.Nearest, err = search.nearest(ctx, w, e, min(f.queries, 200)); err != nil {
		return err
	}
	if out.Bridged, err = search.compare(ctx, w, true); err != nil {
		return err
	}
	out.Plain, err = search.compare(ctx, w, false)
	return err
}

// write is the report for people.
func (out *figures) write(w io.Writer) error {
	b := out.Build
	mb := func(n int64) string { return cli.Digits(int(n>>20)) + " MB" }
	rate := func(n int) string { return cli.Digits(int(float64(n) / b.Indexing.Seconds())) }
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Fprintf(w, "%s passages, %s triples, seed %d, %d cores\n\n", cli.Digits(b.Passages), cli.Digits(b.Triples), b.Settings.Seed, out.Cores)
	fmt.Fprintf(w, "generated   %8.1f s\n", b.Generating.Seconds())
	fmt.Fprintf(w, "indexed     %8.1f s, %s items a second, at most %s resident, %s its own\n", b.Indexing.Seconds(), rate(b.Passages+b.Triples), mb(b.Memory.Peak), mb(b.Memory.Own))
	fmt.Fprintf(w, "published   %8.1f s, begun %d times\n", b.Publishing.Seconds(), b.Begun)
	fmt.Fprintf(w, "on disk     %8s\n", mb(out.Disk))
	fmt.Fprintf(w, "first answer%8.0f ms after opening, at most %s resident, %s its own\n\n", ms(out.Start), mb(out.Memory.Peak), mb(out.Memory.Own))
	fmt.Fprintf(w, "%-28s%10s%10s%10s%10s\n", "ms a question", "p50", "p90", "p99", "worst")
	for _, l := range []struct {
		name string
		latency
	}{{"words", out.Words}, {"words and vectors", out.Without}, {"and one expansion", out.With}} {
		fmt.Fprintf(w, "%-28s%10.1f%10.1f%10.1f%10.1f\n", l.name, ms(l.P50), ms(l.P90), ms(l.P99), ms(l.Max))
	}
	fmt.Fprintf(w, "\nof the ten nearest vectors %.1f %% are found\n", 100*out.Nearest)
	fmt.Fprintf(w, "\n%-28s%10s%10s%10s%10s   %s\n", "evidence recall@10, %", "questions", "words", "without", "with", "difference [95 %]")
	for _, c := range []struct {
		name string
		compared
	}{{"that need the graph", out.Bridged}, {"that do not", out.Plain}} {
		d := c.Effect
		fmt.Fprintf(w, "%-28s%10d%10.1f%10.1f%10.1f   %+.1f [%+.1f, %+.1f]\n", c.name, d.N, 100*c.Words, 100*c.MeanA, 100*c.MeanB, 100*d.Estimate, 100*d.Low, 100*d.High)
	}
	return nil
}
