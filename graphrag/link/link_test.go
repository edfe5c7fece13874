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

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
)

// words returns names that share trigrams.
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

// Comparing prefixes only misses no pair: the result equals that of comparing every name with every other.
func TestTrigramsFindAll(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		names := words(r, 120)
		names = append(names, "", " ", "x", names[0])
		threshold := 0.05 + 0.95*r.Float64()
		limit := []int{1000, 3}[seed%2]
		got := check.Of(Trigrams{}.Neighbors(t.Context(), names, threshold, limit)).OK(t)
		_, vectors, err := learn(t.Context(), names)
		check.OK(t, err)
		want := make([][]scored, len(names))
		for i := range names {
			for j := range names {
				if s := cosine(vectors[i], vectors[j]); i != j && s >= threshold {
					want[i] = append(want[i], scored{ID: int32(j), Score: s})
				}
			}
			want[i] = rank.Best(want[i], limit)
		}
		diff := cmp.Diff(want, got)
		check.Must(t, diff == "", "seed %d, threshold %v (-all +got):\n%s", seed, threshold, diff)
	}
}

type shortChanged struct{ angles }

func (s shortChanged) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	v, err := s.angles.EmbedDocuments(ctx, texts)
	return v[1:], err
}

func TestEmbeddingsErrors(t *testing.T) {
	check.Fails(t, check.Err((Embeddings{shortChanged{}}).Neighbors(t.Context(), []string{"a", "b"}, 0.5, 1)), "1 vectors for 2 names")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err((Embeddings{angles{}}).Neighbors(ctx, []string{"a", "b"}, 0.5, 1)), context.Canceled, "cancelled")
}

// Names are added, removed and change their vectors: the lists equal those of comparing all names, and only
// changed names are compared.
func TestEmbeddingsAfterChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var k memo.Keeper
	ctx := k.With(t.Context())
	all := words(r, 300)
	slices.Sort(all)
	all = slices.Compact(all)
	at := make(angles)
	for _, name := range all {
		at[name] = float64(r.IntN(90))
	}
	for round := range 40 {
		var names []string
		for _, name := range all {
			if r.IntN(8) > 0 {
				names = append(names, name)
			}
		}
		switch round % 8 {
		case 3:
			at[names[r.IntN(len(names))]] = float64(r.IntN(90))
		case 5:
			names = append(names, names[3])
		case 6:
			slices.Reverse(names)
		}
		limit, threshold := 7+round/10, .9
		want := check.Of(Embeddings{at}.Neighbors(t.Context(), names, threshold, limit)).OK(t)
		got := check.Of(Embeddings{at}.Neighbors(ctx, names, threshold, limit)).OK(t)
		diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
		check.Must(t, diff == "", "round %d, %d names, limit %d (-all +changed):\n%s", round, len(names), limit, diff)
	}
	l := memo.Kept[lastResult](ctx)
	lists, unsure := l.translated(neighborhood{cut: l.cut, digests: l.digests})
	diff := cmp.Diff(l.lists, lists, cmpopts.EquateEmpty())
	check.True(t, diff == "" && len(unsure) == 0, "nothing changed, and %v are compared\n%s", unsure, diff)
}

// An index finds what comparing with every name finds.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	names := append(words(r, 200), "", "x")
	ix := check.Of(Trigrams{}.Index(t.Context(), names)).OK(t)
	for _, name := range append(words(r, 50), names[3], "", "ω") {
		w, _, err := learn(t.Context(), names)
		check.OK(t, err)
		var want []scored
		for j := range names {
			if s := cosine(w.vector(new(spelling), name), w.vector(new(spelling), names[j])); s > 0 {
				want = append(want, scored{ID: int32(j), Score: s})
			}
		}
		got := check.Of(ix.Nearest(t.Context(), name, 5)).OK(t)
		diff := cmp.Diff(rank.Best(want, 5), got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b scored) bool { return math.Abs(a.Score-b.Score) < 1e-5 }))
		check.Equal(t, diff, "", "%q (-want +got)", name)
	}
	embedded := check.Of(Embeddings{angles{"a": 0, "b": 10, "c": 90}}.Index(t.Context(), []string{"b", "c"})).OK(t)
	got, err := embedded.Nearest(t.Context(), "a", 1)
	check.True(t, err == nil && len(got) == 1 && got[0].ID == 0 && math.Abs(got[0].Score-0.98481) <= 1e-4, "%v, %v", got, err)
	for _, l := range []Linker{Trigrams{}, Embeddings{angles{}}} {
		none := check.Of(l.Index(t.Context(), nil)).OK(t)
		got, err := none.Nearest(t.Context(), "a", 3)
		check.True(t, err == nil && len(got) == 0, "among no names: %v, %v", got, err)
	}
}

