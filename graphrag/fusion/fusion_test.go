// SPDX-License-Identifier: Apache-2.0

package fusion_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/fusion"
)

// near compares scores to 1e-9 and everything else exactly.
var near = cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-9 })

type list = []fusion.Scored[string]

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
		{"first place of a repeated id", [][]string{words("a b a")}, list{{"a", 1. / 61}, {"b", 1. / 62}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fusion.RRF(test.lists...), near); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWeightedRRF(t *testing.T) {
	got, err := fusion.WeightedRRF(fusion.RRFOptions{K: 1, Weights: []float64{2, 0, .5}},
		words("a b"), words("c"), words("b"))
	if err != nil {
		t.Fatal(err)
	}
	want := list{{"a", 1}, {"b", 2./3 + .25}, {"c", 0}}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	plain, err := fusion.WeightedRRF(fusion.RRFOptions{}, words("a b"), words("b"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fusion.RRF(words("a b"), words("b")), plain); diff != "" {
		t.Errorf("zero options differ from RRF (-want +got)\n%s", diff)
	}
}

func TestWeightedRRFReportsAllProblems(t *testing.T) {
	_, err := fusion.WeightedRRF(fusion.RRFOptions{K: math.NaN(), Weights: []float64{-1, math.Inf(1)}}, words("a"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"K is NaN", "2 weights for 1 lists", "weight 0 is -1", "weight 1 is +Inf"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestComb(t *testing.T) {
	a := list{{"x", 10}, {"y", 6}, {"z", 2}}
	b := list{{"y", .4}, {"w", .4}}
	// a by MinMax: x 1, y .5, z 0; deviation of {1, .5, 0} is sqrt(1/6).
	sixth := math.Sqrt(1. / 6)
	tests := []struct {
		name string
		fuse func(fusion.Norm, ...list) (list, error)
		norm fusion.Norm
		want list
	}{
		{"CombSUM MinMax", fusion.CombSUM[string], fusion.MinMax, list{{"y", 1.5}, {"w", 1}, {"x", 1}, {"z", 0}}},
		{"CombMNZ MinMax", fusion.CombMNZ[string], fusion.MinMax, list{{"y", 3}, {"w", 1}, {"x", 1}, {"z", 0}}},
		{"CombSUM ZScore", fusion.CombSUM[string], fusion.ZScore, list{{"x", 1 / sixth}, {"y", .5/sixth + 1}, {"w", 1}, {"z", 0}}},
		{"CombMNZ ZScore", fusion.CombMNZ[string], fusion.ZScore, list{{"y", 2 * (.5/sixth + 1)}, {"x", 1 / sixth}, {"w", 1}, {"z", 0}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.fuse(test.norm, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, near); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCombExtremeScores(t *testing.T) {
	for _, scores := range [][]float64{
		{math.MaxFloat64, 0, -math.MaxFloat64},
		{2 * math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64, 0},
		{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64, 0},
	} {
		in := list{{"a", scores[0]}, {"b", scores[1]}, {"c", scores[2]}}
		for _, norm := range []fusion.Norm{fusion.MinMax, fusion.ZScore} {
			got, err := fusion.CombSUM(norm, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range got {
				if !(s.Score >= 0) || math.IsInf(s.Score, 0) {
					t.Errorf("%v norm %d: %s scores %v", scores, norm, s.ID, s.Score)
				}
			}
			if got[len(got)-1].ID != "c" {
				t.Errorf("%v norm %d: lowest is %s", scores, norm, got[len(got)-1].ID)
			}
		}
	}
}

func TestCombReportsAllProblems(t *testing.T) {
	_, err := fusion.CombSUM(7, list{{"a", math.NaN()}}, list{{"a", 1}, {"b", math.Inf(-1)}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"unknown norm 7", "list 0, place 0", "list 1, place 1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestInterleave(t *testing.T) {
	got := fusion.Interleave(words("a b c"), nil, words("b b d e"), words("f"))
	if diff := cmp.Diff(words("a b f c d e"), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestOrderFree shuffles lists: scores and order must stay the same to the
// last bit.
func TestOrderFree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		ranks := make([][]int, 2+rng.IntN(6))
		scored := make([][]fusion.Scored[int], len(ranks))
		for i := range ranks {
			for range rng.IntN(30) {
				id := rng.IntN(20)
				ranks[i] = append(ranks[i], id)
				scored[i] = append(scored[i], fusion.Scored[int]{ID: id, Score: rng.NormFloat64()})
			}
		}
		wantRRF := fusion.RRF(ranks...)
		wantMNZ, err := fusion.CombMNZ(fusion.ZScore, scored...)
		if err != nil {
			t.Fatal(err)
		}
		rng.Shuffle(len(ranks), func(i, j int) {
			ranks[i], ranks[j] = ranks[j], ranks[i]
			scored[i], scored[j] = scored[j], scored[i]
		})
		if got := fusion.RRF(ranks...); !slices.Equal(wantRRF, got) {
			t.Fatalf("RRF depends on the order of the lists:\n%v\n%v", wantRRF, got)
		}
		got, err := fusion.CombMNZ(fusion.ZScore, scored...)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(wantMNZ, got) {
			t.Fatalf("CombMNZ depends on the order of the lists:\n%v\n%v", wantMNZ, got)
		}
	}
}

func BenchmarkRRF(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	lists := [][]int{rng.Perm(200)[:100], rng.Perm(200)[:100], rng.Perm(200)[:100]}
	b.ReportAllocs()
	for b.Loop() {
		fusion.RRF(lists...)
	}
}
