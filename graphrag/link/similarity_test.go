// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// words makes names that share trigrams.
func words(r *rand.Rand, n int) []string {
	syllables := strings.Fields("ka ro mi ten sol bar ein der san que lle ny 東 京 é ü - 1 2")
	out := make([]string, n)
	for i := range out {
		for range 1 + r.IntN(6) {
			out[i] += syllables[r.IntN(len(syllables))]
			if r.IntN(4) == 0 {
				out[i] += " "
			}
		}
	}
	return out
}

// The prefixes lose no pair: the result is that of comparing every name with
// every other.
func TestTrigramsFindAll(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		names := words(r, 120)
		names = append(names, "", " ", "x", names[0])
		threshold := 0.05 + 0.95*r.Float64()
		limit := []int{1000, 3}[seed%2]
		got, err := Trigrams{}.Neighbors(t.Context(), names, threshold, limit)
		if err != nil {
			t.Fatal(err)
		}
		w, err := learn(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		vectors := make([][]gram, len(names))
		for i, name := range names {
			vectors[i] = w.vector(new(spelling), name)
		}
		want := make([][]scored, len(names))
		for i := range names {
			for j := range names {
				if s := cosine(vectors[i], vectors[j]); i != j && s >= threshold {
					want[i] = append(want[i], scored{ID: int32(j), Score: s})
				}
			}
			want[i] = rank.Best(want[i], limit)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, threshold %v (-all +got):\n%s", seed, threshold, diff)
		}
	}
}

func TestTrigrams(t *testing.T) {
	near, err := Trigrams{}.Neighbors(t.Context(), []string{"berlin", "berlin wall", "berlln", "paris", "berlin"}, 0.3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(near[0]) != 2 || near[0][0] != (scored{ID: 4, Score: 1}) || near[0][1].ID != 1 || near[3] != nil {
		t.Errorf("neighbours %v", near)
	}
	if near, err = (Trigrams{}).Neighbors(t.Context(), []string{"a", "a"}, 0.5, 0); err != nil || near[0] != nil {
		t.Errorf("with limit 0: %v, %v", near, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Trigrams{}).Neighbors(ctx, []string{"a", "a"}, 0.5, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type shortChanged struct{ angles }

func (s shortChanged) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	v, err := s.angles.EmbedDocuments(ctx, texts)
	return v[1:], err
}

func TestEmbeddingsErrors(t *testing.T) {
	if _, err := (Embeddings{shortChanged{}}).Neighbors(t.Context(), []string{"a", "b"}, 0.5, 1); err == nil || !strings.Contains(err.Error(), "1 vectors for 2 names") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Embeddings{angles{}}).Neighbors(ctx, []string{"a", "b"}, 0.5, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkTrigrams(b *testing.B) {
	n := 50_000
	if testing.Short() {
		n = 2000
	}
	// Words of random letters, common ones far more common than rare ones.
	r := rand.New(rand.NewPCG(1, 1))
	lexicon := make([]string, n/5)
	for i := range lexicon {
		for range 3 + r.IntN(8) {
			lexicon[i] += string("etaoinsrhldcumfpgwybvkxjqz"[int(26*r.Float64()*r.Float64())])
		}
	}
	names := make([]string, n)
	for i := range names {
		for range 1 + r.IntN(3) {
			names[i] += " " + lexicon[int(float64(len(lexicon))*r.Float64()*r.Float64())]
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Trigrams{}).Neighbors(b.Context(), names, 0.8, 101); err != nil {
			b.Fatal(err)
		}
	}
}

// An index finds what comparing with every name finds.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	names := append(words(r, 200), "", "x")
	ix, err := Trigrams{}.Index(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(words(r, 50), names[3], "", "ω") {
		w, err := learn(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		var want []scored
		for j := range names {
			if s := cosine(w.vector(new(spelling), name), w.vector(new(spelling), names[j])); s > 0 {
				want = append(want, scored{ID: int32(j), Score: s})
			}
		}
		got, err := ix.Nearest(t.Context(), name, 5)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rank.Best(want, 5), got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b scored) bool { return math.Abs(a.Score-b.Score) < 1e-5 })); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
	embedded, err := Embeddings{angles{"a": 0, "b": 10, "c": 90}}.Index(t.Context(), []string{"b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := embedded.Nearest(t.Context(), "a", 1); err != nil || len(got) != 1 || got[0].ID != 0 || math.Abs(got[0].Score-0.98481) > 1e-4 {
		t.Errorf("%v, %v", got, err)
	}
	for _, l := range []Linker{Trigrams{}, Embeddings{angles{}}} {
		none, err := l.Index(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := none.Nearest(t.Context(), "a", 3); err != nil || len(got) != 0 {
			t.Errorf("among no names: %v, %v", got, err)
		}
	}
}

func TestTrigramsLookAtTheContext(t *testing.T) {
	names := words(rand.New(rand.NewPCG(1, 2)), 5_000)
	for name, work := range map[string]func(ctx context.Context) error{
		"neighbours": func(ctx context.Context) error { _, err := Trigrams{}.Neighbors(ctx, names, .8, 10); return err },
		"index":      func(ctx context.Context) error { _, err := Trigrams{}.Index(ctx, names); return err },
	} {
		for _, looks := range []int{5, 25, 35} { // 20 a pass
			ctx := texttest.NewCountdown(looks)
			if err := work(ctx); !errors.Is(err, context.Canceled) || ctx.Looks() > 2 {
				t.Errorf("%s, %d: %v after %d further looks", name, looks, err, ctx.Looks())
			}
		}
	}
}

// cosine is the product of two unit vectors, sorted by gram.
func cosine(a, b []gram) float64 {
	sum := 0.0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].id < b[0].id:
			a = a[1:]
		case a[0].id > b[0].id:
			b = b[1:]
		default:
			sum += a[0].weight * b[0].weight
			a, b = a[1:], b[1:]
		}
	}
	return min(sum, 1)
}

// Trigrams are those of the name between blanks, in order; a name that is looked for takes
// memory for the answer alone.
func TestSpelling(t *testing.T) {
	for name, want := range map[string][]string{"": nil, "a": {" a "}, "abab": {" ab", "ab ", "aba", "bab"}, "\U0010ffff\xffé": {" \U0010ffff\ufffd", "\ufffdé ", "\U0010ffff\ufffdé"}} {
		var got []string
		for _, x := range trigrams(nil, name) {
			got = append(got, string([]rune{rune(x >> 42), rune(x >> 21 & (1<<21 - 1)), rune(x & (1<<21 - 1))}))
		}
		if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	var often []int
	for _, n := range distinct(trigrams(nil, "aaaa")) {
		often = append(often, n)
	}
	if slices.Sort(often); !slices.Equal(often, []int{1, 1, 2}) {
		t.Errorf("of aaaa: %v", often)
	}
	w, err := learn(t.Context(), []string{"Oslo", "Bergen"})
	if err != nil {
		t.Fatal(err)
	}
	var s spelling
	w.vector(&s, "Bergen op Zoom")
	if n := testing.AllocsPerRun(10, func() { w.vector(&s, "Bergen op Zoom") }); n > 0 {
		t.Errorf("%g allocations for a vector", n)
	}
}
