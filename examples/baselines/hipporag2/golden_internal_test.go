// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// An example worked out with igraph: four passages, seven facts, given similarities.
var (
	goldenFacts = [][]graphrag.Triple{
		{{Head: "Alice Smith", Relation: "works at", Tail: "Acme Corp."}, {Head: "Acme Corp.", Relation: "located in", Tail: "Berlin"}},
		{{Head: "Berlin", Relation: "capital of", Tail: "Germany"}, {Head: "Bob Jones", Relation: "born in", Tail: "Berlin"}},
		{{Head: "Alice Smyth", Relation: "wrote", Tail: "Deep Rivers"}, {Head: "Deep Rivers", Relation: "published in", Tail: "Germany"}},
		{{Head: "Acme Corp.", Relation: "founded by", Tail: "Bob Jones"}, {Head: "Acme Corp", Relation: "located in", Tail: "Berlin"}},
	}
	goldenSynonyms = map[[2]string]float64{{"alice smith", "alice smyth"}: .92, {"berlin", "germany"}: .85}
	goldenScores   = []float64{1, .4, .7, 0, .3, .6, .2} // scores of the facts in the order above
	goldenSimilar  = []float64{1, .8095238095238095, 0, .42857142857142855}
)

func golden(t *testing.T, o Options) *searcher {
	t.Helper()
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	var chunks []graphrag.Chunk
	for p, facts := range goldenFacts {
		id := string(rune('0' + p))
		x := kg.Extraction{Chunk: id, Doc: id}
		for _, f := range facts {
			x.Facts = append(x.Facts, kg.Fact{Triple: f})
		}
		chunks = append(chunks, graphrag.Chunk{ID: id, Doc: id})
		check.OK(t, b.Insert(x))
	}
	g := check.Of(b.Graph(t.Context())).OK(t)
	view := kg.ViewOptions{Passages: true, Overwrite: true}
	for pair, score := range goldenSynonyms {
		a, _ := g.Find(pair[0])
		b, _ := g.Find(pair[1])
		view.Synonyms = append(view.Synonyms, kg.Synonym{From: a, To: b, Score: score}, kg.Synonym{From: b, To: a, Score: score})
	}
	c := kit.Kit{}.Corpus(chunks, g)
	s := &searcher{o: o, corpus: c.Ranking, triple: g.Triple, ends: g.Ends()}
	_, s.passages = g.Phrases()
	walked, err := g.View(view)
	check.OK(t, err)
	if s.walk, err = ppr.New(walked.Graph, ppr.Options{Damping: o.Damping, Tolerance: 1e-12}); err != nil {
		t.Fatal(err)
	}
	return s
}

// facts finds the golden facts in the graph, with their scores.
func (s *searcher) goldenFacts(t *testing.T, ids ...int) []scored {
	t.Helper()
	flat := slices.Concat(goldenFacts...)
	var out []scored
	for _, id := range ids {
		r := int32(0)
		for s.triple(r) != flat[id] {
			r++
		}
		out = append(out, scored{ID: r, Score: goldenScores[id]})
	}
	return out
}

func TestWorkedExample(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     Options
		facts []int
		want  []float64
	}{
		{"d .5", Options{Damping: .5, Phrases: Mean}, []int{0, 2, 5}, []float64{.0458059706, .0249927540, .0321466341, .0208836472}},
		{"d .85", Options{Damping: .85, Phrases: Mean}, []int{0, 2, 5}, []float64{.0511953218, .0398470224, .0496612059, .0379617135}},
		{"four facts, mean", Options{Damping: .5, Phrases: Mean}, []int{0, 2, 5, 4}, []float64{.0454287016, .0222823627, .0364008351, .0182348826}},
		{"four facts, last", Options{}, []int{0, 2, 5, 4}, []float64{.0512462606, .0261293115, .0257841656, .0232809812}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := golden(t, baselinestest.Filled(tt.o))
			got, err := s.walk.Solve(t.Context(), s.seeds(s.goldenFacts(t, tt.facts...), goldenSimilar), nil)
			check.OK(t, err)
			got = got[len(s.passages):]
			for p, want := range tt.want {
				check.True(t, math.Abs(got[p]-want) <= 1e-9,
					"passage %d has %.10f, want %.10f", p, got[p], want)
			}
		})
	}
}