func TestTrigramsLookAtTheContext(t *testing.T) {
	names := words(rand.New(rand.NewPCG(1, 2)), 5_000)
	for name, work := range map[string]func(ctx context.Context) error{
		"neighbours": func(ctx context.Context) error { _, err := Trigrams{}.Neighbors(ctx, names, .8, 10); return err },
		"index":      func(ctx context.Context) error { _, err := Trigrams{}.Index(ctx, names); return err },
	} {
		for _, looks := range []int{5, 25, 35} { // a pass makes 20 checks
			ctx := check.NewCountdown(looks)
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

// Trigrams are those of the name with a blank on both sides, sorted; looking up a name allocates only the
// answer.
func TestSpelling(t *testing.T) {
	for name, want := range map[string][]string{"": nil, "a": {" a "}, "abab": {" ab", "ab ", "aba", "bab"}, "\U0010ffff\xffé": {" \U0010ffff\ufffd", "\ufffdé ", "\U0010ffff\ufffdé"}} {
		var got []string
		for _, x := range trigrams(nil, name) {
			got = append(got, string([]rune{rune(x >> 42), rune(x >> 21 & (1<<21 - 1)), rune(x & (1<<21 - 1))}))
		}
		slices.Sort(want)
		check.Equal(t, slices.Sorted(slices.Values(got)), want, "%q: %q", name, got)
	}
	var often []int
	for _, n := range distinct(trigrams(nil, "aaaa")) {
		often = append(often, n)
	}
	slices.Sort(often)
	check.Equal(t, often, []int{1, 1, 2}, "of aaaa")
	w, _, err := learn(t.Context(), []string{"Oslo", "Bergen"})
	check.OK(t, err)
	var s spelling
	w.vector(&s, "Bergen op Zoom")
	n := testing.AllocsPerRun(10, func() { w.vector(&s, "Bergen op Zoom") })
	check.True(t, n <= 0, "%g allocations for a vector", n)
}

func triple(h, r, t string) kg.Fact {
	return kg.Fact{Triple: graphrag.Triple{Head: h, Relation: r, Tail: t}}
}

func chunk(id string, facts ...kg.Fact) kg.Extraction {
	doc, _, _ := strings.Cut(id, "#")
	return kg.Extraction{Chunk: id, Doc: doc, Facts: facts}
}

func put(t *testing.T, o kg.Options, extractions ...kg.Extraction) *kg.Graph {
	t.Helper()
	b := check.Of(kg.NewBase(o)).OK(t)
	check.OK(t, b.Insert(extractions...))
	return check.Of(b.Graph(t.Context())).OK(t)
}

// hippo is the corpus of the worked examples: four passages, eight triples.
func hippo(t *testing.T, o kg.Options) *kg.Graph {
	t.Helper()
	return put(t, o,
		chunk("p0", triple("Alice Smith", "works at", "Acme Corp."), triple("Acme Corp.", "located in", "Berlin")),
		chunk("p1", triple("Berlin", "capital of", "Germany"), triple("Bob Jones", "born in", "Berlin")),
		chunk("p2", triple("Alice Smyth", "wrote", "Deep Rivers"), triple("Deep Rivers", "published in", "Germany")),
		chunk("p3", triple("Acme Corp.", "founded by", "Bob Jones"), triple("Acme Corp", "located in", "Berlin")))
}

// table is a similarity given by a table.
type table map[[2]string]float64

func (k table) Neighbors(_ context.Context, names []string, threshold float64, limit int) ([][]scored, error) {
	out := make([][]scored, len(names))
	for i, a := range names {
		for j, b := range names {
			s := max(k[[2]string{a, b}], k[[2]string{b, a}])
			if i != j && s >= threshold {
				out[i] = append(out[i], scored{ID: int32(j), Score: s})
			}
		}
		out[i] = rank.Best(out[i], limit)
	}
	return out, nil
}

var hippoSimilar = table{{"alice smith", "alice smyth"}: .92, {"berlin", "germany"}: .85, {"acme corp", "berlin"}: .79}

// weights returns the edges between entities of a view, by their keys.
func weights(g *kg.Graph, v *kg.View) map[string]float64 {
	out := make(map[string]float64)
	name := func(u int32) string {
		if int(u) >= v.Entities {
			return g.Passages[int(u)-v.Entities].Chunk
		}
		return g.Entities[u].Key
	}
	for u := range int32(v.N()) {
		lo, hi := v.Row(u)
		for a := lo; a < hi; a++ {
			if w := v.Targets()[a]; u <= w {
				out[name(u)+" – "+name(w)] = math.Round(v.Weight(a)*1e12) / 1e12
			}
		}
	}
	return out
}

// A worked example: effective weights of HippoRAG v1, with synonyms that overwrite facts as its code does, and
// with synonyms whose weights are added.
func TestSynonymsOverwrite(t *testing.T) {
	g := hippo(t, kg.Options{Folding: kg.FoldASCII})
	synonyms, err := Synonyms(t.Context(), g, hippoSimilar, SynonymOptions{})
	check.Must(t, err == nil && len(synonyms) == 4, "synonyms %v, %v", synonyms, err)
	want := map[string]float64{
		"acme corp – alice smith": 2, "acme corp – berlin": 4, "acme corp – bob jones": 2, "alice smith – alice smyth": 1.84,
		"alice smyth – deep rivers": 2, "berlin – bob jones": 2, "berlin – germany": 1.7, "deep rivers – germany": 2,
	}
	v := check.Of(g.View(kg.ViewOptions{Synonyms: synonyms, Overwrite: true})).OK(t)
	check.Equal(t, weights(g, v), want, "overwriting")
	want["berlin – germany"] = 3.7
	v = check.Of(g.View(kg.ViewOptions{Synonyms: synonyms})).OK(t)
	check.Equal(t, weights(g, v), want, "adding")
	// The matrix of passages and entities: the number of distinct facts of passage p with entity e.
	matrix := make([][]float64, 4)
	for p := range matrix {
		matrix[p] = make([]float64, len(g.Entities))
		for _, r := range g.PassageRelations(int32(p)) {
			matrix[p][g.Relations[r.ID].Head]++
			matrix[p][g.Relations[r.ID].Tail]++
		}
	}
	check.Equal(t, matrix, [][]float64{{2, 1, 0, 1, 0, 0, 0}, {0, 0, 0, 2, 1, 0, 1}, {0, 0, 1, 0, 0, 2, 1}, {2, 0, 0, 1, 1, 0, 0}}, "matrix")
}

// A worked example: the graph of HippoRAG 2 has passages as nodes, with an edge of weight 1 to each phrase of
// their facts.
func TestGraphOfExample(t *testing.T) {
	g := hippo(t, kg.Options{})
	v, err := g.View(kg.ViewOptions{Passages: true})
	check.Must(t, err == nil && v.Entities == 7 && v.Passages == 4 && v.Passage(2) == 9, "%+v, %v", v, err)
	got := weights(g, v)
	for edge, want := range map[string]float64{
		"acme corp – p0": 1, "alice smith – p0": 1, "berlin – p0": 1, "acme corp – p3": 1, "acme corp – berlin": 4, "berlin – germany": 2,
	} {
		check.Equal(t, got[edge], want, "%s weighs", edge)
	}
	check.Equal(t, len(got), 7+12, "%d edges: %v", len(got), got)
	check.Equal(t, g.AppendFactEntities(nil, 3), []int32{0, 3, 4}, "phrases of p3")
}

// angles embeds names as vectors of two dimensions by angle.
type angles map[string]float64

func (a angles) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i], _ = a.EmbedQuery(context.Background(), t)
	}
	return out, nil
}

