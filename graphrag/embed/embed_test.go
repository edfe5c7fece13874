// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

var corpus = []string{
	"The physician examined the patient in the hospital.",
	"A doctor and a nurse treat every patient of the hospital.",
	"The doctor works as a physician.",
	"The ship left the harbour with its crew.",
	"Sailors and crew load the ship in the harbour.",
	"",
}

// generated returns texts of words with the frequencies of Zipf's law, each about one of twenty subjects.
func generated(n, words int) []string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	zipf := rand.NewZipf(rng, 1.1, 3, 60_000)
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		subject := rng.IntN(20)
		for range words {
			word := zipf.Uint64()
			if rng.IntN(3) == 0 {
				word = uint64(100*subject) + word%100
			}
			fmt.Fprintf(&b, "w%d ", word)
		}
		texts[i] = b.String()
	}
	return texts
}

func fit(t testing.TB, texts []string, opts embed.LSAOptions) *embed.LSA {
	t.Helper()
	return check.Of(embed.FitLSA(t.Context(), texts, opts)).OK(t)
}

func vector(t testing.TB, e embed.Embedder, text string) []float32 {
	t.Helper()
	return check.Of(e.EmbedQuery(t.Context(), text)).OK(t)
}

func dot(x, y []float32) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func TestConformance(t *testing.T) {
	t.Run("LSA", func(t *testing.T) { graphragtest.Embedder(t, fit(t, corpus, embed.LSAOptions{})) })
	t.Run("LSA of nothing", func(t *testing.T) { graphragtest.Embedder(t, fit(t, nil, embed.LSAOptions{})) })
}

// TestLSARelatesWords: physician and nurse never occur in one text, but both with patient and hospital.
func TestLSARelatesWords(t *testing.T) {
	m := fit(t, corpus, embed.LSAOptions{Dim: 2})
	near := dot(vector(t, m, "physician"), vector(t, m, "nurse"))
	far := dot(vector(t, m, "physician"), vector(t, m, "harbour"))
	check.True(t, near >= .9 && math.Abs(far) <= .1, "physician·nurse = %.3f, physician·harbour = %.3f; want near 1 and 0", near, far)
}

func TestUnknownWordsAreZero(t *testing.T) {
	m := fit(t, corpus, embed.LSAOptions{})
	for _, s := range []string{"", "the and of", "zyzzyva"} {
		v := vector(t, m, s)
		check.True(t, !slices.ContainsFunc(v, func(c float32) bool { return c != 0 }), "%q: %v", s, v)
	}
	known := vector(t, m, "the ship")
	got := dot(known, known)
	check.True(t, math.Abs(got-1) <= 1e-6, "length² is %v, want 1", got)
	check.Equal(t, known, vector(t, m, "ship zyzzyva"), "an unknown word changes the vector")
}

func TestLSADim(t *testing.T) {
	check.Equal(t, fit(t, corpus, embed.LSAOptions{Dim: 2}).Dim(), 2, "Dim")
	got := fit(t, corpus, embed.LSAOptions{}).Dim()
	check.Equal(t, got, 5, "Dim is %d, want 5, the rank of the corpus", got)
}