func TestGoldenPhrases(t *testing.T) {
	s := golden(t, Options{Damping: .5, Link: 5, Phrases: Mean})
	want := map[string]float64{"acme corp": .5, "alice smith": 1, "berlin": .7 / 3, "deep rivers": .6, "germany": .325}
	facts := s.goldenFacts(t, 0, 2, 5)
	names := make(map[int32]string)
	for _, f := range facts {
		names[s.ends[f.ID][0]], names[s.ends[f.ID][1]] = s.triple(f.ID).Head, s.triple(f.ID).Tail
	}
	seeds := s.phrases(facts)
	check.Equal(t, len(seeds), len(want))
	for _, x := range seeds {
		if name := kg.FoldUnicode.Key(names[x.Node]); math.Abs(x.Weight-want[name]) > 1e-12 {
			t.Errorf("%s weighs %v, want %v", name, x.Weight, want[name])
		}
	}
}

// Five facts are found, and five of their phrases are seeds.
func TestLink(t *testing.T) {
	s := golden(t, baselinestest.Filled(Options{}))
	s.facts, s.chunks, s.filter = baselinestest.Alike(goldenScores), baselinestest.Alike(goldenSimilar), keepAll
	found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "?", K: 1})
	check.True(t, err == nil && len(found.Steps[0].Found) == 5, "%+v, %v", found.Steps, err)
	check.Equal(t, len(s.phrases(s.goldenFacts(t, 0, 1, 2, 4, 5))), 5, "seeds")
}

// Cosines of facts and passages are scaled to 0..1 over all of them: the same cosines on another scale give
// equal results.
func TestScales(t *testing.T) {
	var want []graphrag.Hit
	for _, x := range []struct{ facts, passages float64 }{{1, 1}, {.4, 1}, {1, .3}} {
		s := golden(t, baselinestest.Filled(Options{}))
		s.facts, s.chunks, s.filter = within(goldenScores, x.facts), within(goldenSimilar, x.passages), keepAll
		found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "?", K: 4})).OK(t)
		if want == nil {
			want = found.Ranked
		}
		for i, h := range found.Ranked {
			check.True(t, h.Chunk.ID == want[i].Chunk.ID && math.Abs(h.Score-want[i].Score) <= 1e-9,
				"%+v: passage %d is %s by %v, want %s by %v", x, i, h.Chunk.ID, h.Score, want[i].Chunk.ID, want[i].Score)
		}
	}
}

// within are scores on a scale of some length that begins at .5.
func within(scores []float64, length float64) baselinestest.Alike {
	out := make(baselinestest.Alike, len(scores))
	for i, x := range scores {
		out[i] = .5 + length*x
	}
	return out
}

// In whatever form a model writes a fact, the filter takes the nearest candidate; only an empty list selects
// none.
func TestNearestFact(t *testing.T) {
	data := check.Of(os.ReadFile("testdata/facts.json")).OK(t)
	var facts []graphrag.Triple
	check.OK(t, json.Unmarshal(data, &facts))
	table := check.Of(os.ReadFile("testdata/filter.tsv")).OK(t)
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		reply, want, _ := strings.Cut(line, "\t")
		m := llmtest.NewScript("m").Reply(llmtest.Any, reply)
		places, err := choose(t.Context(), m, "Who built the ferry?", facts)
		got := strings.Trim(fmt.Sprint(places), "[]")
		if got == "" {
			got = "-"
		}
		check.True(t, err == nil && got == want, "%s: facts %s, %v, want %s", reply, got, err, want)
	}
}
