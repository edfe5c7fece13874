// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/internal/check"
)

// toy is a small graph; a chain's similarity to the question is the cosine of their bags of words.
type toy struct {
	question  map[string]float64
	words     map[int32][]string
	neighbors map[int32][]int32
}

func bag(words []string) map[string]float64 {
	b := map[string]float64{}
	for _, w := range words {
		b[w]++
	}
	return b
}

func (g toy) Neighbors(_ context.Context, triples []int32, limit int) (out [][]int32, err error) {
	for _, t := range triples {
		all := g.neighbors[t]
		out = append(out, slices.Clone(all[:min(len(all), limit)]))
	}
	return out, nil
}

func (g toy) Scores(_ context.Context, chains [][]int32) (out []float64, err error) {
	norm := func(b map[string]float64) (sum float64) {
		for _, n := range b {
			sum += n * n
		}
		return math.Sqrt(sum)
	}
	for _, c := range chains {
		var words []string
		for _, t := range c {
			words = append(words, g.words[t]...)
		}
		b, dot := bag(words), 0.
		for w, n := range b {
			dot += n * g.question[w]
		}
		out = append(out, dot/norm(b)/norm(g.question))
	}
	return out, nil
}

func curry() toy {
	g := toy{
		question: bag(strings.Fields("what year did the father of stephen curry join the team where he started college")),
		words:    map[int32][]string{},
		neighbors: map[int32][]int32{
			1: {2, 3, 4, 7}, 2: {1, 6, 7}, 3: {1, 4, 5}, 4: {1, 3}, 5: {3}, 6: {2}, 7: {1, 2, 8}, 8: {7},
		},
	}
	for i, t := range []string{
		"stephen curry son of dell curry", "stephen curry college team davidson", "dell curry college team virginia tech",
		"dell curry college start 1982", "virginia tech located in blacksburg", "davidson located in north carolina",
		"stephen curry member of golden state warriors", "golden state warriors located in san francisco",
	} {
		g.words[int32(i+1)] = strings.Fields(t)
	}
	return g
}

// Four cases worked out by hand and by a script: the penalty finds the answer (4) that the search without it
// misses, dead ends are kept, and no chain contains a triple twice.
func TestWorkedExamples(t *testing.T) {
	type want struct {
		triples string
		score   float64
	}
	for _, x := range []struct {
		name  string
		start []int32
		o     graph.BeamOptions
		want  []want
		flat  []int32
	}{
		{"A, with the penalty", []int32{1}, graph.BeamOptions{Width: 2, Length: 3, Diversity: 4},
			[]want{{"1 2 7", 1.220918}, {"1 3 4", .921635}}, []int32{1, 2, 3, 7, 4}},
		{"A, without", []int32{1}, graph.BeamOptions{Width: 2, Length: 3, Diversity: graphrag.Off},
			[]want{{"1 2 7", 1.220918}, {"1 2 6", 1.168650}}, []int32{1, 2, 7, 6}},
		{"B, with the penalty", []int32{2, 3}, graph.BeamOptions{Width: 2, Length: 2, Diversity: 4},
			[]want{{"2 1", .878993}, {"3 1", .676673}}, []int32{2, 3, 1}},
		{"B, without", []int32{3, 2, 2}, graph.BeamOptions{Width: 2, Length: 2, Diversity: graphrag.Off},
			[]want{{"2 1", .878993}, {"2 7", .858298}}, []int32{2, 1, 7}},
		{"C, dead ends stay", []int32{2, 3}, graph.BeamOptions{Width: 4, Length: 3, Diversity: 2},
			[]want{{"2 1", .878993}, {"2 7 8", .835848}, {"3 1", .676673}, {"3 4", .358558}}, []int32{2, 3, 1, 7, 4, 8}},
		{"D, any chain", []int32{1, 2, 7}, graph.BeamOptions{Width: 2, Length: 3, Diversity: 4},
			[]want{{"2 7 8", 1.173562}, {"1 3 4", 1.081479}}, []int32{2, 1, 7, 3, 8, 4}},
	} {
		t.Run(x.name, func(t *testing.T) {
			chains := check.Of(graph.Beam(t.Context(), curry(), x.start, x.o)).OK(t)
			check.Must(t, len(chains) == len(x.want), "%d chains, want %d", len(chains), len(x.want))
			for i, c := range chains {
				if math.Abs(c.Score-x.want[i].score) > 1e-6 || !slices.Equal(c.Triples, numbers(x.want[i].triples)) {
					t.Errorf("chain %d is %v, want %v", i, c, x.want[i])
				}
			}
			check.Equal(t, graph.FlattenChains(chains), x.flat, "flattened")
		})
	}
}

