// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

func newRun(t *testing.T, query string, hits ...Hit) *Run {
	t.Helper()
	r := new(Run)
	if err := r.Add(query, hits); err != nil {
		t.Fatal(err)
	}
	return r
}

func newQrels(t *testing.T, query string, judgments ...Judgment) *Qrels {
	t.Helper()
	q := new(Qrels)
	if err := q.Add(query, judgments); err != nil {
		t.Fatal(err)
	}
	return q
}

// wantMeans compares means, by the names of measures, to four decimals.
func wantMeans(t *testing.T, qrels *Qrels, run *Run, averaging Averaging, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		r, err := Evaluate(qrels, run, []Measure{named(t, name)}, averaging)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Mean(0); !near(got, w) {
			t.Errorf("%s = %.4f, want %.4f", name, got, w)
		}
	}
}

// Cases 1 to 3 were run through trec_eval 9.0.8 and 10.0-rc3.
func TestPlainRanking(t *testing.T) {
	qrels := newQrels(t, "q", Judgment{"d1", 1}, Judgment{"d2", 0}, Judgment{"d3", 1}, Judgment{"d5", 1})
	run := newRun(t, "q", Hit{"d4", 6}, Hit{"d3", 7}, Hit{"d2", 8}, Hit{"d1", 9})
	wantMeans(t, qrels, run, Complete, map[string]float64{
		"recall@1": .3333, "recall@3": .6667, "recall@5": .6667, "recall": .6667, "P@5": .4, "AP": .5556,
		"RR": 1, "nDCG": .7039, "nDCG@3": .7039, "success@1": 1, "R_cap@1": 1, "R_cap@2": .5,
	})
}

func TestTies(t *testing.T) {
	qrels := newQrels(t, "q", Judgment{"a", 1}, Judgment{"b", 0}, Judgment{"c", 0})
	run := newRun(t, "q", Hit{"a", 1}, Hit{"b", 1}, Hit{"c", 1})
	if diff := cmp.Diff([]Hit{{"c", 1}, {"b", 1}, {"a", 1}}, run.Hits("q")); diff != "" {
		t.Error(diff)
	}
	wantMeans(t, qrels, run, Complete, map[string]float64{
		"recall@1": 0, "RR": .3333, "RR@2": 0, "AP": .3333, "AP@2": 0, "nDCG": .5, "success@2": 0, "success@3": 1,
	})
}

func TestGraded(t *testing.T) {
	qrels := newQrels(t, "q", Judgment{"x", 3}, Judgment{"y", 2}, Judgment{"z", 1}, Judgment{"w", 0})
	run := newRun(t, "q", Hit{"y", 5}, Hit{"w", 4}, Hit{"x", 3}, Hit{"u", 2})
	wantMeans(t, qrels, run, Complete, map[string]float64{
		"nDCG": .7350, "nDCG@2": .4693, "nDCG@5": .7350, "AP": .5556, "AP(rel=2)": .8333,
		"recall@2": .3333, "recall(rel=2)@2": .5,
	})
}

