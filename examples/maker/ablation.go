// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	system "github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// variant is a retriever with one choice changed.
type variant struct {
	name string
	over func(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error)
}

// ablation prints what each choice of the flat baselines brings (recall of pages among the
// first five), then what each part of wild brings within a budget of tokens, beside BM25
// over the same passages.
func ablation(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("maker ablation")
	data := fs.String("data", "", "`DIR` of a WildGraphBench checkout")
	budget := fs.Int("budget-context", 6000, "`N` tokens of evidence for a question about wild; twice as many for an overview")
	var o wildgraph.Options
	lab.List(fs, &o.Domains, "domains", "comma-separated `LIST` of domains (default: all present)")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if *data == "" || *budget < 1 {
		return cli.Usagef("-data is missing, or -budget-context %d is less than 1", *budget)
	}
	set, _, err := wildgraph.Load(os.DirFS(*data), o)
	if err != nil {
		return err
	}
	if err := compare(ctx, set, flat(), 0, stdout, stderr); err != nil {
		return err
	}
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	return compare(ctx, set, spenders(k), *budget, stdout, stderr)
}

// settings are the choices of the flat baselines.
type settings struct {
	size, overlap int
	links, dense  bool // keep the targets of links; LSA in place of BM25
	o             bm25.Options
	page          int // chunks of one page, 0 is any number
}

// flat are bm25 and naiverag with one setting changed at a time.
func flat() []variant {
	var out []variant
	add := func(name string, change func(*settings)) {
		s := settings{
			size: chunk.DefaultSize, overlap: chunk.DefaultOverlap,
			o: bm25.Options{K1: system.DefaultK1, B: system.DefaultB, TitleWeight: system.DefaultTitleWeight, Analyzer: text.Default()},
		}
		change(&s)
		out = append(out, variant{name, s.over})
	}
	words := func(o text.Options) text.Analyzer {
		a, err := text.New(o)
		if err != nil {
			panic(err) // constants
		}
		return a
	}
	add("bm25", func(*settings) {})
	add("k1 1.2, b .75, plain words, links, no title", func(s *settings) {
		s.links, s.o = true, bm25.Options{Analyzer: text.Plain()}
	})
	add("no stems", func(s *settings) { s.o.Analyzer = words(text.Options{NoStems: true}) })
	add("stop words kept", func(s *settings) { s.o.Analyzer = words(text.Options{NoStopWords: true}) })
	add("link targets kept", func(s *settings) { s.links = true })
	for _, w := range []int{0, 1, 3, 5} {
		add(fmt.Sprintf("title weight %d", w), func(s *settings) { s.o.TitleWeight = w })
	}
	for _, k1 := range []float64{1.2, 2, 3, 6, 8} {
		add(fmt.Sprintf("k1 %g", k1), func(s *settings) { s.o.K1 = k1 })
	}
	for _, b := range []float64{.4, .6, .75, .9} {
		add(fmt.Sprintf("b %g", b), func(s *settings) { s.o.B = b })
	}
	for _, size := range []int{300, 600, 900, 1800} {
		add(fmt.Sprintf("chunks of %d tokens", size), func(s *settings) { s.size, s.overlap = size, size/12 })
	}
	add("one chunk a page", func(s *settings) { s.page = 1 })
	add("naiverag", func(s *settings) { s.dense = true })
	add("naiverag, link targets kept", func(s *settings) { s.dense, s.links = true, true })
	add("naiverag, one chunk a page", func(s *settings) { s.dense, s.page = true, 1 })
	return out
}

func (s settings) over(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error) {
	splitter, err := chunk.Tokens(chunk.TokenOptions{Size: s.size, Overlap: s.overlap})
	if err != nil {
		return nil, err
	}
	o := chunk.Options{Splitter: splitter}
	if !s.links {
		o.Clean = text.StripLinks
	}
	chunker, err := chunk.New(o)
	if err != nil {
		return nil, err
	}
	chunks, err := chunker.All(ctx, sequence(docs))
	if err != nil {
		return nil, err
	}
	if !s.dense {
		sparse, err := retrieve.NewSparse(ctx, chunks, s.o)
		if err != nil {
			return nil, err
		}
		return retrieve.PerDoc(sparse, s.page)
	}
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = retrieve.Titled(c)
	}
	model, err := embed.FitLSA(ctx, texts, embed.LSAOptions{Seed: 1})
	if err != nil {
		return nil, err
	}
	dense, err := retrieve.NewDense(ctx, chunks, model)
	if err != nil {
		return nil, err
	}
	return retrieve.PerDoc(dense, s.page)
}

