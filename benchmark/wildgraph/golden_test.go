// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

// golden holds evidence recall at 5 and 10 in percent, with a budget of
// chunks, of an independent implementation of BM25 in another language: k1
// 1.2, b 0.75, lower-cased runs of letters and numbers, windows of 1,200 words
// with a stride of 1,100, or of 1,200 pieces; all, single, multi, summary.
var golden = map[string]map[string][8]float64{
	"words": {
		"history":          {48.7, 60.5, 64.0, 76.0, 0.0, 0.0, 15.3, 27.8},
		"human_activities": {45.8, 55.2, 62.7, 72.3, 21.2, 36.5, 21.3, 28.4},
		"mathematics":      {63.4, 68.4, 81.0, 85.7, 50.0, 66.7, 31.2, 35.5},
		"nature":           {58.2, 61.7, 72.2, 72.2, math.NaN(), math.NaN(), 32.9, 42.9},
		"people":           {43.2, 50.3, 66.2, 71.4, 32.6, 44.3, 11.5, 18.4},
		"philosophy":       {39.0, 45.9, 52.2, 58.7, 13.9, 30.6, 13.9, 18.4},
		"all":              {46.2, 53.9, 64.1, 71.1, 27.4, 40.4, 18.3, 25.4},
	},
	"pieces": {
		"history":          {52.9, 56.0, 72.0, 72.0, 0.0, 0.0, 10.3, 21.5},
		"human_activities": {49.2, 56.6, 67.5, 74.7, 30.8, 32.7, 20.2, 29.6},
		"mathematics":      {61.4, 66.4, 81.0, 81.0, 66.7, 66.7, 23.6, 38.5},
		"nature":           {58.8, 59.9, 72.2, 72.2, math.NaN(), math.NaN(), 34.5, 37.9},
		"people":           {49.1, 57.9, 70.1, 79.2, 45.5, 55.1, 15.8, 23.5},
		"philosophy":       {44.0, 47.2, 58.7, 63.0, 13.9, 13.9, 16.7, 17.8},
		"all":              {50.1, 56.5, 68.5, 74.1, 37.8, 44.1, 18.9, 26.8},
	},
}

// The plain BM25 lands within rounding of the independent figures, on every
// domain and type.
func TestGoldenBM25(t *testing.T) {
	fsys := released(t)
	splitters := map[string]chunk.Splitter{
		"words":  windows{regexp.MustCompile(`[^\s\pZ]+`)},
		"pieces": windows{regexp.MustCompile(`[\pL\pN_]+|[^\s\pZ]`)},
	}
	set := check.Of(wildgraph.Load(fsys, benchmark.LoadOptions{})).OK(t)
	for name, splitter := range splitters {
		t.Run(name, func(t *testing.T) {
			var all tally
			for _, d := range set.Domains {
				var one tally
				retriever := plain(t, d, splitter)
				for _, it := range d.Items {
					found := check.Of(retriever.Retrieve(t.Context(), graphrag.Question{Text: it.Question.Text, K: 10})).OK(t)
					e := it.Measure(record.NewAnswer(record.Key{}, graphrag.Answer{Found: found}, nil, false))
					one.add(it, e)
					all.add(it, e)
				}
				one.compare(t, name, d.Name)
			}
			if len(set.Domains) == 6 {
				all.compare(t, name, "all")
			}
		})
	}
}

// windows cuts into windows of 1,200 units that share 100.
type windows struct{ unit *regexp.Regexp }

func (w windows) Split(_ context.Context, s string) (spans []chunk.Span, err error) {
	units := w.unit.FindAllStringIndex(s, -1)
	for first := 0; first == 0 || first+100 < len(units); first += 1100 {
		span := chunk.Span{End: len(s), Tokens: min(1200, len(units)-first)}
		if first > 0 {
			span.Start = units[first][0]
		}
		if first+1200 < len(units) {
			span.End = units[first+1200][0]
		}
		spans = append(spans, span)
	}
	return spans, nil
}

func plain(t *testing.T, d benchmark.Domain, s chunk.Splitter) *retrieve.Sparse {
	t.Helper()
	chunker := check.Of(chunk.New(chunk.Options{Splitter: s})).OK(t)
	chunks := check.Of(chunker.All(t.Context(), d.Documents())).OK(t)
	r := check.Of(retrieve.NewSparse(t.Context(), chunks, bm25.Plain())).OK(t)
	return r
}

// tally sums recall at 5 and 10 over all questions and over each type.
type tally struct {
	sum [8]float64
	n   [4]int
}

func (a *tally) add(it benchmark.Item, e benchmark.Evidence) {
	types := map[string]int{wildgraph.SingleFact: 1, wildgraph.MultiFact: 2, wildgraph.Summary: 3}
	for _, i := range []int{0, types[it.Type]} {
		a.sum[2*i] += *e.RecallAt5
		a.sum[2*i+1] += *e.RecallAt10
		a.n[i]++
	}
}

func (a *tally) compare(t *testing.T, splitter, domain string) {
	t.Helper()
	want, known := golden[splitter][domain]
	if !known {
		return
	}
	for i, sum := range a.sum {
		got := 100 * sum / float64(a.n[i/2])
		if math.Abs(got-want[i]) > 0.1 || math.IsNaN(got) != math.IsNaN(want[i]) {
			t.Errorf("%s, %s, figure %d: %.2f %%, want %.1f", splitter, domain, i, got, want[i])
		}
	}
	t.Log(splitter, domain, fmt.Sprintf("R@5 %.2f", 100*a.sum[0]/float64(a.n[0])))
}