// The means of the three cases above, as both builds of trec_eval print them.
func TestMeansOfThree(t *testing.T) {
	qrels, run := new(Qrels), new(Run)
	for _, err := range []error{
		qrels.Add("q1", []Judgment{{"d1", 1}, {"d2", 0}, {"d3", 1}, {"d5", 1}}), run.Add("q1", []Hit{{"d1", 9}, {"d2", 8}, {"d3", 7}, {"d4", 6}}),
		qrels.Add("q2", []Judgment{{"a", 1}, {"b", 0}, {"c", 0}}), run.Add("q2", []Hit{{"a", 1}, {"b", 1}, {"c", 1}}),
		qrels.Add("q3", []Judgment{{"x", 3}, {"y", 2}, {"z", 1}, {"w", 0}}), run.Add("q3", []Hit{{"y", 5}, {"w", 4}, {"x", 3}, {"u", 2}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantMeans(t, qrels, run, Complete, map[string]float64{
		"AP": .4815, "RR": .7778, "P@5": .3333, "recall@1": .2222, "recall@3": .7778, "nDCG": .6463, "nDCG@2": .3608,
	})
}

// testdata/golden.py ran pytrec_eval-terrier 0.5.11 (trec_eval's C code) over
// the same files: 40 queries, 27 measures.
func TestAsTrecEval(t *testing.T) {
	qrels, run := new(Qrels), new(Run)
	judgments, hits := make(map[string][]Judgment), make(map[string][]Hit)
	for _, f := range trecLines(t, "qrels.txt") {
		level, err := strconv.ParseInt(f[3], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		judgments[f[0]] = append(judgments[f[0]], Judgment{f[2], int32(level)})
	}
	for _, f := range trecLines(t, "run.txt") {
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		hits[f[0]] = append(hits[f[0]], Hit{f[2], score})
	}
	for query := range judgments {
		if err := errors.Join(qrels.Add(query, judgments[query]), run.Add(query, hits[query])); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]float64
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, want := range golden {
		r, err := Evaluate(qrels, run, []Measure{named(t, name)}, Complete)
		if err != nil {
			t.Fatal(err)
		}
		for q, query := range r.Queries {
			if math.Abs(r.Values[q]-want[query]) > 2e-9 {
				t.Errorf("%s of %s = %.9f, trec_eval says %.9f", name, query, r.Values[q], want[query])
			}
			compared++
		}
	}
	if compared != 40*27 {
		t.Errorf("compared %d values, want %d", compared, 40*27)
	}
}

// trecLines are the columns of each line of a TREC file.
func trecLines(t *testing.T, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(data)) {
		out = append(out, strings.Fields(line))
	}
	return out
}

func TestAveraging(t *testing.T) {
	var qrels Qrels
	var run Run
	for _, err := range []error{
		qrels.Add("qa", []Judgment{{"d1", 1}}), qrels.Add("qb", []Judgment{{"d2", 1}}), qrels.Add("qc", []Judgment{{"d9", 0}}),
		run.AddRanking("qa", []string{"d1"}), run.AddRanking("qc", []string{"d9"}), run.AddRanking("qz", []string{"d1"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	measures := []Measure{{Kind: Recall, K: 5}}
	for rule, want := range map[Averaging]struct {
		mean float64
		n    int
	}{Complete: {1. / 3, 3}, InRun: {.5, 2}} {
		r, err := Evaluate(&qrels, &run, measures, rule)
		if err != nil {
			t.Fatal(err)
		}
		if r.Mean(0) != want.mean || len(r.Queries) != want.n || len(r.Column(0)) != want.n {
			t.Errorf("%v: %v, want %v", rule, r, want)
		}
		if !slices.Equal(r.Missing, []string{"qb"}) || !slices.Equal(r.Unjudged, []string{"qz"}) {
			t.Errorf("%v: missing %v, unjudged %v", rule, r.Missing, r.Unjudged)
		}
	}
}

func TestHippoRecall(t *testing.T) {
	for _, tc := range []struct {
		ranked, gold []string
		k            int
		want         float64
	}{
		{[]string{"x", "x", "y"}, []string{"x", "y"}, 2, .5},
		{[]string{"x", "x", "y"}, []string{"x", "y", "y"}, 3, 1},
		{[]string{"x"}, nil, 5, 0},
		{nil, []string{"x"}, 5, 0},
		{[]string{"x"}, []string{"x"}, 0, 0},
		{[]string{"x"}, []string{"x"}, -1, 0},
	} {
		if got := HippoRecall(tc.ranked, tc.gold, tc.k); got != tc.want {
			t.Errorf("%v against %v at %d: %v, want %v", tc.ranked, tc.gold, tc.k, got, tc.want)
		}
	}
}

// All measures of all empty cases are 0, and none is NaN.
func TestEmptyCases(t *testing.T) {
	measures := allMeasures()
	empty := newRun(t, "q")
	for name, tc := range map[string]struct {
		qrels *Qrels
		run   *Run
		n     int
	}{
		"nothing at all":   {new(Qrels), new(Run), 0},
		"no hits":          {newQrels(t, "q", Judgment{"d", 1}), empty, 1},
		"nothing relevant": {newQrels(t, "q", Judgment{"d", 0}, Judgment{"e", -2}), newRun(t, "q", Hit{"e", 2}, Hit{"d", 1}), 1},
		"nothing judged":   {newQrels(t, "q"), newRun(t, "q", Hit{"d", 1}), 1},
		"only unjudged":    {newQrels(t, "q", Judgment{"d", 3}), newRun(t, "q", Hit{"x", 1}), 1},
	} {
		r, err := Evaluate(tc.qrels, tc.run, measures, Complete)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range measures {
			if r.Mean(i) != 0 || len(r.Queries) != tc.n {
				t.Errorf("%s: %v is %v over %d, want 0 over %d", name, m, r.Mean(i), len(r.Queries), tc.n)
			}
		}
	}
}

func allMeasures() []Measure {
	var all []Measure
	for kind := range kinds {
		for _, k := range []int{0, 1, 5, 1000} {
			for _, level := range []int32{0, 2} {
				if m := (Measure{Kind(kind), k, level}); m.check() == nil {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// named is the measure of that name.
func named(t *testing.T, name string) Measure {
	t.Helper()
	for kind := range kinds {
		for k := range 11 {
			for _, level := range []int32{0, 2} {
				if m := (Measure{Kind(kind), k, level}); m.String() == name && m.check() == nil {
					return m
				}
			}
		}
	}
	t.Fatalf("no measure %q", name)
	return Measure{}
}

// All faults of the settings are reported together.
func TestEvaluateErrors(t *testing.T) {
	_, err := Evaluate(new(Qrels), new(Run), []Measure{{Kind: Precision}, {Kind: 99}, {Kind: AP, K: -1}}, 77)
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("error %v, want four lines", err)
	}
}

func TestAddErrors(t *testing.T) {
	var run Run
	var qrels Qrels
	if err := run.Add("q", []Hit{{"a", 1}, {"b", 2}, {"a", 3}}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("duplicate hit: %v", err)
	}
	if err := run.AddRanking("q", []string{"a", "a"}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("duplicate in ranking: %v", err)
	}
	if err := run.Add("q", []Hit{{"a", math.NaN()}}); err == nil {
		t.Error("NaN passed")
	}
	if len(run.Queries()) != 0 {
		t.Errorf("failed adds left %v", run.Queries())
	}
	for i, want := range []error{nil, ErrDuplicate} {
		if err := run.Add("q", []Hit{{"a", math.Inf(1)}}); !errors.Is(err, want) {
			t.Errorf("add %d: %v", i, err)
		}
		if err := qrels.Add("q", nil); !errors.Is(err, want) {
			t.Errorf("add judgments %d: %v", i, err)
		}
	}
	if err := qrels.Add("p", []Judgment{{"a", 1}, {"a", 0}}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("duplicate judgment: %v", err)
	}
}

// Values follow from the definitions, whatever the ranking.
func TestMeasuresAgainstEachOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var judgments []Judgment
		var hits []Hit
		for d := range rng.IntN(20) {
			judgments = append(judgments, Judgment{fmt.Sprint(d), int32(rng.IntN(4) - 1)})
			hits = append(hits, Hit{fmt.Sprint(d * (1 + rng.IntN(2)*100)), float64(rng.IntN(3))})
		}
		hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Doc == b.Doc })
		if len(hits) > 0 && hits[0].Doc == "0" {
			hits[0].Doc = "zero"
		}
		of := func(name string, hits []Hit) float64 {
			r, err := Evaluate(newQrels(t, "q", judgments...), newRun(t, "q", hits...), []Measure{named(t, name)}, Complete)
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Mean(0); v >= 0 && v <= 1+1e-12 {
				return v
			}
			t.Fatalf("%s = %v", name, r.Mean(0))
			return 0
		}
		shuffled := slices.Clone(hits)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if of("AP", hits) != of("AP", shuffled) {
			t.Error("AP depends on the order of input")
		}
		if of("recall@3", hits) > of("recall@5", hits) || of("R_cap@3", hits) < of("recall@3", hits) {
			t.Error("recall falls with k or exceeds R_cap")
		}
		if (of("RR@4", hits) > 0) != (of("success@4", hits) == 1) {
			t.Error("RR and success disagree")
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	var qrels Qrels
	var run Run
	for q := range 1000 {
		var hits []Hit
		var judgments []Judgment
		for d := range 100 {
			hits = append(hits, Hit{fmt.Sprint("doc", (d*7919+q)%5000), float64(100 - d)})
			if d%10 == 0 {
				judgments = append(judgments, Judgment{fmt.Sprint("doc", (d*7919+q+d%3)%5000), 1 + int32(d%3)})
			}
		}
		if err := errors.Join(run.Add(fmt.Sprint(q), hits), qrels.Add(fmt.Sprint(q), judgments)); err != nil {
			b.Fatal(err)
		}
	}
	measures := []Measure{{Kind: Recall, K: 5}, {Kind: NDCG, K: 10}, {Kind: AP}, {Kind: RR}, {Kind: Precision, K: 5}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Evaluate(&qrels, &run, measures, Complete); err != nil {
			b.Fatal(err)
		}
	}
}