func (a angles) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	sin, cos := math.Sincos(a[text] * math.Pi / 180)
	return []float32{float32(3 * cos), float32(3 * sin)}, nil // vectors need not be normalized
}

// A worked example: which names become synonyms of which.
func TestSynonymsOfExample(t *testing.T) {
	names := angles{"usa": 0, "us": 10, "united states": 20, "u s a": 30, "canada": 36, "mexico": 38}
	x := kg.Extraction{Chunk: "p0", Doc: "p"}
	for _, n := range []string{"usa", "us", "united states", "u s a", "canada", "mexico", ""} {
		x.Mentions = append(x.Mentions, kg.Mention{Name: n})
	}
	g := put(t, kg.Options{Folding: kg.FoldASCII}, x)
	synonyms, err := Synonyms(t.Context(), g, Embeddings{names}, SynonymOptions{})
	check.Must(t, err == nil && len(synonyms) == 23, "%d synonyms, %v", len(synonyms), err)
	usa := map[string]float64{}
	for _, s := range synonyms {
		switch g.Entities[s.From].Key {
		case "usa":
			usa[g.Entities[s.To].Key] = s.Score
		case "us":
			t.Error("us has looked for synonyms")
		}
	}
	want := map[string]float64{"us": .984807753, "united states": .9396926208, "u s a": .8660254038, "canada": .8090169944}
	check.Equal(t, cmp.Diff(want, usa, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })), "", "synonyms of usa (-want +got)")
	v := check.Of(g.View(kg.ViewOptions{Synonyms: synonyms})).OK(t)
	got := weights(g, v)
	w := got["us – usa"]
	check.True(t, math.Abs(w-.984807753) <= 1e-6, "us – usa weighs %v", w)
	w = got["united states – usa"]
	check.True(t, math.Abs(w-1.8793852416) <= 1e-6, "united states – usa weighs %v", w)
}

// Of 150 equal neighbours 101 are kept: the original code stops when it has more than 100.
func TestSynonymLimit(t *testing.T) {
	x := kg.Extraction{Chunk: "p0", Doc: "p"}
	for i := range 151 {
		x.Mentions = append(x.Mentions, kg.Mention{Name: "name" + strings.Repeat("x", i)})
	}
	g := put(t, kg.Options{}, x)
	synonyms, err := Synonyms(t.Context(), g, Embeddings{angles{}}, SynonymOptions{})
	check.True(t, err == nil && len(synonyms) == 151*101, "%d synonyms, %v", len(synonyms), err)
}

func TestNoSynonyms(t *testing.T) {
	s, err := Synonyms(t.Context(), put(t, kg.Options{}), Trigrams{}, SynonymOptions{})
	check.True(t, err == nil && s == nil, "synonyms %v, %v", s, err)
}
