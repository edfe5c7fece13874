// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
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

// The tables of the paper hang together: accuracies are of whole questions,
// averages are question-weighted, the domains add up to Table 2, and Table 2's
// F1 is the harmonic mean of its recall and precision. A figure that was
// copied wrong breaks one of them.
func TestPublishedAddsUp(t *testing.T) {
	p := wildgraph.Published(slices.Collect(maps.Keys(table5)))
	whole := make(map[string]benchmark.PublishedRow)
	correct := make(map[string][2]float64)
	rows := 0
	for _, r := range p.Rows {
		if strings.HasSuffix(r.Source, "Table 3") {
			continue
		}
		rows++
		if r.Domain == "" {
			whole[r.System] = r
			p, q := *r.Precision, *r.Recall
			f1 := 2 * p * q / (p + q)
			check.True(t, math.Abs(f1-*r.F1OfMeans) <= 1.1e-4 && r.F1MeanOfQuestions == nil, "%s: F1 of means %v, want %v", r.System, *r.F1OfMeans, f1)
			continue
		}
		check.True(t, r.F1MeanOfQuestions != nil && r.F1OfMeans == nil, "%s on %s: which F1 is it?", r.System, r.Domain)
		n := table5[r.Domain]
		got := [2]float64{*r.SingleFact * float64(n[0]), *r.MultiFact * float64(n[1])}
		sum := correct[r.System]
		for i := range got {
			check.True(t, math.Abs(got[i]-math.Round(got[i])) <= 0.011*float64(n[i])/100+1e-9,
				"%s on %s: %v correct answers", r.System, r.Domain, got[i])
			sum[i] += math.Round(got[i])
		}
		correct[r.System] = sum
		avg := (math.Round(got[0]) + math.Round(got[1])) / float64(n[0]+n[1])
		check.True(t, math.Abs(avg-*r.AvgAccuracy) <= 2.1e-4, "%s on %s: average %v, want %v", r.System, r.Domain, *r.AvgAccuracy, avg)
	}
	check.True(t, rows == 8*13 && len(whole) == 8, "%d rows of %d systems, want 13 tables of 8", rows, len(whole))
	for name, r := range whole {
		c := correct[name]
		for _, f := range []struct{ got, want float64 }{
			{*r.SingleFact, c[0] / 667}, {*r.MultiFact, c[1] / 191}, {*r.AvgAccuracy, (c[0] + c[1]) / 858},
		} {
			check.True(t, math.Abs(f.got-f.want) <= 1.1e-4,
				"%s: Table 2 has %v, the domains add up to %v", name, f.got, f.want)
		}
	}
}

// The human average is weighted 667 to 191 in print, and 84.40 by people's own
// 77 and 32, as its note says.
func TestPublishedHuman(t *testing.T) {
	p := wildgraph.Published([]string{"people"})
	var human []benchmark.PublishedRow
	for _, r := range p.Rows {
		if r.System == wildgraph.Human {
			human = append(human, r)
		}
	}
	check.Must(t, len(human) == 1 && human[0].Domain == "people" && strings.Contains(human[0].Source, "Table 3"), "human rows: %+v", human)
	h := human[0]
	mean := func(n, m float64) float64 { return (*h.SingleFact*n + *h.MultiFact*m) / (n + m) }
	if math.Abs(mean(667, 191)-*h.AvgAccuracy) > 1e-4 || math.Abs(mean(77, 32)-0.8440) > 1e-4 || !strings.Contains(h.Note, "84.40") {
		t.Errorf("averages %v and %v, printed %v", mean(667, 191), mean(77, 32), *h.AvgAccuracy)
	}
}

// The rows of Table 3 are those of the paper's text; their averages are weighted as the questions
// of the whole benchmark, 667 to 191, as those of no other table.
func TestPublishedTable3(t *testing.T) {
	n := 0
	for _, r := range wildgraph.Published([]string{"people"}).Rows {
		if !strings.HasSuffix(r.Source, "Table 3") || r.System == wildgraph.Human {
			continue
		}
		n++
		if mean := (*r.SingleFact*667 + *r.MultiFact*191) / 858; math.Abs(mean-*r.AvgAccuracy) > 1e-4 || !strings.Contains(r.Note, "Table 13") {
			t.Errorf("%s: the average is %v, want %v (%s)", r.System, *r.AvgAccuracy, mean, r.Note)
		}
	}
	check.Equal(t, n, 8, "rows")
}

// Rows are of the domains that are asked for.
func TestPublishedDomains(t *testing.T) {
	p := wildgraph.Published([]string{"nature"})
	for _, r := range p.Rows {
		check.True(t, r.Domain == "" || r.Domain == "nature", "a row about %s", r.Domain)
	}
	p = wildgraph.Published([]string{"astronomy"})
	check.True(t, p == nil, "other domains have published rows: %+v", p)
}

// The cells were compared with the tables of the paper one by one. After a change, compare
// the changed ones and put the new sum here.
func TestPublishedCells(t *testing.T) {
	rows, err := json.Marshal(wildgraph.Published(slices.Sorted(maps.Keys(table5))))
	got := fmt.Sprintf("%x", sha256.Sum256(rows))[:16]
	check.True(t, err == nil && got == "4b1e3e8681b4a327", "the sum of the cells is %s, not that of the cells that were compared (%v)", got, err)
}

func ExampleLoad() {
	// With a checkout of the data set: os.DirFS("WildGraphBench").
	set, err := wildgraph.Load(small(), benchmark.LoadOptions{Domains: []string{"birds"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(set.Domains[0].Items), "questions over", set.Domains[0].Pages, "pages")
	for _, it := range set.Domains[0].Items {
		fmt.Println(it.Question.ID, it.Type, it.Gold)
	}
	// Output:
	// 3 questions over 4 pages
	// birds/1 single-fact [[Hearing of Owls.txt]]
	// birds/2 multi-fact [[Hearing of Owls.txt] [Sight.txt Vision.txt]]
	// birds/4 summary [[Sight.txt Vision.txt] [page.txt]]
}

func ExampleSlug() {
	fmt.Println(wildgraph.Slug("Typhoon Bolaven: 59 dead – CNN.com"))
	// Output:
	// Typhoon Bolaven 59 dead CNNcom
}

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
					e := benchmark.Measure(it, record.NewAnswer(record.Key{}, graphrag.Answer{Found: found}, nil, false))
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
		check.True(t, math.Abs(got-want[i]) <= 0.1 && math.IsNaN(got) == math.IsNaN(want[i]),
			"%s, %s, figure %d: %.2f %%, want %.1f", splitter, domain, i, got, want[i])
	}
	t.Log(splitter, domain, fmt.Sprintf("R@5 %.2f", 100*a.sum[0]/float64(a.n[0])))
}
