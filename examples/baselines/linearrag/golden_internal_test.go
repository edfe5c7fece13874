// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

// golden is an example of a few passages that a separate script computed from the paper's equations. The
// published program counts a name in a passage wherever its letters occur, so that "alphabet" contains Alpha;
// countLetters does the same.
func golden(t *testing.T, o Options, countLetters bool) *searcher {
	t.Helper()
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	chunks := []graphrag.Chunk{
		{ID: "0", Doc: "d", Text: "Alpha met Beta. Alpha visited Delta."},
		{ID: "1", Doc: "d", Text: "Beta advised Gamma."},
		{ID: "2", Doc: "d", Text: "Gamma founded Epsilon, an alphabet shop."},
	}
	for _, c := range chunks {
		x := kg.Extraction{Chunk: c.ID, Doc: c.Doc}
		for _, n := range []string{"Alpha", "Beta", "Gamma", "Delta", "Epsilon"} {
			x.Mentions = append(x.Mentions, kg.Mention{Name: n})
		}
		check.OK(t, b.Insert(x))
	}
	g := check.Of(b.Graph(t.Context())).OK(t)
	c := kit.Kit{}.Corpus(chunks, g)
	s := &searcher{o: o, corpus: c, graph: newTriGraph(c)}
	edges := check.Of(s.graph.edges(chunks, true)).OK(t)
	s.walk = check.Of(ppr.New(edges, ppr.Options{Damping: .5, Tolerance: 1e-12})).OK(t)
	if countLetters {
		s.graph.mentions[0] = append(s.graph.mentions[0], kg.Posting{ID: 2, Count: 1})
	}
	return s
}

// goldenNames are the entities in the order of the golden file; the index sorts them by name.
var goldenNames = []string{"alpha", "beta", "gamma", "delta", "epsilon"}

func (s *searcher) id(name string) int32 {
	for i, n := range s.graph.names {
		if n == name {
			return int32(i)
		}
	}
	return -1
}

// likeness has a similarity for each sentence, in the order of the passages.
func goldenLikeness(i int32) float64 { return []float64{.8, .3, .7, .9}[i] }

var goldenSimilar = []float64{1, (.55 - .4) / (.62 - .4), 0}

func TestWorkedExample(t *testing.T) {
	type row struct {
		score float64
		tier  int
	}
	wide := baselinestest.Filled(Options{Threshold: .1, Sentences: 4, Iterations: 5})
	narrow := Options{Threshold: .4, Sentences: 1, Iterations: 3, Ratio: 1.5, PassageWeight: .05}
	for _, tt := range []struct {
		name     string
		o        Options
		weights  []float64
		table    map[string]row
		bonus    []float64
		passages []float64
	}{
		{"one sentence", narrow, []float64{1.71, 1.292, .532, 0, 0},
			map[string]row{"alpha": {.76, 2}, "beta": {.532, 3}, "gamma": {.532, 3}},
			[]float64{.5403907697, .2458362, .3863140286}, []float64{.2088069381, .164755447, .0563005849}},
		{"four sentences", wide, []float64{1.995, 1.292, 1.0108, .285, .4788},
			map[string]row{"alpha": {.285, 2}, "beta": {.532, 3}, "gamma": {.4788, 4}, "delta": {.285, 2}, "epsilon": {.4788, 4}},
			[]float64{.3782438244, .2058878175, .2647129083}, []float64{.1869999893, .1541924068, .0846806647}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := golden(t, tt.o, true)
			a := s.activate([]activeEntity{{s.id("alpha"), .95, 1}}, goldenLikeness)
			for i, want := range tt.weights {
				got := a.weights[s.id(goldenNames[i])]
				check.True(t, math.Abs(got-want) <= 1e-9, "%s weighs %v, want %v", goldenNames[i], got, want)
			}
			table := make(map[string]row)
			for _, x := range a.table {
				table[s.graph.names[x.entity]] = row{x.score, x.tier}
			}
			check.Equal(t, cmp.Diff(tt.table, table, cmp.AllowUnexported(row{}), cmpopts.EquateApprox(0, 1e-9)), "", "activated (-want +got)")
			check.Equal(t, cmp.Diff(tt.bonus, s.graph.bonus(a.table), cmpopts.EquateApprox(0, 1e-9)), "", "bonus (-want +got)")
			rank := check.Of(s.rank(t.Context(), a, goldenSimilar)).OK(t)
			check.Equal(t, cmp.Diff(tt.passages, rank, cmpopts.EquateApprox(0, 1e-9)), "", "passages (-want +got)")
		})
	}
}

