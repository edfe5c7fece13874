// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/passage"
	"github.com/wildgraph/wildgraph/graphrag/query"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// spender is one way to spend a budget on pages.
type spender struct {
	name string
	over func(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error)
}

// flat ranks the passages of wild by BM25 and reads one of each page.
func flat(o bm25.Options) func(context.Context, []graphrag.Document) (graphrag.Retriever, error) {
	return func(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error) {
		pages, err := passage.Cut(ctx, docs, passage.Options{})
		if err != nil {
			return nil, err
		}
		var chunks []graphrag.Chunk
		for i := range pages {
			chunks = append(chunks, pages[i].Passages()...)
		}
		sparse, err := retrieve.NewSparse(ctx, chunks, o)
		if err != nil {
			return nil, err
		}
		return onePerPage(sparse)
	}
}

// onePerPage reads one passage of each page, as far as the budget goes.
func onePerPage(r graphrag.Retriever) (graphrag.Retriever, error) {
	one, err := retrieve.PerDoc(r, 1)
	if err != nil {
		return nil, err
	}
	return retrieve.Budget(one, tokens.Cl100k().Count)
}

// spenders are wild, the baseline, and wild with one part left out or changed.
func spenders(k kit.Kit) []spender {
	out := []spender{
		wildBut(k, "wild", nil),
		{"bm25, one passage a page", flat(bm25.Options{})},
		{"bm25 with titles, one passage a page", flat(bm25.Options{TitleWeight: 1})},
	}
	for _, part := range []struct {
		name string
		but  func(*wild.Options)
	}{
		{"without names", func(o *wild.Options) { o.Pages.Names, o.Pages.Page = -1, -1 }},
		{"without titles", func(o *wild.Options) { o.Pages.Title = -1 }},
		{"without length of pages", func(o *wild.Options) { o.Pages.Length = -1 }},
		{"without aspects", func(o *wild.Options) { o.Pages.Aspects = -1 }},
		{"one passage a page", func(o *wild.Options) { o.Pages.Detail = -1 }},
		{"twice the detail", func(o *wild.Options) { o.Pages.Detail = 1 }},
		{"overviews spread as facts", func(o *wild.Options) { o.Pages.OverviewSpread = 6 }},
		{"pages up to 450 tokens", func(o *wild.Options) { o.Cut.Size = 450 }},
		{"books read as pages", func(o *wild.Options) { o.Pages.Book = -1 }},
		{"units of 100 tokens", func(o *wild.Options) { o.Passage.Unit = 100 }},
		{"units of 30 tokens", func(o *wild.Options) { o.Passage.Unit = 30 }},
		{"passages of 125 tokens", func(o *wild.Options) { o.Passage.Passage = 125 }},
		{"passages of 300 tokens", func(o *wild.Options) { o.Passage.Passage = 300 }},
	} {
		out = append(out, wildBut(k, part.name, part.but))
	}
	return out
}

// wildBut is wild with something changed.
func wildBut(k kit.Kit, name string, but func(*wild.Options)) spender {
	return spender{name, func(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error) {
		var o wild.Options
		if but != nil {
			but(&o)
		}
		system, err := wild.New(k, o)
		if err != nil {
			return nil, err
		}
		_, err = system.Index(ctx, sequence(docs))
		return system, err
	}}
}

// sequence yields documents.
func sequence(docs []graphrag.Document) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// spent is what a spender found with a budget, by question.
type spent struct {
	types         []string
	recall, found []float64
	source        []string
	millis        []float64
}

// compareBudgets prints recall of pages and share of statements found: of every spender
// with the first budget, with the difference to wild, and of wild and the baseline with
// the others.
func compareBudgets(ctx context.Context, set *benchmark.Dataset, k kit.Kit, systems []string, budgets []int, stdout, stderr io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "tokens\tsetting (%s)\t%s\n", k.Encoder, "single\tmulti\tsummary\trecall\tless than wild\tfound\tless than wild\tms\t")
	others, err := onPassages(k, systems)
	if err != nil {
		return err
	}
	for n, budget := range budgets {
		all := spenders(k)
		if n > 0 {
			all = all[:2]
		}
		if len(others) > 0 {
			all = append(all[:2:2], others...)
		}
		var best *spent
		for _, s := range all {
			fmt.Fprintf(stderr, "%d tokens: %s\n", budget, s.name)
			got, err := s.spend(ctx, set, budget)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			best = cmp.Or(best, got)
			recall, err := best.less(got, func(s *spent) []float64 { return s.recall })
			if err != nil {
				return err
			}
			found, err := best.less(got, func(s *spent) []float64 { return s.found })
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%d\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%.1f\t%s\t%.1f\t\n", budget, s.name,
				got.mean(got.recall, wildgraph.SingleFact), got.mean(got.recall, wildgraph.MultiFact), got.mean(got.recall, wildgraph.Summary),
				got.mean(got.recall, ""), recall, got.mean(got.found, ""), found, got.median())
		}
	}
	return w.Flush()
}

// spend asks all questions, for twice the budget where an overview is wanted.
func (s spender) spend(ctx context.Context, set *benchmark.Dataset, budget int) (*spent, error) {
	coverage, err := benchmark.NewCoverage("")
	if err != nil {
		return nil, err
	}
	out := &spent{}
	for _, d := range set.Domains {
		var docs []graphrag.Document
		for doc, err := range d.Documents() {
			if err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		}
		rarity, err := coverage.Rarity(ctx, d.Documents())
		if err != nil {
			return nil, err
		}
		r, err := s.over(ctx, docs)
		if err != nil {
			return nil, err
		}
		for _, it := range d.Items {
			q := graphrag.Question{Text: it.Question.Text, Tokens: budget}
			if query.Overview(q.Text) {
				q.Tokens *= 2
			}
			start := time.Now()
			found, err := r.Retrieve(ctx, q)
			if err != nil {
				return nil, err
			}
			out.millis = append(out.millis, time.Since(start).Seconds()*1000)
			e := benchmark.Measure(it, record.NewAnswer(record.Key{}, graphrag.Answer{Ranked: []graphrag.Hit{}, Evidence: found.Evidence}, nil, false))
			held, _ := coverage.Found(it, found.Evidence, rarity)
			out.types, out.source = append(out.types, it.Type), append(out.source, it.Source())
			out.recall, out.found = append(out.recall, *e.PromptRecall), append(out.found, held)
		}
	}
	return out, nil
}

// mean is that of the questions of a type, or of all, in percent.
func (s *spent) mean(values []float64, of string) float64 {
	sum, n := 0.0, 0.0
	for i, v := range values {
		if of == "" || s.types[i] == of {
			sum += v
			n++
		}
	}
	return 100 * sum / max(n, 1)
}

func (s *spent) median() float64 { return slices.Sorted(slices.Values(s.millis))[len(s.millis)/2] }

// less says by how much another is behind, with the 95 % interval over source pages
// and the p-value of the permutation test.
func (s *spent) less(other *spent, of func(*spent) []float64) (string, error) {
	if s == other {
		return "", nil
	}
	c, err := stats.Compare(of(s), of(other), stats.Number(s.source), stats.Options{Seed: 1})
	if err != nil {
		return "n/a", nil //nolint:nilerr // too few questions
	}
	return fmt.Sprintf("%+.1f [%.1f, %.1f] p %.3f", 100*c.Effect.Estimate, 100*c.Effect.Low, 100*c.Effect.High, c.Test.P), nil
}
