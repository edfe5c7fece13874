// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// knowledge is a graph of the facts of chunks: head, tail, description.
func knowledge(t *testing.T, names []string, chunks ...[][3]string) *kg.Graph {
	t.Helper()
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	for i, facts := range chunks {
		x := kg.Extraction{Chunk: fmt.Sprintf("d%d#0", i), Doc: fmt.Sprintf("d%d", i)}
		for _, n := range names {
			x.Mentions = append(x.Mentions, kg.Mention{Name: n})
		}
		for _, f := range facts {
			x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: f[0], Tail: f[1]}, Description: f[2]})
		}
		check.OK(t, b.Insert(x))
	}
	return check.Of(b.Graph(t.Context())).OK(t)
}

// The multigraph for which igraph computed the values below: two facts about one pair are two edges, and no
// edge leads to the last entity.
func TestWalkCountsParallelFacts(t *testing.T) {
	g := knowledge(t, []string{"0", "1", "2", "3", "4", "5"},
		[][3]string{{"0", "1", "a"}, {"1", "2", "c"}, {"2", "3", "d"}}, [][3]string{{"1", "0", "b"}, {"3", "0", "e"}, {"3", "4", "f"}})
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), g)).OK(t)
	walked := check.Of(n.graph()).OK(t)
	solver := check.Of(ppr.New(walked, ppr.Options{Damping: .85, Tolerance: tolerance})).OK(t)
	for _, tt := range []struct {
		seeds []ppr.Seed
		want  []float64
	}{
		{[]ppr.Seed{{Node: 4, Weight: 1}}, []float64{.173753063, .153786646, .130180180, .305672814, .236607297, 0}},
		{[]ppr.Seed{{Node: 0, Weight: 1}}, []float64{.352442673, .255044091, .130180180, .204415368, .057917688, 0}},
		{[]ppr.Seed{{Node: 0, Weight: 1}, {Node: 5, Weight: 1}}, []float64{.306471889, .221777471, .113200157, .177752494, .050363207, .130434783}},
	} {
		got := check.Of(solver.Solve(t.Context(), tt.seeds, nil)).OK(t)
		for i, want := range tt.want {
			if math.Abs(got[i]-want) > 1e-5 {
				t.Errorf("from %v: %v, want %v", tt.seeds, got, tt.want)
				break
			}
		}
	}
}

func texts(edges []edge) (out []string) {
	for _, e := range edges {
		out = append(out, fmt.Sprint(e.text, e.passages))
	}
	return out
}

func TestGroup(t *testing.T) {
	edges := func() (out []edge) {
		for i := range 6 {
			out = append(out, edge{text: fmt.Sprint(i), passages: []int32{int32(5 - i)}, relation: int32(i % 3)})
		}
		return out
	}
	related := check.Of(byRelation(t.Context(), edges())).OK(t)
	for _, tt := range []struct {
		name   string
		groups []factGroup
		want   []string
	}{
		{"none", nil, []string{"0[5]", "1[4]", "2[3]", "3[2]", "4[1]", "5[0]"}},
		{"first one's place", []factGroup{{[]int{4, 1}, "one and four"}}, []string{"0[5]", "one and four[1 4]", "2[3]", "3[2]", "5[0]"}},
		{"in two groups", []factGroup{{[]int{0, 1}, "a"}, {[]int{1, 2}, "b"}}, []string{"a[4 5]", "2[3]", "3[2]", "4[1]", "5[0]"}},
		{"nonsense", []factGroup{{[]int{-1, 6, 2, 2}, "x"}, {nil, "y"}}, []string{"0[5]", "1[4]", "2[3]", "3[2]", "4[1]", "5[0]"}},
		{"no text", []factGroup{{[]int{0, 5}, " "}}, []string{"0[0 5]", "1[4]", "2[3]", "3[2]", "4[1]"}},
		{"by relation", related, []string{"0[2 5]", "1[1 4]", "2[0 3]"}},
	} {
		check.Equal(t, texts(mergeGroups(edges(), tt.groups)), tt.want, "%s", tt.name)
	}
}

// Facts are kept if the model's reply to merge them cannot be used.
func TestMergeFails(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, "no")
	six := make([]edge, 6)
	got, err := merge(t.Context(), byMeaning(m), six)
	if err != nil || len(got) != 6 || m.Calls() != 2 { // the request is repeated once
		t.Errorf("%d facts after %d calls, %v", len(got), m.Calls(), err)
	}
}

