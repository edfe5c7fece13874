// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Evaluate(qrels, run, []Measure{m}, averaging)
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
	qrels, err := ReadQrels(strings.NewReader("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\nq1 0 d5 1\nq2 0 a 1\nq2 0 b 0\nq2 0 c 0\nq3 0 x 3\nq3 0 y 2\nq3 0 z 1\nq3 0 w 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := ReadRun(strings.NewReader("q1 Q0 d1 1 9 t\nq1 Q0 d2 2 8 t\nq1 Q0 d3 3 7 t\nq1 Q0 d4 4 6 t\nq2 Q0 a 1 1 t\nq2 Q0 b 2 1 t\nq2 Q0 c 3 1 t\n" +
		"q3 Q0 y 1 5 t\nq3 Q0 w 2 4 t\nq3 Q0 x 3 3 t\nq3 Q0 u 4 2 t\n"))
	if err != nil {
		t.Fatal(err)
	}
	wantMeans(t, qrels, run, Complete, map[string]float64{
		"AP": .4815, "RR": .7778, "P@5": .3333, "recall@1": .2222, "recall@3": .7778, "nDCG": .6463, "nDCG@2": .3608,
	})
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
	for rule, want := range map[Averaging]Figure{
		Complete: {"recall@5", 1. / 3, 3}, InRun: {"recall@5", .5, 2},
	} {
		r, err := Evaluate(&qrels, &run, measures, rule)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Figure{want}, r.Figures()); diff != "" {
			t.Errorf("%v: %s", rule, diff)
		}
		if !slices.Equal(r.Missing, []string{"qb"}) || !slices.Equal(r.Unjudged, []string{"qz"}) {
			t.Errorf("%v: missing %v, unjudged %v", rule, r.Missing, r.Unjudged)
		}
	}
	if _, err := Evaluate(&qrels, &run, measures, Strict); !errors.Is(err, ErrMissing) {
		t.Errorf("strict: %v", err)
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
		for _, f := range r.Figures() {
			if f.Value != 0 || f.N != tc.n {
				t.Errorf("%s: %+v, want 0 over %d", name, f, tc.n)
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

func TestMeasureNames(t *testing.T) {
	for _, m := range allMeasures() {
		if back, err := ParseMeasure(m.String()); err != nil || back != m {
			t.Errorf("%v read back as %v, %v", m, back, err)
		}
	}
	for _, bad := range []string{"", "recall@", "recall@0", "recall@-1", "P", "success", "R_cap", "MAP", "nDCG(rel=2)@5", "AP(rel=0)", "AP(rel=2", "AP(rel=99999999999)"} {
		if m, err := ParseMeasure(bad); err == nil {
			t.Errorf("%q read as %v", bad, m)
		}
	}
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
			m, err := ParseMeasure(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Evaluate(newQrels(t, "q", judgments...), newRun(t, "q", hits...), []Measure{m}, Complete)
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
