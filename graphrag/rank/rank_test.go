// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

// near compares scores to 1e-9 and everything else exactly.
var near = cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-9 })

type list = []rank.Scored[string]

func words(s string) []string { return strings.Fields(s) }

func TestRRF(t *testing.T) {
	tests := []struct {
		name  string
		lists [][]string
		want  list
	}{
		{"no list", nil, list{}},
		{"empty lists", [][]string{nil, {}}, list{}},
		{"one list", [][]string{words("b a")}, list{{"b", 1. / 61}, {"a", 1. / 62}}},
		{"two routes", [][]string{words("p9 p2"), words("p1 p2 p3")},
			list{{"p2", .032258065}, {"p1", .016393443}, {"p9", .016393443}, {"p3", .015873016}}},
		{"four routes", [][]string{words("p3 p1"), words("p3 p7"), words("p1 p2 p3"), words("p7 p2")},
			list{{"p3", .048659901}, {"p1", .032522475}, {"p7", .032522475}, {"p2", .032258065}}},
		{"four routes of Youtu-GraphRAG", [][]string{words("t1 t2 t3"), words("t2 t4"), words("t3"), words("t2 t3 t5")},
			list{{"t2", .048915918}, {"t3", .048395491}, {"t1", .016393443}, {"t4", .016129032}, {"t5", .015873016}}},
		{"fifth twice is more than first and tenth", [][]string{words("x b c d y e f g h i"), words("j k l m y n o p q x")},
			list{{"y", .030769231}, {"x", .030679157}, {"j", 1. / 61}, {"b", 1. / 62}, {"k", 1. / 62}, {"c", 1. / 63}, {"l", 1. / 63}, {"d", 1. / 64}, {"m", 1. / 64},
				{"e", 1. / 66}, {"n", 1. / 66}, {"f", 1. / 67}, {"o", 1. / 67}, {"g", 1. / 68}, {"p", 1. / 68}, {"h", 1. / 69}, {"q", 1. / 69}, {"i", 1. / 70}}},
		{"first place of a repeated id", [][]string{words("a b a")}, list{{"a", 1. / 61}, {"b", 1. / 62}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			check.Equal(t, cmp.Diff(test.want, rank.RRF(test.lists...), near), "", "(-want +got)")
		})
	}
}

// The fusion of the steps of IRCoT.
func TestCombMAX(t *testing.T) {
	got, err := rank.CombMAX(list{{"p1", 1}, {"p2", .6}, {"p3", .2}}, list{{"p4", 1}, {"p2", .9}, {"p1", .1}})
	check.OK(t, err)
	check.Equal(t, got, list{{"p1", 1}, {"p4", 1}, {"p2", .9}, {"p3", .2}}, "(-want +got)")
	_, err = rank.CombMAX(list{{"p1", math.NaN()}}, list{{"p2", 1}, {"p1", math.Inf(-1)}})
	check.True(t, err != nil && strings.Contains(err.Error(), "list 0, place 0") &&
		strings.Contains(err.Error(), "list 1, place 1"), "scores that are not finite: %v", err)
	got, err = rank.CombMAX[string]()
	check.True(t, err == nil && len(got) == 0, "of no lists: %v, %v", got, err)
}

// TestBest compares the heaps with a sort.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		in := make([]rank.Scored[int], rng.IntN(40))
		for i, id := range rng.Perm(len(in)) {
			in[i] = rank.Scored[int]{ID: id, Score: float64(rng.IntN(8))}
		}
		sorted := slices.Clone(in)
		slices.SortFunc(sorted, rank.Compare)
		k := rng.IntN(50)
		want := sorted[:min(k, len(sorted))]
		var top rank.Top[int]
		top.Reset(k)
		for i, s := range in {
			top.Push(s.ID, s.Score)
			if got := top.Threshold(); math.IsInf(got, -1) != (k == 0 || i+1 < k) || i+1 == len(in) && k > 0 && k <= len(in) && got != want[k-1].Score {
				t.Fatalf("the threshold after %d of %d is %v", i+1, len(in), got)
			}
		}
		var again rank.Top[int]
		again.CopyOf(&top)
		got := again.Append(nil)
		check.Must(t, slices.Equal(got, want), "Top has %v, want %v", got, want)
		got = rank.Best(in, k)
		check.Must(t, slices.Equal(got, want), "Best has %v, want %v", got, want)
	}
}

func TestInterleave(t *testing.T) {
	check.Equal(t, rank.Interleave(words("a b c"), nil, words("b b d e"), words("f")), words("a b f c d e"), "(-want +got)")
}

// TestOrderFree shuffles lists: scores and order stay equal, bit for bit.
func TestOrderFree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lists := make([][]int, 2+rng.IntN(6))
		for i := range lists {
			for range rng.IntN(30) {
				lists[i] = append(lists[i], rng.IntN(20))
			}
		}
		want := rank.RRF(lists...)
		rng.Shuffle(len(lists), func(i, j int) { lists[i], lists[j] = lists[j], lists[i] })
		got := rank.RRF(lists...)
		check.Must(t, slices.Equal(want, got), "RRF depends on the order of the lists:\n%v\n%v", want, got)
	}
}

func TestMinMax(t *testing.T) {
	for _, tt := range [][2][]float64{
		{{1, 3, 2}, {0, 1, .5}}, {{2, 2}, {1, 1}}, {{0, 0}, {0, 0}}, {nil, nil}, {{-1, 1}, {0, 1}},
	} {
		if got := rank.MinMax(append([]float64(nil), tt[0]...)); cmp.Diff(tt[1], got) != "" {
			t.Errorf("%v: %v, want %v", tt[0], got, tt[1])
		}
	}
}

func Example() {
	sparse := []string{"page#3", "page#1", "page#9"}
	dense := []string{"page#1", "page#4", "page#3"}
	for _, hit := range rank.RRF(sparse, dense) {
		fmt.Printf("%s %.4f\n", hit.ID, hit.Score)
	}
	// Output:
	// page#1 0.0325
	// page#3 0.0323
	// page#4 0.0161
	// page#9 0.0159
}
