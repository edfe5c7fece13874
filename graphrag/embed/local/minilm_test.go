// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// miniLM opens the real model, all-MiniLM-L6-v2 in the folder $MINILM_DIR.
func miniLM(t testing.TB) *local.Encoder {
	t.Helper()
	dir := os.Getenv("MINILM_DIR")
	if dir == "" {
		t.Skip("MINILM_DIR is not set")
	}
	return check.Of(local.Open(dir, local.Options{})).OK(t)
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// The example of the model's card: what sentence-transformers prints for it.
func TestMiniLMGolden(t *testing.T) {
	e := miniLM(t)
	v := check.Of(e.EmbedDocuments(t.Context(), []string{
		"That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day",
	})).OK(t)
	for i, want := range []float64{.695, .943, .257} {
		got := cosine(v[0], v[i+1])
		check.True(t, math.Abs(got-want) <= 1e-3, "likeness to sentence %d is %.4f, want %.3f", i+1, got, want)
	}
	check.True(t, e.Dim() == 384 && len(v[0]) == 384, "%d dimensions, want 384", e.Dim())
}

func TestMiniLMConforms(t *testing.T) { graphragtest.Embedder(t, miniLM(t)) }

// With quantized weights no vector of a real model has a cosine to the exact one below .995.
func TestFamilyInt8(t *testing.T) {
	for _, env := range []string{"MINILM_DIR", "BGE_DIR", "E5_DIR"} {
		t.Run(env, func(t *testing.T) {
			dir := os.Getenv(env)
			if dir == "" {
				t.Skip(env + " is not set, .ci/models makes the folder")
			}
			license := check.Of(os.ReadFile("../../../LICENSE")).OK(t)
			words := strings.Fields(string(license))
			var texts []string
			for at := 0; at+100 < len(words); at += 97 {
				texts = append(texts, strings.Join(words[at:at+3+at%97], " "))
			}
			var v [2][][]float32
			for i, o := range []local.Options{{}, {Int8: true}} {
				e := check.Of(local.Open(dir, o)).OK(t)
				v[i] = check.Of(e.EmbedDocuments(t.Context(), texts)).OK(t)
			}
			for i, text := range texts {
				cos := cosine(v[0][i], v[1][i])
				check.True(t, cos >= .995, "%.40q: cosine %.4f", text, cos)
			}
		})
	}
}

// Questions and passages for models with prompts and other poolings: the cosines are those of onnxruntime
// 1.32.0 with the models of .ci/models and their prompts written into the texts.
func TestFamilyGolden(t *testing.T) {
	for _, tt := range []struct {
		env  string
		want [3]float64
	}{
		{"MINILM_DIR", [3]float64{.4615, .5488, .0146}},
		{"BGE_DIR", [3]float64{.5491, .5319, .2367}}, // .5857, .5703 and .2694 without its prompt
		{"E5_DIR", [3]float64{.7952, .7582, .6450}},  // .8199, .7960 and .6844 without its prompts
	} {
		t.Run(tt.env, func(t *testing.T) {
			dir := os.Getenv(tt.env)
			if dir == "" {
				t.Skip(tt.env + " is not set, .ci/models makes the folder")
			}
			e := check.Of(local.Open(dir, local.Options{})).OK(t)
			q, err1 := e.EmbedQuery(t.Context(), "Who designed the Forth Bridge?")
			v, err2 := e.EmbedDocuments(t.Context(), []string{
				"It was designed by Sir John Fowler and Sir Benjamin Baker.", "The bridge is 2,467 metres long.", "Owls hunt mice by night.",
			})
			check.OK(t, errors.Join(err1, err2))
			for i, want := range tt.want {
				got := cosine(q, v[i])
				check.True(t, math.Abs(got-want) <= 1e-3, "passage %d: cosine %.4f, want %.4f", i+1, got, want)
			}
		})
	}
}

// A model is opened by its folder; here it has random numbers as weights.
func Example() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := graphragtest.WriteBERT(dir); err != nil {
		fmt.Println(err)
		return
	}

	model, err := local.Open(dir, local.Options{})
	if err != nil {
		fmt.Println(err) // the error names the file and the remedy
		return
	}
	ctx := context.Background()
	passages, err := model.EmbedDocuments(ctx, []string{"The barn owl hears a mouse.", "A quick brown fox!"})
	if err != nil {
		fmt.Println(err)
		return
	}
	question, err := model.EmbedQuery(ctx, "the BARN owl hears a mouse.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Dim(), passages[0][0] == question[0], passages[1][0] == question[0])
	// Output: 64 true false
}

func ExampleReranker() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// In place of a trained cross-encoder, a small one with random weights.
	if err := graphragtest.WriteHead(dir, "BertForSequenceClassification", "relevant"); err != nil {
		log.Fatal(err)
	}
	reranker, err := local.OpenReranker(dir, local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	passages := []string{"The barn owl hears a mouse.", "A quick brown fox."}
	scores, err := reranker.Scores(context.Background(), "What hears a mouse?", passages)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(scores), "scores, to be put in order by retrieve.Rerank")
	// Output: 2 scores, to be put in order by retrieve.Rerank
}