// TestDeterminism fits with different numbers of workers and processors: equal models, by the checksum in their
// names. The dimension is large enough that the dense products run in parallel.
func TestDeterminism(t *testing.T) {
	texts := generated(400, 80)
	var want *embed.LSA
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		for _, workers := range []int{0, 1, 3} {
			m := fit(t, texts, embed.LSAOptions{Dim: 150, Seed: 7, Workers: workers})
			if want == nil {
				want = m
			}
			if m.Name() != want.Name() || !slices.Equal(vector(t, m, texts[7]), vector(t, want, texts[7])) {
				t.Errorf("GOMAXPROCS %d, %d workers: another model", procs, workers)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	_, err := embed.FitLSA(t.Context(), corpus, embed.LSAOptions{Dim: -1, Workers: -4})
	for _, want := range []string{"Dim is -1", "Workers is -4"} {
		check.Fails(t, err, want, "FitLSA: error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(embed.FitLSA(ctx, corpus, embed.LSAOptions{})), context.Canceled, "cancelled FitLSA")
}

// The name of a model depends on its contents.
func TestNames(t *testing.T) {
	one, two := fit(t, corpus, embed.LSAOptions{Dim: 2}), fit(t, corpus[1:], embed.LSAOptions{Dim: 2})
	check.True(t, one.Name() != two.Name(), "two models of the name %s", one.Name())
}

// characters is an analyzer of the caller: every character is a word, and some can be written in two ways.
type characters struct{}

func (characters) Words(s string, yield func([]byte) bool) {
	for _, r := range s {
		if !yield([]byte(string(r))) {
			return
		}
	}
}

func (characters) Term(word string) (string, bool) {
	switch word {
	case " ":
		return "", false
	case "龍":
		return "竜", true
	}
	return word, true
}

func (characters) Name() string { return "characters" }

func TestAnalyzerOfOnesOwn(t *testing.T) {
	m := fit(t, []string{"竜 の 子", "山 の 川", "龍 の 山"}, embed.LSAOptions{Analyzer: characters{}})
	a, b := vector(t, m, "龍"), vector(t, m, "竜")
	check.Equal(t, a, b, "two spellings of a word: %v and %v", a, b)
}

func Example() {
	ctx := context.Background()
	passages := []string{
		"The physician examined the patient in the hospital.",
		"A doctor and a nurse treat every patient of the hospital.",
		"The ship left the harbour with its crew.",
	}
	model, err := embed.FitLSA(ctx, passages, embed.LSAOptions{Dim: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := model.EmbedDocuments(ctx, passages)
	if err != nil {
		fmt.Println(err)
		return
	}
	question, err := model.EmbedQuery(ctx, "Which physicians are there?")
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, v := range vectors {
		cosine := float32(0)
		for j := range v {
			cosine += v[j] * question[j]
		}
		fmt.Printf("%.2f %s\n", max(0, cosine), passages[i])
	}
	// Output:
	// 1.00 The physician examined the patient in the hospital.
	// 1.00 A doctor and a nurse treat every patient of the hospital.
	// 0.00 The ship left the harbour with its crew.
}

// lengths embeds a text as its length, until it fails.
type lengths struct{ calls, fails, short int }

func (l *lengths) EmbedDocuments(_ context.Context, texts []string) (rows [][]float32, err error) {
	if l.calls++; l.calls == l.fails {
		return nil, errors.New("no line")
	}
	for _, t := range texts {
		rows = append(rows, []float32{float32(len(t))})
	}
	if l.calls == l.short {
		rows = rows[1:]
	}
	return rows, nil
}

func (l *lengths) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text))}, nil
}

func TestBatches(t *testing.T) {
	var texts []string
	var want []float32
	for i := range 600 {
		texts, want = append(texts, fmt.Sprintf("%*d", i, i)), append(want, float32(max(i, len(fmt.Sprint(i)))))
	}
	for _, x := range []struct {
		e     lengths
		calls int
		ok    bool
	}{{lengths{}, 3, true}, {lengths{fails: 2}, 2, false}, {lengths{short: 3}, 3, false}} {
		var got []float32
		var failed error
		for rows, err := range embed.Batches(t.Context(), &x.e, text.Strings(texts)) {
			if err != nil {
				failed = err
				continue
			}
			for _, row := range rows {
				got = append(got, row...)
			}
		}
		check.True(t, x.e.calls == x.calls && (failed == nil) == x.ok && (!x.ok || slices.Equal(got, want)),
			"%+v: %d vectors, %v", x.e, len(got), failed)
	}
	for range embed.Batches(t.Context(), &lengths{}, text.List{}) {
		t.Error("no texts are embedded")
	}
}

func TestQuery(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1} {
		row, err := embed.Query(t.Context(), &lengths{}, text)
		check.True(t, err == nil && len(row) == want, "%q: %v, %v", text, row, err)
	}
}
