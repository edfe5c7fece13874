// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// sameFolder compares the files of two folders.
func sameFolder(t *testing.T, a, b string) {
	t.Helper()
	files, err := os.ReadDir(a)
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		x, errX := os.ReadFile(filepath.Join(a, f.Name()))
		y, errY := os.ReadFile(filepath.Join(b, f.Name()))
		if errX != nil || errY != nil || string(x) != string(y) {
			t.Errorf("%s differs: %d and %d bytes, %v, %v", f.Name(), len(x), len(y), errX, errY)
		}
	}
}

// dealt deals texts to parts at random and drops some; left are those that are
// not, in their order.
func dealt(t *testing.T, rng *rand.Rand, texts []string, parts int, dropped float64) (out []bm25.Part, left []string) {
	own := make([][]string, parts)
	numbers := make([][]int32, parts)
	for i := 0; i < len(texts); {
		p := rng.IntN(parts)
		for run := rng.IntN(1 + rng.IntN(50)); run >= 0 && i < len(texts); run-- {
			own[p] = append(own[p], texts[i])
			if rng.Float64() < dropped {
				numbers[p] = append(numbers[p], -1)
			} else {
				numbers[p] = append(numbers[p], int32(len(left)))
				left = append(left, texts[i])
			}
			i++
		}
	}
	for p := range own {
		out = append(out, bm25.Part{Index: built(t, own[p], bm25.Plain()), Numbers: numbers[p]})
	}
	return out, left
}

// Merging in an order gives the folder that the texts in this order give, byte for
// byte, and what is left out leaves no trace.
func TestMergeOrdered(t *testing.T) {
	for i, c := range []struct {
		texts, parts int
		dropped      float64
	}{{0, 2, 0}, {1, 3, 0}, {50, 1, .5}, {300, 4, 1}, {9000, 2, 0}, {12_000, 5, .3}, {20_000, 3, .99}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			dir := t.TempDir()
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			parts, left := dealt(t, rng, zipf(c.texts), c.parts, c.dropped)
			one, two, want := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "want")
			merged(t, want, built(t, left, bm25.Plain()))
			texttest.OK(t, bm25.MergeOrdered(t.Context(), one, parts...))
			sameFolder(t, want, one)
			for p := range parts { // the same of folders
				parts[p].Index = merged(t, filepath.Join(dir, fmt.Sprint(p)), parts[p].Index)
			}
			texttest.OK(t, bm25.MergeOrdered(t.Context(), two, parts...))
			sameFolder(t, want, two)
			ix, err := bm25.Open(two, text.Plain())
			if err != nil || ix.Len() != len(left) {
				t.Fatal(ix, err)
			}
			if err := ix.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMergeOrderedChecksNumbers(t *testing.T) {
	a, b := built(t, []string{"x", "y", "z"}, bm25.Plain()), built(t, []string{"u", "v"}, bm25.Plain())
	for want, c := range map[string]struct{ a, b []int32 }{
		"index 2 has 2 documents and 1 numbers": {[]int32{0, 1, 2}, []int32{3}},
		"index 1: document 2 has the number 1":  {[]int32{0, 2, 1}, []int32{3, 4}},
		"index 1: document 1 has the number 0":  {[]int32{0, 0, -1}, []int32{1, 2}},
		"index 2: document 0 has the number -2": {[]int32{0, 1, 2}, []int32{-2, 3}},
		"index 2: document 1 has the number 2":  {[]int32{0, 1, 2}, []int32{-1, 2}},
		"the number 5 of 5 documents":           {[]int32{0, 1, 5}, []int32{2, 3}},
		"the number 4 of 4 documents":           {[]int32{0, 1, -1}, []int32{2, 4}},
		"index 2: document 0 has the number 1,": {[]int32{0, 1, 3}, []int32{1, 4}},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		err := bm25.MergeOrdered(t.Context(), dir, bm25.Part{Index: a, Numbers: c.a}, bm25.Part{Index: b, Numbers: c.b})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", c, err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%v: a folder was begun", c)
		}
	}
}
