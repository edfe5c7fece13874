// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// sentences have from two tokens to more than the model takes.
var sentences = []string{
	"", "owl", "The barn owl hears a mouse.", "quick brown foxes hunting by the barn", "Naïve owls? 東京!", "zzz",
	strings.Repeat("the owl hunts a mouse, ", 7), strings.Repeat("a ", 45), strings.Repeat("brown dog ", 200),
}

// Vectors are those of BERT in float64, with every kernel, to a few roundings.
func TestVectorsAreThoseOfTheTwin(t *testing.T) {
	w := twin(tinyWeights(t))
	for name, k := range kernelSets() {
		e := mustOpen(t, tiny(t))
		e.net.kernels = k
		got := check.Of(e.EmbedDocuments(t.Context(), sentences)).OK(t)
		for i, text := range sentences {
			want := mean(w.encode(e.words.tokens(nil, text, tinyTokens, new(letterReader))))
			for j := range want {
				check.Must(t, math.Abs(float64(got[i][j])-want[j]) <= 2e-6,
					"%s: %.30q: component %d is %v, want %v", name, text, j, got[i][j], want[j])
			}
		}
	}
}

func TestConforms(t *testing.T) { embedtest.Test(t, mustOpen(t, tiny(t))) }

// Vectors of codes stay close to those of numbers, have another name, and conform.
func TestInt8(t *testing.T) {
	dir := tiny(t)
	codes := check.Of(Open(dir, Options{Int8: true})).OK(t)
	embedtest.Test(t, codes)
	numbers := mustOpen(t, dir)
	check.True(t, codes.Name() != numbers.Name(), "vectors of two kinds have one name")
	a, err1 := numbers.EmbedDocuments(t.Context(), sentences)
	b, err2 := codes.EmbedDocuments(t.Context(), sentences)
	check.OK(t, errors.Join(err1, err2))
	for i := range a {
		var ab, aa, bb float64
		for j, x := range a[i] {
			ab, aa, bb = ab+float64(x*b[i][j]), aa+float64(x*x), bb+float64(b[i][j]*b[i][j])
		}
		cos := ab / math.Sqrt(aa*bb)
		check.True(t, cos >= .995 && cos != 1, "%.30q: cosine %v", sentences[i], cos)
	}
}

// In whatever order and company, with any number of workers.
func TestSameBits(t *testing.T) {
	dir := tiny(t)
	one := check.Of(Open(dir, Options{Workers: 1})).OK(t)
	five := check.Of(Open(dir, Options{Workers: 5})).OK(t)
	many := slices.Repeat(sentences, 20)
	want := check.Of(one.EmbedDocuments(t.Context(), many)).OK(t)
	slices.Reverse(many)
	got, err := five.EmbedDocuments(t.Context(), many)
	slices.Reverse(got)
	check.True(t, err == nil && slices.EqualFunc(got, want, slices.Equal), "other vectors with five workers, in another order (error %v)", err)
	check.Equal(t, one.Name(), five.Name(), "the names are %s and %s", one.Name(), five.Name())
}

// The types of numbers, the prefix of larger models, and the vocabulary as a list
// make no difference to vectors; the files that decide something do.
func TestFormsOfAFolder(t *testing.T) {
	plain := mustOpen(t, tiny(t))
	want := check.Of(plain.EmbedDocuments(t.Context(), sentences)).OK(t)
	w := tinyWeights(t)
	prefixed := map[string]array{}
	for name, a := range w {
		prefixed["bert."+name] = a
	}
	for _, tt := range []struct {
		name          string
		change        func(dir string) error
		vectors, same bool // whether they, and the name, stay
	}{
		{"F16", write(weightsFile, string(encodeTensors(w, "F16"))), true, false},
		{"BF16", write(weightsFile, string(encodeTensors(w, "BF16"))), true, false},
		{"prefix", write(weightsFile, string(encodeTensors(prefixed, "F32"))), true, false},
		{"vocab.txt", remove(tokenizerFile), true, false},
		{"a picture beside it", write("logo.png", "\x89PNG"), true, true},
		{"longer texts", remove(sentenceFile), false, false},
		{"first token", write("1_Pooling/config.json", `{"word_embedding_dimension": 64, "pooling_mode_cls_token": true}`), false, false},
		{"no modules", remove(modulesFile), false, false},
		{"cased", write(tokenizerFile, ""), false, false},
	} {
		dir := tiny(t)
		check.OK(t, tt.change(dir))
		if tt.name == "cased" {
			check.OK(t, errors.Join(os.Remove(filepath.Join(dir, tokenizerFile)), write(casingFile, `{"do_lower_case": false}`)(dir)))
		}
		e := mustOpen(t, dir)
		got, err := e.EmbedDocuments(t.Context(), sentences)
		if err != nil || slices.EqualFunc(got, want, slices.Equal) != tt.vectors || (e.Name() == plain.Name()) != tt.same {
			t.Errorf("%s: same vectors %v, name %s beside %s, error %v", tt.name, !tt.vectors, e.Name(), plain.Name(), err)
		}
	}
}

