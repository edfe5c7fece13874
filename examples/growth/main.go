// SPDX-License-Identifier: Apache-2.0

// Command growth measures how the time and the memory of a system grow with its corpus:
// it enlarges the pages of WildGraphBench to any size, indexes a share of them as one
// corpus, and asks the questions of the data set.
//
//	go run ./examples/growth -data DIR -system lightrag
//	go run ./examples/growth -data DIR -system hipporag2 -megabytes 155 -share 0.125
//
// New pages are real ones with new words, as many as pages of that number have, with new
// names, and with known names together that were not before (enlarge.go). They serve to
// measure cost: what they say is not true, and answers are not judged. One process
// measures one size, because the peak of its memory is that of the whole process.
package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "growth", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// flags are those of the command line.
type flags struct {
	data, system string
	megabytes    int
	share        float64
	seed         uint64
	questions    int
	cpu, heap    string
	count        bool
}

func parse(args []string, stderr io.Writer) (flags, error) {
	fs := cli.NewFlags("growth")
	var f flags
	fs.StringVar(&f.data, "data", os.Getenv("WILDGRAPHBENCH_DIR"), "`FOLDER` of the data set")
	fs.StringVar(&f.system, "system", "lightrag", "`NAME` of the system")
	fs.IntVar(&f.megabytes, "megabytes", 155, "how many `MEGABYTES` the corpus is enlarged to")
	fs.Float64Var(&f.share, "share", 1, "`SHARE` of its pages that is indexed")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the new pages and of the share")
	fs.IntVar(&f.questions, "questions", 200, "`NUMBER` of questions that are asked")
	fs.BoolVar(&f.count, "count", false, "count the words, and index nothing")
	fs.StringVar(&f.cpu, "cpuprofile", "", "`FILE` for a profile of the time")
	fs.StringVar(&f.heap, "heapprofile", "", "`FILE` for a profile of the memory when most is in use")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return f, err
	}
	switch {
	case fs.NArg() > 0:
		return f, cli.Usagef("unexpected argument %q", fs.Arg(0))
	case f.data == "":
		return f, cli.Usagef("-data is missing: name the folder of the data set")
	case f.megabytes < 1 || f.questions < 1 || !(f.share > 0 && f.share <= 1):
		return f, cli.Usagef("-megabytes %d, -questions %d and -share %v: want 1 or more, 1 or more, and above 0 to 1", f.megabytes, f.questions, f.share)
	}
	return f, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parse(args, stderr)
	if err != nil {
		return err
	}
	set, _, err := wildgraph.Load(os.DirFS(f.data), wildgraph.Options{})
	if err != nil {
		return err
	}
	e, err := enlarge(together(set), int64(f.megabytes)*1_000_000, f.share, f.seed)
	if err != nil {
		return err
	}
	if f.count {
		return count(e, stdout)
	}
	sys, ok := all.Find(f.system)
	if !ok {
		return cli.Usagef("there is no system %q", f.system)
	}
	k, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		return err
	}
	s, err := sys.New(k, kit.Common{})
	if err != nil {
		return err
	}
	m := measurement{system: s, out: stdout}
	if f.cpu != "" {
		file, err := os.Create(f.cpu)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if f.heap != "" {
		stop := watchHeap(f.heap, stderr)
		defer stop()
	}
	if err := m.index(ctx, e.documents()); err != nil {
		return err
	}
	return m.ask(ctx, some(set, f.questions))
}

// together is the corpus of all domains.
func together(set *benchmark.Dataset) pages {
	return func() iter.Seq2[graphrag.Document, error] {
		return func(yield func(graphrag.Document, error) bool) {
			for _, d := range set.Domains {
				for doc, err := range d.Documents() {
					doc.ID = d.Name + "/" + doc.ID
					if !yield(doc, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// some are n questions from all over the data set.
func some(set *benchmark.Dataset, n int) []graphrag.Question {
	var all, out []graphrag.Question
	for _, d := range set.Domains {
		for _, it := range d.Items {
			q := it.Question
			q.K = 10
			all = append(all, q)
		}
	}
	n = min(n, len(all))
	for i := range n {
		out = append(out, all[i*len(all)/n])
	}
	return out
}

// count counts words and distinct words.
func count(e *enlarged, w io.Writer) error {
	pages, bytes, n := 0, 0, 0
	distinct := make(map[string]bool)
	for doc, err := range e.documents() {
		if err != nil {
			return err
		}
		pages, bytes = pages+1, bytes+len(doc.Text)
		for p := range words(doc.Text) {
			if kinds[p.text[0]] == letter {
				n++
				if key := strings.ToLower(p.text); !distinct[key] {
					distinct[strings.Clone(key)] = true
				}
			}
		}
	}
	fmt.Fprintf(w, "pages %s, bytes %s, words %s, distinct %s\n", cli.Digits(pages), cli.Digits(bytes), cli.Digits(n), cli.Digits(len(distinct)))
	return nil
}

// measurement is of one system.
type measurement struct {
	system *kit.System
	out    io.Writer
}

func (m *measurement) index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) error {
	bytes := 0
	start, cpu := time.Now(), cpuTime()
	stats, err := m.system.Index(ctx, func(yield func(graphrag.Document, error) bool) {
		for doc, err := range docs {
			bytes += len(doc.Text)
			if !yield(doc, err) {
				return
			}
		}
		start, cpu = time.Now(), cpuTime() // making the pages up does not count
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(m.out, "%s: pages %s, bytes %s, chunks %s, names %s, relations %s\n", m.system.Name(), cli.Digits(stats.Documents), cli.Digits(bytes),
		cli.Digits(stats.Chunks), cli.Digits(stats.Entities), cli.Digits(stats.Relations))
	fmt.Fprintf(m.out, "indexed in %.2f s, CPU %.2f s, at most %d MiB resident\n", time.Since(start).Seconds(), (cpuTime() - cpu).Seconds(), peak()>>20)
	return nil
}

// ask asks all questions twice; the second time counts.
func (m *measurement) ask(ctx context.Context, questions []graphrag.Question) error {
	took := make([]time.Duration, len(questions))
	var cpu time.Duration
	for range 2 {
		runtime.GC()
		begun := cpuTime()
		for i, q := range questions {
			start := time.Now()
			if _, err := m.system.Retrieve(ctx, q); err != nil {
				return err
			}
			took[i] = time.Since(start)
		}
		cpu = (cpuTime() - begun) / time.Duration(len(questions))
	}
	slices.Sort(took)
	fmt.Fprintf(m.out, "asked %d questions: CPU %.2f ms each, median %.2f ms, p99 %.2f ms, at most %d MiB resident\n", len(took),
		float64(cpu.Microseconds())/1000, float64(took[len(took)/2].Microseconds())/1000, float64(took[len(took)*99/100].Microseconds())/1000, peak()>>20)
	return nil
}
