// SPDX-License-Identifier: Apache-2.0

// Command ablation measures what each choice of the flat baselines brings: it
// runs the retrievers of bm25 and naiverag over WildGraphBench with one setting
// changed at a time and prints the evidence recall of each.
//
//	go run ./examples/ablation -data DIR [-domains LIST]
//
// With -merged it compares systems over the domains apart and over all of them in
// one corpus:
//
//	go run ./examples/ablation -data DIR -merged bm25,hipporag2
//
// With -budgets it says what each part of wild is worth, beside BM25 on the same clean
// passages, one a page:
//
//	go run ./examples/ablation -data DIR -budgets 6000,3000,12000,24000
//
// and with -passages what other systems find in these passages:
//
//	go run ./examples/ablation -data DIR -budgets 6000 -passages naiverag,hipporag2
//
// With -embed-model file:DIR all of them have that encoder.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	system "github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/paid"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "ablation", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// setting is one way to cut and to rank.
type setting struct {
	name        string
	size, over  int
	keepLinks   bool
	words       text.Options
	plain       bool
	k1, b       float64
	title, page int
	dense       bool // LSA in place of BM25
}

// base is what the bm25 system does by default.
func base() setting {
	return setting{
		size: chunk.DefaultSize, over: chunk.DefaultOverlap,
		k1: system.DefaultK1, b: system.DefaultB, title: system.DefaultTitleWeight,
	}
}

func settings() []setting {
	var out []setting
	add := func(name string, change func(*setting)) {
		s := base()
		s.name = name
		change(&s)
		out = append(out, s)
	}
	add("bm25", func(*setting) {})
	add("plain: k1 1.2, b 0.75, plain words, links, no title", func(s *setting) {
		s.plain, s.keepLinks, s.title, s.k1, s.b = true, true, 0, bm25.DefaultK1, bm25.DefaultB
	})
	add("no stems", func(s *setting) { s.words.NoStems = true })
	add("stop words kept", func(s *setting) { s.words.NoStopWords = true })
	add("link targets kept", func(s *setting) { s.keepLinks = true })
	for _, w := range []int{0, 1, 3, 5} {
		add(fmt.Sprintf("title weight %d", w), func(s *setting) { s.title = w })
	}
	for _, k1 := range []float64{1.2, 2, 3, 6, 8} {
		add(fmt.Sprintf("k1 %g", k1), func(s *setting) { s.k1 = k1 })
	}
	for _, b := range []float64{0.4, 0.6, 0.75, 0.9} {
		add(fmt.Sprintf("b %g", b), func(s *setting) { s.b = b })
	}
	add("k1 1.2 and b 0.75", func(s *setting) { s.k1, s.b = bm25.DefaultK1, bm25.DefaultB })
	for _, size := range []int{300, 600, 900, 1800} {
		add(fmt.Sprintf("chunks of %d tokens", size), func(s *setting) { s.size, s.over = size, size/12 })
	}
	add("one chunk per page", func(s *setting) { s.page = 1 })
	add("two chunks per page", func(s *setting) { s.page = 2 })
	add("naiverag", func(s *setting) { s.dense = true })
	add("naiverag, link targets kept", func(s *setting) { s.dense, s.keepLinks = true, true })
	add("naiverag, no title", func(s *setting) { s.dense, s.title = true, 0 })
	add("naiverag, one chunk per page", func(s *setting) { s.dense, s.page = true, 1 })
	return out
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("ablation")
	data := fs.String("data", "", "`DIR` of a WildGraphBench checkout")
	domains := fs.String("domains", "", "comma-separated `LIST` of domains (default: all present)")
	merged := fs.String("merged", "", "comma-separated `LIST` of systems to compare over the domains apart and merged")
	var budgets []int
	fs.Func("budgets", "comma-separated `LIST` of tokens: what wild does with the first of these and with parts of it left out, and beside BM25 with each", func(v string) error {
		for part := range strings.SplitSeq(v, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no number of tokens", part)
			}
			budgets = append(budgets, n)
		}
		return nil
	})
	var systems []string
	lab.List(fs, &systems, "passages", "comma-separated `LIST` of systems to compare with wild over its passages, with -budgets")
	s := lab.Settings{Seed: 1, Mode: string(reader.Open)}
	fs.StringVar(&s.EmbedModel, "embed-model", "", "encoder in a folder, as `file:DIR`, with -budgets")
	fs.StringVar(&s.Cache, "cache", "", "`FILE` beside which vectors are kept (default: in the user's cache folder)")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return cli.Usagef("unexpected argument %q", fs.Arg(0))
	}
	if *data == "" {
		return cli.Usagef("-data is missing: the folder of a WildGraphBench checkout")
	}
	o := wildgraph.Options{}
	if *domains != "" {
		o.Domains = strings.Split(*domains, ",")
	}
	set, _, err := wildgraph.Load(os.DirFS(*data), o)
	if err != nil {
		return err
	}
	if len(budgets) > 0 {
		if s.Cache == "" {
			if s.Cache, err = paid.UserFile(); err != nil {
				return fmt.Errorf("-cache: %w", err)
			}
		}
		parts, err := lab.NewParts(s, cli.NewLogger(stderr))
		if err != nil {
			return err
		}
		return errors.Join(compareBudgets(ctx, set, parts.Kit, systems, budgets, stdout, stderr), parts.Close())
	}
	if *merged != "" {
		return compareMerged(ctx, set, strings.Split(*merged, ","), stdout)
	}
	all := settings()
	width := 0
	for _, s := range all {
		width = max(width, utf8.RuneCountInString(s.name))
	}
	fmt.Fprintf(stdout, "%-*s  R@5 all  single  multi  summary  R@10 all   MRR\n", width, "setting")
	for i, s := range all { // each row as soon as it is there
		fmt.Fprintf(stderr, "%d of %d: %s\n", i+1, len(all), s.name)
		m, err := measure(ctx, set, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(stdout, "%-*s  %7.1f %7.1f %6.1f %8.1f %9.1f %5.1f\n", width, s.name,
			m.recall5(benchmark.All), m.recall5(wildgraph.SingleFact), m.recall5(wildgraph.MultiFact), m.recall5(wildgraph.Summary),
			100*m.recall10/m.n[benchmark.All], 100*m.mrr/m.n[benchmark.All])
	}
	return nil
}

