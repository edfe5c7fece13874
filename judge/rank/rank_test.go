// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var measures = map[string]func([]string, Judgments, int) float64{
	"recall": Recall, "P": Precision, "AP": AP, "RR": RR, "nDCG": NDCG, "success": Success,
}

// value computes a measure by its name in the notation of ir_measures: recall@5, AP,
// P(rel=2)@10.
func value(t *testing.T, name string, ranked []string, j Judgments) float64 {
	t.Helper()
	kind, at, _ := strings.Cut(name, "@")
	if plain, ok := strings.CutSuffix(kind, "(rel=2)"); ok {
		kind, j = plain, j.AtLeast(2)
	}
	k, _ := strconv.Atoi(at)
	measure, ok := measures[kind]
	if !ok {
		t.Fatalf("no measure %q", name)
	}
	return measure(ranked, j, k)
}

// Worked cases that were run through trec_eval 9.0.8 and 10.0-rc3, and a document that
// stands twice.
func TestCases(t *testing.T) {
	for _, tt := range []struct {
		ranked string
		j      Judgments
		want   map[string]float64
	}{
		{"d1 d2 d3 d4", Judgments{"d1": 1, "d2": 0, "d3": 1, "d5": 1}, map[string]float64{
			"recall@1": .3333, "recall@3": .6667, "recall@5": .6667, "recall": .6667, "P@5": .4, "AP": .5556,
			"RR": 1, "nDCG": .7039, "nDCG@3": .7039, "success@1": 1,
		}},
		{"c b a", Judgments{"a": 1, "b": 0, "c": 0}, map[string]float64{
			"recall@1": 0, "RR": .3333, "RR@2": 0, "AP": .3333, "AP@2": 0, "nDCG": .5, "success@2": 0, "success@3": 1,
		}},
		{"y w x u", Judgments{"x": 3, "y": 2, "z": 1, "w": 0}, map[string]float64{
			"nDCG": .7350, "nDCG@2": .4693, "nDCG@5": .7350, "AP": .5556, "AP(rel=2)": .8333, "recall@2": .3333, "recall(rel=2)@2": .5,
		}},
		{"x x y", Judgments{"x": 1, "y": 1}, map[string]float64{"recall@2": .5, "recall@3": 1, "RR": 1, "AP": .8333}},
	} {
		for name, want := range tt.want {
			if got := value(t, name, strings.Fields(tt.ranked), tt.j); math.Abs(got-want) > 5e-5 {
				t.Errorf("%s of %s = %.4f, want %.4f", name, tt.ranked, got, want)
			}
		}
	}
}

// testdata/golden.py ran pytrec_eval-terrier 0.5.11 (trec_eval's C code) over
// the same files: 40 queries, 27 measures.
func TestAsTrecEval(t *testing.T) {
	judgments, rankings := make(map[string]Judgments), make(map[string][]string)
	for _, f := range trecLines(t, "qrels.txt") {
		level, err := strconv.ParseInt(f[3], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		if judgments[f[0]] == nil {
			judgments[f[0]] = make(Judgments)
		}
		judgments[f[0]][f[2]] = int32(level)
	}
	scores := make(map[string]float64)
	for _, f := range trecLines(t, "run.txt") {
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		scores[f[0]+" "+f[2]] = score
		rankings[f[0]] = append(rankings[f[0]], f[2])
	}
	for q, docs := range rankings { // as trec_eval orders them: by score, then by document id, both falling
		slices.SortFunc(docs, func(a, b string) int {
			return cmp.Or(cmp.Compare(scores[q+" "+b], scores[q+" "+a]), cmp.Compare(b, a))
		})
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
		for query, j := range judgments {
			if got := value(t, name, rankings[query], j); math.Abs(got-want[query]) > 2e-9 {
				t.Errorf("%s of %s = %.9f, trec_eval says %.9f", name, query, got, want[query])
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

// All measures of all empty cases are 0, and none is NaN.
func TestEmptyCases(t *testing.T) {
	for name, tt := range map[string]struct {
		ranked []string
		j      Judgments
	}{
		"nothing at all": {}, "nothing ranked": {nil, Judgments{"d": 1}}, "nothing relevant": {[]string{"e", "d"}, Judgments{"d": 0, "e": -2}},
		"nothing judged": {[]string{"d"}, nil}, "only unjudged": {[]string{"x"}, Judgments{"d": 3}},
	} {
		for of, measure := range measures {
			for _, k := range []int{0, 1, 1000} {
				if got := measure(tt.ranked, tt.j, k); got != 0 {
					t.Errorf("%s: %s@%d is %v", name, of, k, got)
				}
			}
		}
	}
}

func Example() {
	j := Judgments{"d1": 1, "d3": 1, "d5": 1}
	ranked := []string{"d1", "d2", "d3"}
	fmt.Printf("recall@5 %.4f, nDCG@10 %.4f, RR %.4f\n", Recall(ranked, j, 5), NDCG(ranked, j, 10), RR(ranked, j, 0))
	// Output: recall@5 0.6667, nDCG@10 0.7039, RR 1.0000
}