func numbers(s string) (out []int32) {
	for _, f := range strings.Fields(s) {
		out = append(out, int32(f[0]-'0'))
	}
	return out
}

// star is a hub with many neighbors, the later ones more similar to the question.
type star struct {
	n     int
	asked *int
	err   error
}

func (g star) Neighbors(_ context.Context, triples []int32, limit int) (out [][]int32, err error) {
	*g.asked = max(*g.asked, limit)
	for range triples {
		var all []int32
		for i := range min(g.n, limit) {
			all = append(all, int32(i))
		}
		out = append(out, all)
	}
	return out, g.err
}

func (g star) Scores(_ context.Context, chains [][]int32) (out []float64, err error) {
	for _, c := range chains {
		out = append(out, float64(c[len(c)-1])/float64(g.n)-.5)
	}
	return out, nil
}

// A hub costs only its neighbors that are scored; the ones most similar to the question are kept, and a triple
// is not its own neighbor.
func TestBeamHub(t *testing.T) {
	asked := 0
	chains, err := graph.Beam(t.Context(), star{1_000_000, &asked, nil}, []int32{5}, graph.BeamOptions{Width: 3, Neighbors: 50})
	check.Must(t, err == nil && asked <= 60 && len(chains) == 3, "asked for %d neighbors: %v, %v", asked, chains, err)
	for _, c := range chains {
		check.True(t, !slices.Contains(c.Triples[1:], 5), "chain %v comes back", c)
	}
	few, err := graph.Beam(t.Context(), star{100, &asked, nil}, []int32{5}, graph.BeamOptions{Width: 3, Neighbors: 2, Diversity: graphrag.Off})
	check.True(t, err == nil && len(few) == 2, "of two neighbors: %v, %v", few, err)
}

func TestBeamBadInput(t *testing.T) {
	asked, broken := 0, errors.New("broken")
	_, err := graph.Beam(t.Context(), star{9, &asked, nil}, nil, graph.BeamOptions{Width: -1, Length: -2, Neighbors: -3, Diversity: -4})
	check.True(t, err != nil && strings.Contains(err.Error(), "Width") && strings.Contains(err.Error(), "Diversity"), "options: %v", err)
	chains, err := graph.Beam(t.Context(), star{9, &asked, nil}, nil, graph.BeamOptions{})
	check.True(t, err == nil && len(chains) == 0, "nothing to start with: %v, %v", chains, err)
	check.Is(t, check.Err(graph.Beam(t.Context(), star{9, &asked, broken}, []int32{1}, graph.BeamOptions{})), broken, "an index that fails")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(graph.Beam(ctx, star{9, &asked, nil}, nil, graph.BeamOptions{})), context.Canceled, "cancelled")
}