type means struct {
	sum, n        map[string]float64
	recall10, mrr float64
}

func (m *means) recall5(t string) float64 { return 100 * m.sum[t] / m.n[t] }

func measure(ctx context.Context, set *benchmark.Dataset, s setting) (*means, error) {
	m := &means{sum: make(map[string]float64), n: make(map[string]float64)}
	for _, d := range set.Domains {
		r, err := s.retriever(ctx, d)
		if err != nil {
			return nil, err
		}
		for _, it := range d.Items {
			found, err := r.Retrieve(ctx, graphrag.Question{Text: it.Question.Text, K: 10})
			if err != nil {
				return nil, err
			}
			ranked := found.Ranked
			if len(ranked) == 0 {
				ranked = []graphrag.Hit{{}} // counts as a miss
			}
			e := benchmark.Measure(it, record.NewAnswer(record.Key{}, graphrag.Answer{Ranked: ranked}, nil, false))
			for _, t := range []string{it.Type, benchmark.All} {
				m.sum[t] += *e.RecallAt5
				m.n[t]++
			}
			m.recall10 += *e.RecallAt10
			m.mrr += *e.MRR
		}
	}
	return m, nil
}

func (s setting) retriever(ctx context.Context, d benchmark.Domain) (graphrag.Retriever, error) {
	splitter, err := chunk.Tokens(chunk.TokenOptions{Size: s.size, Overlap: s.over})
	if err != nil {
		return nil, err
	}
	o := chunk.Options{Splitter: splitter}
	if !s.keepLinks {
		o.Clean = text.StripLinks
	}
	chunker, err := chunk.New(o)
	if err != nil {
		return nil, err
	}
	chunks, err := chunker.All(ctx, d.Documents())
	if err != nil {
		return nil, err
	}
	if s.dense {
		return s.lsa(ctx, chunks)
	}
	words := text.Plain()
	if !s.plain {
		if words, err = text.New(s.words); err != nil {
			return nil, err
		}
	}
	sparse, err := retrieve.NewSparse(ctx, chunks, bm25.Options{K1: s.k1, B: s.b, Analyzer: words, TitleWeight: s.title})
	if err != nil {
		return nil, err
	}
	return retrieve.PerDoc(sparse, s.page)
}

func (s setting) lsa(ctx context.Context, chunks []graphrag.Chunk) (graphrag.Retriever, error) {
	of := retrieve.Titled
	if s.title == 0 {
		of = func(c graphrag.Chunk) string { return c.Text }
	}
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = of(c)
	}
	model, err := embed.FitLSA(ctx, texts, embed.LSAOptions{Seed: 1})
	if err != nil {
		return nil, err
	}
	dense, err := retrieve.NewDense(ctx, chunks, model, retrieve.DenseOptions{Text: of})
	if err != nil {
		return nil, err
	}
	return retrieve.PerDoc(dense, s.page)
}