// Without modules.json the mean keeps its length; with the first token the vector is
// that token's.
func TestPooling(t *testing.T) {
	w := twin(tinyWeights(t))
	dir := tiny(t)
	check.OK(t, os.Remove(filepath.Join(dir, modulesFile)))
	e := mustOpen(t, dir)
	tokens := w.encode(e.words.tokens(nil, sentences[2], tinyTokens, new(letterReader)))
	v := check.Of(e.EmbedQuery(t.Context(), sentences[2])).OK(t)
	unit := mean(tokens)
	length := 0.
	for j, u := range unit {
		length += float64(v[j]) * u
	}
	sum := 0.
	for _, row := range tokens {
		sum += dot(row, unit) / float64(len(tokens))
	}
	check.True(t, math.Abs(length-sum) <= 1e-5, "the mean has the length %v, want %v", length, sum)
	dir = tiny(t)
	check.OK(t, write("1_Pooling/config.json", `{"word_embedding_dimension": 64, "pooling_mode_cls_token": true}`)(dir))
	v = check.Of(mustOpen(t, dir).EmbedQuery(t.Context(), sentences[2])).OK(t)
	for j, want := range mean(tokens[:1]) {
		check.Must(t, math.Abs(float64(v[j])-want) <= 2e-6, "component %d of the first token is %v, want %v", j, v[j], want)
	}
}

func TestNothingIsAllocatedForAText(t *testing.T) {
	e := mustOpen(t, tiny(t))
	s, out := new(scratch), make([][]float32, len(sentences))
	for i := range out {
		out[i] = make([]float32, e.Dim())
	}
	put, take := e.encoding("", sentences, out)
	n := testing.AllocsPerRun(10, func() { _ = e.packs(t.Context(), s, 0, len(sentences), put, take) })
	check.True(t, n <= 0, "%v allocations for %d texts", n, len(sentences))
}

// A context that ends in the middle of a call ends it.
func TestCancelledBetweenPacks(t *testing.T) {
	e := mustOpen(t, tiny(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	many := slices.Repeat(sentences, 20)
	out := make([][]float32, len(many))
	for i := range out {
		out[i] = make([]float32, e.Dim())
	}
	e.net.gelu = func([]float32) { cancel() } // of the first pack
	put, take := e.encoding("", many, out)
	check.Is(t, e.packs(ctx, new(scratch), 0, len(many), put, take), context.Canceled)
	check.Equal(t, slices.Max(out[len(out)-1]), 0, "the last pack was encoded")
}

// A prompt is a part of the text: a question with it has the vector of a passage that
// begins with its words, and the prompts decide the name.
func TestPrompts(t *testing.T) {
	plain := mustOpen(t, tiny(t))
	for _, tt := range []struct{ file, query, passage string }{
		{`{"prompts": {"query": "a mouse: ", "passage": "the barn: "}}`, "a mouse: ", "the barn: "},
		{`{"prompts": {"query": "a mouse: "}, "default_prompt_name": null}`, "a mouse: ", ""},
		{`{"prompts": {"corpus": "dog ", "document": "barn "}}`, "", "barn "},
		{`{"prompts": {"mine": "fox ", "query": "owl "}, "default_prompt_name": "mine"}`, "owl ", "fox "},
		{`{"__version__": {}}`, "", ""},
	} {
		dir := tiny(t)
		check.OK(t, write(promptsFile, tt.file)(dir))
		e := mustOpen(t, dir)
		want, err := plain.EmbedDocuments(t.Context(), []string{tt.query + "owls hunt", tt.passage + "owls hunt"})
		check.OK(t, err)
		query, err1 := e.EmbedQuery(t.Context(), "owls hunt")
		passages, err2 := e.EmbedDocuments(t.Context(), []string{"owls hunt"})
		err = errors.Join(err1, err2)
		check.True(t, err == nil && slices.Equal(query, want[0]) && slices.Equal(passages[0], want[1]), "%s: other vectors, error %v", tt.file, err)
		check.True(t, (e.Name() == plain.Name()) == (tt.query+tt.passage == ""), "%s: the name is %s", tt.file, e.Name())
	}
}
