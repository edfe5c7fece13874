// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
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

// ablation prints what each part of wild brings within a budget of tokens, beside BM25 over
// the same passages.
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
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		return err
	}
	return compare(ctx, set, spenders(k), *budget, stdout, stderr)
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
		_, err = s.Index(ctx, graphrag.Documents(docs...))
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

// measured are the figures of a variant, by question: the recall of pages, and the share of
// statements found.
type measured struct {
	types, source []string
	recall, found []float64
}

// compare prints a row for each variant, with the difference to the first.
func compare(ctx context.Context, set *benchmark.Dataset, variants []variant, budget int, stdout, stderr io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "setting\tsingle\tmulti\tsummary\trecall in %d tokens\tless than the first\tfound\tless than the first\t\n", budget)
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

// measure asks all questions, with a budget that is twice as large where an overview is
// wanted.
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
		words, err := benchmark.CountWords(ctx, graphrag.Documents(docs...))
		if err != nil {
			return nil, err
		}
		r, err := v.over(ctx, docs)
		if err != nil {
			return nil, err
		}
		for _, it := range d.Items {
			q := graphrag.Question{Text: it.Question.Text, K: 10, Tokens: budget}
			if text.AsksOverview(q.Text) {
				q.Tokens *= 2
			}
			found, err := r.Retrieve(ctx, q)
			if err != nil {
				return nil, err
			}
			read := found.Read(q)
			a := graphrag.Answer{Found: graphrag.Found{Ranked: slices.Concat([]graphrag.Hit{}, found.Ranked), Evidence: read}}
			e := benchmark.Measure(it, record.NewAnswer(record.Key{}, a, nil, false))
			share, _ := words.Found(it, read)
			recall := e.PromptRecall
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
