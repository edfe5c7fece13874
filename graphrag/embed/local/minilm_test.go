// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"math"
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
)

// miniLM is the real model, all-MiniLM-L6-v2 in the folder $MINILM_DIR.
func miniLM(t testing.TB) *local.Encoder {
	t.Helper()
	dir := os.Getenv("MINILM_DIR")
	if dir == "" {
		t.Skip("MINILM_DIR is not set")
	}
	e, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
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
	v, err := e.EmbedDocuments(t.Context(), []string{
		"That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day",
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{.695, .943, .257} {
		if got := cosine(v[0], v[i+1]); math.Abs(got-want) > 1e-3 {
			t.Errorf("likeness to sentence %d is %.4f, want %.3f", i+1, got, want)
		}
	}
	if e.Dim() != 384 || len(v[0]) != 384 {
		t.Errorf("%d dimensions, want 384", e.Dim())
	}
}

func TestMiniLMConforms(t *testing.T) { embedtest.Test(t, miniLM(t)) }
