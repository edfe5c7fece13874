// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

func hits(docs ...string) []graphrag.Hit {
	var out []graphrag.Hit
	for _, d := range docs {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{Doc: d, Text: "Text of " + d}})
	}
	return out
}

// The figures are worked out by hand from the definitions.
func TestMeasure(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	gold := []benchmark.Unit{{"a"}, {"b", "b2"}}
	for _, tt := range []struct {
		name string
		gold []benchmark.Unit
		a    graphrag.Answer
		want benchmark.Evidence
	}{
		{"nothing ranked", gold, graphrag.Answer{}, benchmark.Evidence{}},
		{"nothing found", gold, graphrag.Answer{Found: graphrag.Found{Ranked: []graphrag.Hit{}}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"no gold", nil, graphrag.Answer{Found: graphrag.Found{Ranked: hits("a")}}, benchmark.Evidence{}},
		{"one page fills the first five places", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("x", "a", "a", "a", "a", "b2")}},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(0.5), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(0), MRR: f(0.5), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"any page of a unit counts, once", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("b", "b2", "a")}},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(1), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(1), MRR: f(1), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"all misses", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("x", "y")}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"what stood in the prompt", gold, graphrag.Answer{Found: graphrag.Found{Evidence: hits("a"), Derived: []graphrag.Derived{{Provenance: graphrag.Provenance{Docs: []string{"b2", "z"}}}}}},
			benchmark.Evidence{PromptRecall: f(0.5), ProvenanceRecall: f(1)}},
		{"only facts", gold, graphrag.Answer{Found: graphrag.Found{Derived: []graphrag.Derived{{Provenance: graphrag.Provenance{Docs: []string{"a"}}}}}},
			benchmark.Evidence{PromptRecall: f(0), ProvenanceRecall: f(0.5)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check.Equal(t, benchmark.Item{Gold: tt.gold}.Measure(record.NewAnswer(record.Key{}, tt.a, nil, false)), tt.want, "(-want +got)")
		})
	}
}

// Where every unit is one document the figures are trec_eval's: testdata/golden.py ran
// pytrec_eval-terrier 0.5.11 (its C code) over the same files, 40 queries.
func TestMeasureAsTrecEval(t *testing.T) {
	items, rankings, scores := make(map[string]*benchmark.Item), make(map[string][]string), make(map[string]float64)
	for _, f := range trecLines(t, "qrels.txt") {
		level := check.Of(strconv.ParseInt(f[3], 10, 32)).OK(t)
		if items[f[0]] == nil {
			items[f[0]] = &benchmark.Item{Grades: make(map[string]int32)}
		}
		if items[f[0]].Grades[f[2]] = int32(level); level > 0 {
			items[f[0]].Gold = append(items[f[0]].Gold, benchmark.Unit{f[2]})
		}
	}
	for _, f := range trecLines(t, "run.txt") {
		score := check.Of(strconv.ParseFloat(f[4], 64)).OK(t)
		scores[f[0]+" "+f[2]] = score
		rankings[f[0]] = append(rankings[f[0]], f[2])
	}
	data, err := os.ReadFile("testdata/golden.json")
	check.OK(t, err)
	var golden map[string]map[string]float64
	err = json.Unmarshal(data, &golden)
	check.Must(t, err == nil && len(items) == 40, "%v %v", err, len(items))
	for q, it := range items { // trec_eval orders by score, then by document id, both falling
		slices.SortFunc(rankings[q], func(a, b string) int {
			return cmp.Or(cmp.Compare(scores[q+" "+b], scores[q+" "+a]), cmp.Compare(b, a))
		})
		got := it.Measure(record.NewAnswer(record.Key{}, graphrag.Answer{Found: graphrag.Found{Ranked: hits(rankings[q]...)}}, nil, false))
		for name, v := range map[string]*float64{"recall@10": got.RecallAt10, "RR": got.MRR, "nDCG@10": got.NDCGAt10} {
			want := golden[name][q]
			if v == nil && len(it.Gold) == 0 && want == 0 { // not defined here
				continue
			}
			if v == nil || math.Abs(*v-want) > 2e-9 {
				t.Errorf("%s of %s is %v, trec_eval says %.9f", name, q, v, want)
			}
		}
	}
}

// trecLines are the columns of each line of a TREC file.
func trecLines(t *testing.T, name string) [][]string {
	t.Helper()
	data := check.Of(os.ReadFile("testdata/" + name)).OK(t)
	var out [][]string
	for line := range strings.Lines(string(data)) {
		out = append(out, strings.Fields(line))
	}
	return out
}

// Systems answer the same item at once: an append to its statements must not write into
// the memory of another append.
func TestGoldStatementsAppend(t *testing.T) {
	it := benchmark.Item{Statements: append(make([]string, 0, 4), "one", "two")}
	first, second := append(it.GoldStatements(), "a"), append(it.GoldStatements(), "b")
	check.True(t, first[2] == "a" && second[2] == "b", "%q and %q share their end", first, second)
}