// If whole words are compared, "alphabet" does not contain Alpha.
func TestWholeWords(t *testing.T) {
	s := golden(t, Options{Threshold: .4, Sentences: 1, Iterations: 3, Ratio: 1.5, PassageWeight: .05}, false)
	a := s.activate([]activeEntity{{s.id("alpha"), .95, 1}}, goldenLikeness)
	got := s.graph.bonus(a.table)[2]
	check.True(t, math.Abs(got-.1229181) <= 1e-9, "bonus of the last passage %v, want .1229181", got)
}

// The paper's equation 5 gives scores without an upper bound; ours are at most 1.
func TestEquation5(t *testing.T) {
	for _, tt := range []struct {
		threshold float64
		history   [][]float64
	}{
		{.4, [][]float64{{1.045, .76, 0, 0, 0}, {1.7575, 1.976, .532, 0, 0}}},
		{.1, [][]float64{{1.045, .76, 0, .285, 0}, {1.843, 1.976, .532, .399, 0}, {3.7278, 4.8108, 2.2344, .6726, .4788}}},
	} {
		s := golden(t, Options{Threshold: tt.threshold, Iterations: 3, Activation: Max}, false)
		table := []activeEntity{{s.id("alpha"), .95, 1}}
		for step, want := range tt.history {
			table, _ = s.equation5(table, goldenLikeness, step+2)
			got := make([]float64, 5)
			for _, x := range table {
				for i, n := range goldenNames {
					if s.graph.names[x.entity] == n {
						got[i] = x.score
					}
				}
			}
			check.Equal(t, cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)), "",
				"threshold %v, step %d (-want +got):\n", tt.threshold, step+1)
		}
		for _, x := range s.activate([]activeEntity{{s.id("alpha"), .95, 1}}, goldenLikeness).table {
			if x.score > 1 {
				t.Errorf("%s has %v", s.graph.names[x.entity], x.score)
			}
		}
	}
}

// near is an index in which all other names have the given similarity to one name.
type near float64

func (n near) Nearest(context.Context, string, int) ([]rank.Scored[int32], error) {
	return []rank.Scored[int32]{{ID: 2, Score: float64(n)}}, nil
}

// A name without a similar name activates nothing.
func TestStart(t *testing.T) {
	s := golden(t, Options{}, false)
	s.entities = func(context.Context, string) ([]string, error) { return []string{"Gamma"}, nil }
	for score, want := range map[float64]int{-.1: 0, 0: 0, .1: 1} {
		s.links = near(score)
		got, steps, err := s.start(t.Context(), "?")
		check.True(t, err == nil && len(got) == want && len(steps) == want, "%v: %v, %v", score, got, err)
	}
}

// Numbers are not entities.
func TestQuantities(t *testing.T) {
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	chunk := graphrag.Chunk{ID: "0", Doc: "d", Text: "Alpha paid 300 marks."}
	check.OK(t, b.Insert(kg.Extraction{Chunk: "0", Doc: "d", Mentions: []kg.Mention{{Name: "Alpha"}, {Name: "300 marks", Type: rules.Quantity}}}))
	g := check.Of(b.Graph(t.Context())).OK(t)
	got := newTriGraph(kit.Kit{}.Corpus([]graphrag.Chunk{chunk}, g))
	check.True(t, len(got.names) == 1 && got.names[0] == "alpha", "entities %v", got.names)
}