// The order of the first triples and of the neighbors does not change the result.
func TestOrderFree(t *testing.T) {
	g, turned := curry(), curry()
	for id, n := range turned.neighbors {
		turned.neighbors[id] = slices.Clone(n)
		slices.Reverse(turned.neighbors[id])
	}
	a, errA := graph.Beam(t.Context(), g, []int32{1, 3, 6}, graph.BeamOptions{Length: 4})
	b, errB := graph.Beam(t.Context(), turned, []int32{6, 3, 1}, graph.BeamOptions{Length: 4})
	same := slices.EqualFunc(a, b, func(x, y graph.Chain) bool { return x.Score == y.Score && slices.Equal(x.Triples, y.Triples) })
	err := cmp.Or(errA, errB)
	check.True(t, err == nil && same && len(a) != 0, "%v and %v, %v", a, b, err)
}

// A narrow beam gives the first chains of a wide one, and fewer neighbors are the first ones of all by rank,
// also among equal scores.
func TestTies(t *testing.T) {
	const n = 200
	tied := make(hub, n+1)
	var all []int32
	for i := range tied {
		tied[i] = float64(i*37%7) / 8
		all = append(all, int32(i))
	}
	all = all[:n]
	wide, err := graph.Beam(t.Context(), tied, all, graph.BeamOptions{Width: n, Length: 1})
	check.Must(t, err == nil && len(wide) == n, "%v %v", wide, err)
	for k := 1; k < n; k += 9 {
		narrow, err := graph.Beam(t.Context(), tied, all, graph.BeamOptions{Width: k, Length: 1})
		diff := gocmp.Diff(wide[:k], narrow)
		check.Must(t, err == nil && diff == "", "width %d: %v, %s", k, err, diff)
		grown, err := graph.Beam(t.Context(), tied, []int32{n}, graph.BeamOptions{Width: n, Neighbors: k, Diversity: graphrag.Off})
		check.Must(t, err == nil && len(grown) == k, "%d neighbors: %v, %v", k, grown, err)
		for i, c := range grown {
			if c.Triples[1] != wide[i].Triples[0] {
				t.Errorf("neighbor %d of %d is %d, want %d", i, k, c.Triples[1], wide[i].Triples[0])
			}
		}
	}
}

// hub is one triple, the last one, with all others as neighbors; a chain's score is its last triple's.
type hub []float64

func (g hub) Neighbors(_ context.Context, triples []int32, _ int) (out [][]int32, err error) {
	for range triples {
		var all []int32
		for i := range int32(len(g) - 1) {
			all = append(all, i)
		}
		out = append(out, all)
	}
	return out, nil
}

func (g hub) Scores(_ context.Context, chains [][]int32) (out []float64, err error) {
	for _, c := range chains {
		out = append(out, g[c[len(c)-1]])
	}
	return out, nil
}

// The defaults are the paper's: ten chains of two triples, γ twice the width; a chain's factor does not fall
// below the one at γ, and scores below 0 count as 0.
func TestPenalty(t *testing.T) {
	ones := make(hub, 14)
	for i := range ones {
		ones[i] = 1
	}
	for _, x := range []struct {
		g    hub
		o    graph.BeamOptions
		want []float64 // as a share of the chain's score without penalty
	}{
		{ones, graph.BeamOptions{}, []float64{1, .951229, .904837, .860708, .818731, .778801, .740818, .704688, .67032, .637628}},
		{ones, graph.BeamOptions{Width: 3}, []float64{1, .846482, .716531}},
		{ones, graph.BeamOptions{Width: 6, Diversity: 2}, []float64{1, .606531, .367879, .367879, .367879, .367879}},
		{hub{-1, -1, 2}, graph.BeamOptions{Diversity: graphrag.Off}, []float64{1, 1}},
	} {
		chains, err := graph.Beam(t.Context(), x.g, []int32{int32(len(x.g) - 1)}, x.o)
		check.Must(t, err == nil && len(chains) == len(x.want), "%+v: %v, %v", x.o, chains, err)
		for i, c := range chains {
			check.True(t, math.Abs(c.Score-2*x.want[i]) <= 1e-5 && len(c.Triples) == 2,
				"%+v: chain %d is %v, want %v", x.o, i, c, 2*x.want[i])
		}
	}
}
