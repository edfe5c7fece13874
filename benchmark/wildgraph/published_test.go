// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
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
