// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// zipf are texts of made-up words, of which few are in most texts and one is in a
// text more often than a byte counts.
func zipf(n int) (texts []string) {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 3, 5000)
	for i := range n {
		var b strings.Builder
		for range r.IntN(20) {
			fmt.Fprintf(&b, "w%d ", z.Uint64())
		}
		if i%4000 == 17 {
			b.WriteString(strings.Repeat("often ", 300+i))
		}
		texts = append(texts, b.String())
	}
	return texts
}

func built(t *testing.T, texts []string, o bm25.Options) *bm25.Index {
	t.Helper()
	ix := check.Of(bm25.BuildTexts(t.Context(), texts, o)).OK(t)
	return ix
}

func merged(t *testing.T, dir string, parts ...*bm25.Index) *bm25.Index {
	t.Helper()
	check.OK(t, bm25.Merge(t.Context(), dir, parts...))
	ix := check.Of(bm25.Open(dir, text.Plain())).OK(t)
	t.Cleanup(func() { check.OK(t, ix.Close()) })
	return ix
}

// What is merged of merged indexes is, byte for byte, what is merged at once.
func TestMerge(t *testing.T) {
	texts, dir := zipf(20_000), t.TempDir()
	a, b, c := built(t, texts[:9000], bm25.Plain()), built(t, texts[9000:9001], bm25.Plain()), built(t, texts[9001:], bm25.Plain())
	one := merged(t, filepath.Join(dir, "one"), a, b, c)
	merged(t, filepath.Join(dir, "two"), merged(t, filepath.Join(dir, "part"), a, b), c)
	check.Must(t, one.Len() == len(texts), "%d documents", one.Len())
	sameFolder(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"))
}

func TestMergeEdges(t *testing.T) {
	dir := t.TempDir()
	empty := merged(t, filepath.Join(dir, "empty"), built(t, nil, bm25.Plain()), built(t, nil, bm25.Plain()))
	got := empty.Search("anything", 5, nil)
	check.True(t, len(got) == 0 && empty.Len() == 0, "an empty index has %d documents and finds %v", empty.Len(), got)
	wordless := merged(t, filepath.Join(dir, "wordless"), built(t, []string{"", "…"}, bm25.Plain()))
	got = wordless.Search("anything", 5, nil)
	check.True(t, len(got) == 0 && wordless.Len() == 2, "texts without a word: %d documents, %v", wordless.Len(), got)
	one := built(t, []string{"a b"}, bm25.Plain())
	check.True(t, bm25.Merge(t.Context(), filepath.Join(dir, "none")) != nil, "nothing is merged")
	other := bm25.Plain()
	other.K1 = 2
	err := bm25.Merge(t.Context(), filepath.Join(dir, "other"), one, built(t, []string{"b"}, other))
	check.Fails(t, err, "k1 2", "other options")
	err = bm25.Merge(t.Context(), filepath.Join(dir, "empty"), one)
	check.Fails(t, err, "already", "over another index")
	_, err = bm25.Open(filepath.Join(dir, "empty"), nil)
	check.Fails(t, err, "analyzer", "with another analyzer")
	check.Is(t, check.Err(bm25.Open(filepath.Join(dir, "nowhere"), nil)), bm25.ErrFolder, "no folder")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := filepath.Join(dir, "stopped")
	check.Is(t, bm25.Merge(ctx, stopped, one), context.Canceled, "cancelled")
	check.Is(t, check.Err(bm25.Open(stopped, text.Plain())), bm25.ErrFolder, "what was cancelled is opened")
}

// A damaged folder is refused by the name of the file.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	merged(t, sound, built(t, zipf(9000), bm25.Plain()))
	files := check.Of(os.ReadDir(sound)).OK(t)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 10 * len(files) {
		bad := filepath.Join(dir, "bad")
		check.OK(t, errors.Join(os.RemoveAll(bad), os.CopyFS(bad, os.DirFS(sound))))
		name := filepath.Join(bad, files[round%len(files)].Name())
		data := check.Of(os.ReadFile(name)).OK(t)
		if len(data) == 0 {
			continue
		}
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		check.OK(t, os.WriteFile(name, data, 0o644))
		ix, err := bm25.Open(bad, text.Plain())
		check.True(t, err == nil || errors.Is(err, bm25.ErrFolder) && strings.Contains(err.Error(), bad),
			"%s: %v", name, err)
		if err == nil {
			check.OK(t, ix.Close())
			if filepath.Base(name) != "manifest.json" { // where white space, or the case of a key, does not count
				t.Errorf("%s: it is opened", name)
			}
		}
	}
}

// sameFolder compares the files of two folders.
func sameFolder(t *testing.T, a, b string) {
	t.Helper()
	files, err := os.ReadDir(a)
	check.Must(t, err == nil && len(files) >= 2, "%d files, %v", len(files), err)
	for _, f := range files {
		x, errX := os.ReadFile(filepath.Join(a, f.Name()))
		y, errY := os.ReadFile(filepath.Join(b, f.Name()))
		check.True(t, errX == nil && errY == nil && string(x) == string(y),
			"%s differs: %d and %d bytes, %v, %v", f.Name(), len(x), len(y), errX, errY)
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
			check.OK(t, bm25.MergeOrdered(t.Context(), one, parts...))
			sameFolder(t, want, one)
			for p := range parts { // the same of folders
				parts[p].Index = merged(t, filepath.Join(dir, fmt.Sprint(p)), parts[p].Index)
			}
			check.OK(t, bm25.MergeOrdered(t.Context(), two, parts...))
			sameFolder(t, want, two)
			ix, err := bm25.Open(two, text.Plain())
			check.Must(t, err == nil && ix.Len() == len(left), "%v %v", ix, err)
			err = ix.Close()
			check.OK(t, err)
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
		check.Fails(t, bm25.MergeOrdered(t.Context(), dir, bm25.Part{Index: a, Numbers: c.a}, bm25.Part{Index: b, Numbers: c.b}), want, "%v", c)
		check.True(t, check.Err(os.Stat(dir)) != nil, "%v: a folder was begun", c)
	}
}