// spenders are wild, BM25 over the passages of wild, and wild with one part changed.
func spenders(k kit.Kit) []variant {
	out := []variant{wildBut(k, "wild", func(*wild.Options) {}), {"bm25, one passage a page", onePassage}}
	for _, part := range []struct {
		name string
		but  func(*wild.Options)
	}{
		{"without names", func(o *wild.Options) { o.Pages.Names, o.Pages.Page = -1, -1 }},
		{"without titles", func(o *wild.Options) { o.Pages.Title = -1 }},
		{"without length of pages", func(o *wild.Options) { o.Pages.Length = -1 }},
		{"without aspects", func(o *wild.Options) { o.Pages.Aspects = -1 }},
		{"one passage a page", func(o *wild.Options) { o.Pages.Detail = -1 }},
		{"overviews spread as facts", func(o *wild.Options) { o.Pages.OverviewSpread = 6 }},
		{"units of 100 tokens", func(o *wild.Options) { o.Passage.Unit = 100 }},
		{"passages of 125 tokens", func(o *wild.Options) { o.Passage.Passage = 125 }},
	} {
		out = append(out, wildBut(k, part.name, part.but))
	}
	return out
}

func wildBut(k kit.Kit, name string, but func(*wild.Options)) variant {
	return variant{name, func(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error) {
		var o wild.Options
		but(&o)
		s, err := wild.New(k, o)
		if err != nil {
			return nil, err
		}
		_, err = s.Index(ctx, sequence(docs))
		return s, err
	}}
}

// onePassage ranks the passages of wild by BM25 and reads one of each page.
func onePassage(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error) {
	pages, err := chunk.Pages(ctx, docs, chunk.PageOptions{})
	if err != nil {
		return nil, err
	}
	var chunks []graphrag.Chunk
	for i := range pages {
		chunks = append(chunks, pages[i].Passages()...)
	}
	sparse, err := retrieve.NewSparse(ctx, chunks, bm25.Options{})
	if err != nil {
		return nil, err
	}
	one, err := retrieve.PerDoc(sparse, 1)
	if err != nil {
		return nil, err
	}
	return retrieve.Budget(one, tokens.Cl100k().Count)
}

func sequence(docs []graphrag.Document) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// measured are the figures of a variant, by question: the recall of pages, and with a
// budget the share of statements found.
type measured struct {
	types, source []string
	recall, found []float64
}

// compare prints a row for each variant, with the difference to the first.
func compare(ctx context.Context, set *benchmark.Dataset, variants []variant, budget int, stdout, stderr io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	title := "R@5"
	if budget > 0 {
		title = fmt.Sprintf("recall in %d tokens", budget)
	}
	fmt.Fprintf(w, "setting\tsingle\tmulti\tsummary\t%s\tless than the first\tfound\tless than the first\t\n", title)
	var first *measured
	for _, v := range variants {
		fmt.Fprintln(stderr, v.name)
		m, err := v.measure(ctx, set, budget)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		if first == nil {
			first = m
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%.1f\t%s\t\n", v.name, m.mean(m.recall, wildgraph.SingleFact), m.mean(m.recall, wildgraph.MultiFact), m.mean(m.recall, wildgraph.Summary),
			m.mean(m.recall, ""), m.less(first.recall, m.recall), m.mean(m.found, ""), m.less(first.found, m.found))
	}
	return w.Flush()
}

// measure asks all questions: for ten chunks, or for a budget that is twice as large where
// an overview is wanted.
func (v variant) measure(ctx context.Context, set *benchmark.Dataset, budget int) (*measured, error) {
	m := &measured{}
	for _, d := range set.Domains {
		var docs []graphrag.Document
		for doc, err := range d.Documents() {
			if err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		}
		words, err := benchmark.CountWords(ctx, sequence(docs))
		if err != nil {
			return nil, err
		}
		r, err := v.over(ctx, docs)
		if err != nil {
			return nil, err
		}
		for _, it := range d.Items {
			q := graphrag.Question{Text: it.Question.Text, K: 10, Tokens: budget}
			if budget > 0 && text.AsksOverview(q.Text) {
				q.Tokens *= 2
			}
			found, err := r.Retrieve(ctx, q)
			if err != nil {
				return nil, err
			}
			read := found.Read(q)
			a := graphrag.Answer{Ranked: slices.Concat([]graphrag.Hit{}, found.Ranked), Evidence: read}
			e := benchmark.Measure(it, record.NewAnswer(record.Key{}, a, nil, false))
			share, _ := words.Found(it, read)
			recall := e.RecallAt5
			if budget > 0 {
				recall = e.PromptRecall
			}
			if recall == nil {
				continue
			}
			m.types, m.source = append(m.types, it.Type), append(m.source, it.Source())
			m.recall, m.found = append(m.recall, *recall), append(m.found, share)
		}
	}
	return m, nil
}

// mean is that of the questions of a type, or of all, in percent.
func (m *measured) mean(values []float64, of string) float64 {
	sum, n := 0.0, 0.0
	for i, v := range values {
		if of == "" || m.types[i] == of {
			sum, n = sum+v, n+1
		}
	}
	return 100 * sum / max(n, 1)
}

// less says by how much others are behind, with the 95 % interval over source pages.
func (m *measured) less(first, other []float64) string {
	c, err := stats.Compare(first, other, stats.Number(m.source), stats.Options{Seed: 1})
	if err != nil { // too few questions
		return "n/a"
	}
	return fmt.Sprintf("%+.1f [%.1f, %.1f]", 100*c.Effect.Estimate, 100*c.Effect.Low, 100*c.Effect.High)
}
