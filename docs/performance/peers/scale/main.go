// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command scale measures retrieval over a corpus, a graph and questions that it makes up, as docs/stores.md has
// the figures:
//
//	go run ./docs/performance/peers/scale -index DIR -passages 5000000 -triples 20000000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// The names of what is in the store.
const (
	collectionName = "scale"
	generationName = "first"
	chunksTable    = "chunks"
)

var schema = store.Schema{
	Analyzer: text.Default().Name(),
	Tables:   map[string]store.TableSchema{chunksTable: {Text: true, Dim: dim, Model: hashed{}.Name()}},
}

// storeMemory is how many bytes a store collects in memory before it writes.
const storeMemory = 2 << 30

// evidence is how many passages count.
const evidence = 10

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := scale(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// scale makes up passages, triples and questions from a seed, indexes them in a store,
// opens that again, and asks. Half of the planted questions need the graph: their second
// passage has no word of them.
func scale(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	w, fs := &world{}, flag.NewFlagSet("scale", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("index", "", "`DIR` of the index, which is built if it is not there")
	fs.Uint64Var(&w.seed, "seed", 1, "seed of corpus, graph and questions")
	fs.IntVar(&w.passages, "passages", 100_000, "`N` passages of 110 words")
	fs.IntVar(&w.triples, "triples", 400_000, "`N` triples")
	limit := fs.Int("limit", 200, "`N` questions: timed, and planted")
	if err := fs.Parse(args); err != nil {
		return err
	}
	w.questions = *limit
	switch {
	case *dir == "":
		return errors.New("-index is missing: name the folder of the index")
	case *limit < 4 || w.passages < 8**limit || w.triples < 8**limit:
		return fmt.Errorf("-limit %d, -passages %d, -triples %d: want at least 4 questions, and 8 passages and triples for each", *limit, w.passages, w.triples)
	}
	fmt.Fprintf(stdout, "%s passages, %s triples, %d cores\n", display.Digits(w.passages), display.Digits(w.triples), runtime.GOMAXPROCS(0))
	start := time.Now()
	built, err := w.index(ctx, *dir, stderr)
	if err != nil {
		return err
	}
	if built {
		fmt.Fprintf(stdout, "indexed in %.1f s\n", time.Since(start).Seconds())
	}
	return w.ask(ctx, *dir, stdout)
}

// index puts the world into a store, unless one was published in the folder.
func (w *world) index(ctx context.Context, dir string, stderr io.Writer) (built bool, err error) {
	s, err := disk.Open(dir, disk.Options{Memory: storeMemory})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := s.Create(ctx, collectionName, schema)
	if err != nil {
		return false, err
	}
	if _, published, err := c.Generations(ctx); err != nil || published != "" {
		return false, err
	}
	g, err := c.Write(ctx, generationName)
	if err != nil {
		return false, err
	}
	chunks, err := g.Table(chunksTable)
	if err == nil {
		err = put(ctx, w.passages, w.record, chunks.Put)
	}
	if err == nil {
		fmt.Fprintf(stderr, "%s passages are indexed\n", display.Digits(w.passages))
		err = put(ctx, w.triples, w.triple, g.Triples().PutTriples)
	}
	if err == nil {
		err = g.Flush(ctx)
	}
	if err = errors.Join(err, g.Close()); err != nil {
		return false, err
	}
	return true, c.Publish(ctx, generationName, "")
}

// record is passage i as it is stored, with its vector.
func (w *world) record(i int) store.Record {
	r := store.RecordOf(w.passage(i))
	r.Vector, _ = hashed{}.EmbedQuery(context.Background(), r.Text)
	return r
}

// put makes items on all cores and stores them, a batch at a time.
func put[T any](ctx context.Context, total int, item func(int) T, to func(context.Context, ...T) error) error {
	const batch, part = 4096, 64
	for from := 0; from < total; from += batch {
		items := make([]T, min(batch, total-from))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(runtime.GOMAXPROCS(0))
		for lo := 0; lo < len(items); lo += part {
			g.Go(func() error {
				for i := lo; i < min(lo+part, len(items)); i++ {
					items[i] = item(from + i)
				}
				return ctx.Err()
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if err := to(context.WithoutCancel(ctx), items...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ask opens the index again, asks everything and prints the figures.
func (w *world) ask(ctx context.Context, dir string, stdout io.Writer) (err error) {
	start := time.Now()
	s, err := disk.Open(dir, disk.Options{Memory: storeMemory})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := s.Open(ctx, collectionName)
	if err != nil {
		return err
	}
	g, err := c.Pin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	table, err := g.Table(chunksTable)
	if err != nil {
		return err
	}
	retrievers, err := over(table, g.Triples())
	if err != nil {
		return err
	}
	with, without := retrievers[2].Retriever, retrievers[1].Retriever
	if _, err = with.Retrieve(ctx, graphrag.Question{Text: w.anyQuestion(0), K: evidence}); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "first answer %.0f ms after opening\n\n%-24s%8s%8s\n", milliseconds(time.Since(start)), "ms a question", "p50", "p99")
	for _, r := range retrievers {
		took, err := w.time(ctx, r.Retriever)
		if err != nil {
			return err
		}
		at := func(percent int) float64 { return milliseconds(took[(len(took)*percent+99)/100-1]) } // nearest rank
		fmt.Fprintf(stdout, "%-24s%8.1f%8.1f\n", r.name, at(50), at(99))
	}
	share, err := w.nearest(ctx, table)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nof the ten nearest vectors %.1f %% are found\n\n%-24s%10s%10s\n", 100*share, "evidence recall@10, %", "without", "with")
	for i, name := range []string{"that need the graph", "that do not"} {
		a, b, err := w.compare(ctx, without, with, i == 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-24s%10.1f%10.1f\n", name, 100*a, 100*b)
	}
	_, err = fmt.Fprintf(stdout, "\nat most %s MB resident\n", display.Digits(int(figure.Peak())))
	return err
}

// named is a retriever and what it searches by.
type named struct {
	name string
	graphrag.Retriever
}

// over searches by words, by words and vectors fused by rank, and the same with one
// expansion through the graph.
func over(table store.Table, graph store.Triples) ([]named, error) {
	stored := retrieve.Stored{Table: table}
	words := stored.Sparse()
	fused, err := retrieve.Fuse(words, stored.Dense(hashed{}))
	if err != nil {
		return nil, err
	}
	offline, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		return nil, err
	}
	parts := gear.Parts{Passages: fused, Align: words, Graph: gear.Stored(graph), Kit: offline}
	with, err1 := gear.Over(parts, gear.Options{Steps: 1, Expand: gear.ExpandAlways})
	without, err2 := gear.Over(parts, gear.Options{Steps: 1, Expand: gear.ExpandNever})
	return []named{{"words", words}, {"words and vectors", without}, {"and one expansion", with}}, errors.Join(err1, err2)
}

// time asks about passages from all over the corpus, one question after the other, after
// half as many that are not timed: the first touch of a mapped file is slow.
func (w *world) time(ctx context.Context, r graphrag.Retriever) ([]time.Duration, error) {
	took, random := make([]time.Duration, w.questions), w.random(forQuestion, -1)
	for i := -w.questions / 2; i < w.questions; i++ {
		q := graphrag.Question{Text: w.anyQuestion(random.IntN(w.passages)), K: evidence}
		start := time.Now()
		if _, err := r.Retrieve(ctx, q); err != nil {
			return nil, err
		}
		if i >= 0 {
			took[i] = time.Since(start)
		}
	}
	slices.Sort(took)
	return took, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// nearest is the share of the ten nearest vectors that a search with the default effort
// finds, of those that an exact one does.
func (w *world) nearest(ctx context.Context, t store.Table) (float64, error) {
	found, all, random := 0, 0, w.random(forQuestion, -2)
	for range w.questions {
		v, err := hashed{}.EmbedQuery(ctx, w.anyQuestion(random.IntN(w.passages)))
		if err != nil {
			return 0, err
		}
		hits, err := t.SearchVectors(ctx, store.VectorQuery{Vector: v, K: evidence}, store.VectorQuery{Vector: v, K: evidence, Effort: 1})
		if err != nil {
			return 0, err
		}
		for _, h := range hits[1] {
			all++
			if slices.Contains(hits[0], h) {
				found++
			}
		}
	}
	return float64(found) / float64(all), nil
}

// compare is the recall of the gold passages of one kind of planted questions, without
// the graph and with it.
func (w *world) compare(ctx context.Context, without, with graphrag.Retriever, bridged bool) (a, b float64, err error) {
	var sums [2]float64
	asked := 0.0
	for n := range w.questions {
		q := w.question(n)
		if q.bridged != bridged {
			continue
		}
		asked++
		for i, r := range []graphrag.Retriever{without, with} {
			found, err := r.Retrieve(ctx, graphrag.Question{Text: q.text, K: evidence})
			if err != nil {
				return 0, 0, err
			}
			for _, gold := range q.gold {
				if slices.ContainsFunc(found.Ranked, func(h graphrag.Hit) bool { return h.Chunk.ID == passageID(gold) }) {
					sums[i] += 1 / float64(len(q.gold))
				}
			}
		}
	}
	return sums[0] / asked, sums[1] / asked, nil
}