// "Fridtjof Nansen" and "Fridtjof Nansens" are joined by an edge of similar meaning, unless a fact joins them;
// that edge has no passage.
func TestIdentities(t *testing.T) {
	names := []string{"Colin Archer", "Fridtjof Nansen", "Fridtjof Nansens", "Larvik"}
	for _, tt := range []struct {
		facts [][3]string
		want  int
	}{
		{[][3]string{{"Colin Archer", "Larvik", "born"}}, 2},
		{[][3]string{{"Fridtjof Nansens", "Fridtjof Nansen", "the same"}}, 1},
	} {
		g := knowledge(t, names, tt.facts)
		n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), g)).OK(t)
		l := &linker{link: link.Trigrams{}}
		var keys []string
		for _, e := range g.Entities {
			keys = append(keys, e.Key)
		}
		same, err := l.identities(t.Context(), keys)
		check.True(t, err == nil && len(same) == 1 && same[0] == [2]int32{1, 2}, "identities %v, %v", same, err)
		n.identify(same)
		check.Equal(t, len(n.edges), tt.want, "%+v", n.edges)
	}
}

// By vectors, only entities with a cosine of at least 0.8 are equal, and an entity joins the first similar one.
func TestIdentitiesByVectors(t *testing.T) {
	rows := vectors{{1, 0, 0}, {.9, .1, 0}, {0, 1, 0}, {0, .7, .7}}
	l := &linker{link: link.Embeddings{Embedder: rows}}
	same, err := l.identities(t.Context(), []string{"a", "b", "c", "d"})
	if diff := cmp.Diff([][2]int32{{0, 1}}, same); err != nil || diff != "" {
		t.Error(diff, err)
	}
}

type vectors [][]float32

func (v vectors) EmbedDocuments(context.Context, []string) ([][]float32, error) { return v, nil }
func (v vectors) EmbedQuery(context.Context, string) ([]float32, error)         { return v[0], nil }

// Every row has the total weight 1, and an entity has at most its weight in one row.
func TestWeigh(t *testing.T) {
	weights := make(map[int32]float64)
	weigh(weights, []scored{{ID: 7, Score: .9}})
	weigh(weights, []scored{{ID: 1, Score: .8}, {ID: 2, Score: .6}, {ID: 7, Score: .6}})
	weigh(weights, []scored{{ID: 2, Score: .5}, {ID: 3, Score: .5}})
	weigh(weights, nil)
	check.Equal(t, weights, map[int32]float64{7: 1, 1: .4, 2: .5, 3: .5})
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		lengths [3][]int
		want    [3]int
	}{
		{[3][]int{{3, 3}, {2}, {5}}, [3]int{1, 1, 1}},
		{[3][]int{nil, nil, {5, 5}}, [3]int{0, 0, 2}},       // all go to the last
		{[3][]int{{3, 6}, nil, nil}, [3]int{2, 0, 0}},       // and back to the first
		{[3][]int{{9}, {1, 1, 1}, {2, 2}}, [3]int{0, 3, 2}}, // one group is too long
		{[3][]int{{99}, {99}, {99}}, [3]int{0, 0, 0}},
	} {
		check.Equal(t, fit(tt.lengths, [3]int{3, 2, 5}), tt.want, "%v", tt.lengths)
	}
}

// A PageRank of .005 counts; of more than 128 entities and 64 facts the best are kept.
func TestLimits(t *testing.T) {
	names, ranks := []string{"hub"}, []float64{.3}
	var facts [][3]string
	for i := range 130 {
		names, ranks = append(names, fmt.Sprintf("spoke %03d", i)), append(ranks, .004999)
		facts = append(facts, [3]string{"hub", names[i+1], "x"})
	}
	g := knowledge(t, names, facts)
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), g)).OK(t)
	s := &searcher{o: baselinestest.Filled(Options{}), incident: n.incident}
	check.Equal(t, len(s.entities(ranks)), 1, "entities above the threshold")
	for i := range ranks[1:] {
		ranks[i+1] = .005
	}
	entities := s.entities(ranks)
	check.True(t, len(entities) == 128 && entities[0].Score == .3 && len(s.facts(entities)) == 64,
		"%d entities, %d facts", len(entities), len(s.facts(entities)))
}

// A text finds its 20 nearest entities.
func TestNearest(t *testing.T) {
	l := &linker{texts: baselinestest.Alike(slices.Repeat([]float64{.5}, 30))}
	got, err := l.nearest(t.Context(), "?")
	check.True(t, err == nil && len(got) == 20 && got[0].Score == .75, "%v, %v", got, err)
}
