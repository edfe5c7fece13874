// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

var corpus = []string{
	"The physician examined the patient in the hospital.",
	"A doctor and a nurse treat every patient of the hospital.",
	"The doctor works as a physician.",
	"The ship left the harbour with its crew.",
	"Sailors and crew load the ship in the harbour.",
	"",
}

// generated returns texts of words with the frequencies of Zipf's law, each
// about one of twenty subjects.
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
	m, err := embed.FitLSA(t.Context(), texts, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func vector(t testing.TB, e embed.Embedder, text string) []float32 {
	t.Helper()
	v, err := e.EmbedQuery(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func dot(x, y []float32) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func TestConformance(t *testing.T) {
	t.Run("LSA", func(t *testing.T) { embedtest.Test(t, fit(t, corpus, embed.LSAOptions{})) })
	t.Run("LSA of nothing", func(t *testing.T) { embedtest.Test(t, fit(t, nil, embed.LSAOptions{})) })
}

// TestLSARelatesWords: physician and nurse never occur in one text, but both
// with patient and hospital.
func TestLSARelatesWords(t *testing.T) {
	m := fit(t, corpus, embed.LSAOptions{Dim: 2})
	near := dot(vector(t, m, "physician"), vector(t, m, "nurse"))
	far := dot(vector(t, m, "physician"), vector(t, m, "harbour"))
	if near < .9 || math.Abs(far) > .1 {
		t.Errorf("physician·nurse = %.3f, physician·harbour = %.3f; want near 1 and 0", near, far)
	}
}

func TestUnknownWordsAreZero(t *testing.T) {
	m := fit(t, corpus, embed.LSAOptions{})
	for _, s := range []string{"", "the and of", "zyzzyva"} {
		if v := vector(t, m, s); slices.ContainsFunc(v, func(c float32) bool { return c != 0 }) {
			t.Errorf("%q: %v", s, v)
		}
	}
	known := vector(t, m, "the ship")
	if got := dot(known, known); math.Abs(got-1) > 1e-6 {
		t.Errorf("length² is %v, want 1", got)
	}
	if with := vector(t, m, "ship zyzzyva"); !slices.Equal(known, with) {
		t.Error("an unknown word changes the vector")
	}
}

func TestLSADim(t *testing.T) {
	if got := fit(t, corpus, embed.LSAOptions{Dim: 2}).Dim(); got != 2 {
		t.Errorf("Dim is %d, want 2", got)
	}
	if got := fit(t, corpus, embed.LSAOptions{}).Dim(); got != 5 {
		t.Errorf("Dim is %d, want 5, the rank of the corpus", got)
	}
	if got := fit(t, corpus, embed.LSAOptions{MaxTerms: 3}).Terms(); got != 3 {
		t.Errorf("%d terms, want 3", got)
	}
	// patient, hospit, doctor, physician, ship, harbour and crew are in two.
	if got := fit(t, corpus, embed.LSAOptions{MinDF: 2}).Terms(); got != 7 {
		t.Errorf("%d terms, want 7", got)
	}
}

// TestDeterminism fits with other workers and processors: equal bytes. The
// dimension is large enough for the dense products to run in parallel, too.
func TestDeterminism(t *testing.T) {
	texts := generated(400, 80)
	var want []byte
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		for _, workers := range []int{0, 1, 3} {
			m := fit(t, texts, embed.LSAOptions{Dim: 150, Seed: 7, Workers: workers})
			var file bytes.Buffer
			if _, err := m.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = file.Bytes()
			}
			if !bytes.Equal(want, file.Bytes()) {
				t.Errorf("GOMAXPROCS %d, %d workers: another model", procs, workers)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	_, err := embed.FitLSA(t.Context(), corpus, embed.LSAOptions{Dim: -1, MaxTerms: -2, MinDF: -3, Workers: -4})
	for _, want := range []string{"Dim is -1", "MaxTerms is -2", "MinDF is -3", "Workers is -4"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FitLSA: error lacks %q: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embed.FitLSA(ctx, corpus, embed.LSAOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled FitLSA: %v", err)
	}
}

func saved(t testing.TB, m *embed.LSA) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestWriteAndRead(t *testing.T) {
	all, err := text.New(text.Options{NoStopWords: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][]string{nil, corpus, generated(200, 300)} {
		m := fit(t, texts, embed.LSAOptions{Analyzer: all})
		file := saved(t, m)
		in := bytes.NewReader(append(slices.Clone(file), "what follows"...))
		back, err := embed.ReadLSA(in, embed.LSAOptions{Analyzer: all})
		if err != nil {
			t.Fatal(err)
		}
		if in.Len() != len("what follows") {
			t.Errorf("%d bytes left unread", in.Len())
		}
		if !bytes.Equal(file, saved(t, back)) || m.Name() != back.Name() || m.Dim() != back.Dim() {
			t.Errorf("%s comes back as %s", m.Name(), back.Name())
		}
		const question = "w17 w5 the doctor and the ship"
		if !slices.Equal(vector(t, m, question), vector(t, back, question)) {
			t.Error("a model that was read gives another vector")
		}
		if _, err := embed.ReadLSA(bytes.NewReader(file), embed.LSAOptions{}); err == nil || errors.Is(err, embed.ErrFormat) || !strings.Contains(err.Error(), `"english, no stop words", this one "english"`) {
			t.Errorf("read with another analyzer: %v", err)
		}
		if _, err := embed.ReadLSA(bytes.NewReader(file), embed.LSAOptions{Workers: -1}); err == nil || !strings.Contains(err.Error(), "Workers is -1") {
			t.Errorf("read with -1 workers: %v", err)
		}
	}
	if one, two := fit(t, corpus, embed.LSAOptions{Dim: 2}), fit(t, corpus[1:], embed.LSAOptions{Dim: 2}); one.Name() == two.Name() {
		t.Errorf("two models of the name %s", one.Name())
	}
}

// block is where a small file begins to hold something, end how much follows it.
const block, end = 8 + 4, 4 + 8

// resum gives what a file of one block holds the right checksums.
func resum(held []byte) []byte {
	var file bytes.Buffer
	w := codec.NewWriter(&file, "WGLSA", 2)
	_, _ = w.Write(held)
	_, _ = w.Close()
	return file.Bytes()
}

func TestReadRefuses(t *testing.T) {
	file := saved(t, fit(t, corpus, embed.LSAOptions{Dim: 1}))
	for n := range file {
		if _, err := embed.ReadLSA(bytes.NewReader(file[:n]), embed.LSAOptions{}); !errors.Is(err, embed.ErrFormat) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		bad := bytes.Clone(file)
		bad[n] ^= 0x10
		if _, err := embed.ReadLSA(bytes.NewReader(bad), embed.LSAOptions{}); !errors.Is(err, embed.ErrFormat) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
	for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1)), -1e30} {
		held := bytes.Clone(file[block : len(file)-end])
		binary.LittleEndian.PutUint32(held[len(held)-4:], math.Float32bits(x))
		if _, err := embed.ReadLSA(bytes.NewReader(resum(held)), embed.LSAOptions{}); !errors.Is(err, embed.ErrFormat) {
			t.Errorf("component %v: %v", x, err)
		}
	}
}

func FuzzReadLSA(f *testing.F) {
	for _, m := range []*embed.LSA{fit(f, nil, embed.LSAOptions{}), fit(f, corpus, embed.LSAOptions{Dim: 2})} {
		file := saved(f, m)
		f.Add(file[block : len(file)-end])
	}
	f.Fuzz(func(t *testing.T, held []byte) {
		m, err := embed.ReadLSA(bytes.NewReader(resum(held)), embed.LSAOptions{})
		if err != nil {
			if !errors.Is(err, embed.ErrFormat) && !strings.Contains(err.Error(), "its analyzer is") {
				t.Fatalf("error is not ErrFormat: %v", err)
			}
			return
		}
		v, err := m.EmbedQuery(t.Context(), "the doctor on the ship")
		if err != nil || len(v) != m.Dim() || slices.ContainsFunc(v, func(c float32) bool { return c-c != 0 }) {
			t.Fatalf("%v, %v", v, err)
		}
	})
}

// characters is an analyzer of one's own: every character is a word, some are
// written in two ways.
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
	if m.Terms() != 5 {
		t.Errorf("%d terms, want 5", m.Terms())
	}
	if a, b := vector(t, m, "龍"), vector(t, m, "竜"); !slices.Equal(a, b) {
		t.Errorf("two spellings of a word: %v and %v", a, b)
	}
	if _, err := embed.ReadLSA(bytes.NewReader(saved(t, m)), embed.LSAOptions{Analyzer: characters{}}); err != nil {
		t.Error(err)
	}
}
