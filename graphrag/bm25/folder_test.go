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
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/text"
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
	ix, err := bm25.BuildTexts(t.Context(), texts, o)
	texttest.OK(t, err)
	return ix
}

func merged(t *testing.T, dir string, parts ...*bm25.Index) *bm25.Index {
	t.Helper()
	texttest.OK(t, bm25.Merge(t.Context(), dir, parts...))
	ix, err := bm25.Open(dir, text.Plain())
	texttest.OK(t, err)
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	return ix
}

// What is merged of merged indexes is, byte for byte, what is merged at once.
func TestMerge(t *testing.T) {
	texts, dir := zipf(20_000), t.TempDir()
	a, b, c := built(t, texts[:9000], bm25.Plain()), built(t, texts[9000:9001], bm25.Plain()), built(t, texts[9001:], bm25.Plain())
	one := merged(t, filepath.Join(dir, "one"), a, b, c)
	merged(t, filepath.Join(dir, "two"), merged(t, filepath.Join(dir, "part"), a, b), c)
	if err := one.Verify(t.Context()); err != nil || one.Len() != len(texts) {
		t.Fatalf("%d documents, %v", one.Len(), err)
	}
	sameFolder(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"))
}

func TestMergeEdges(t *testing.T) {
	dir := t.TempDir()
	empty := merged(t, filepath.Join(dir, "empty"), built(t, nil, bm25.Plain()), built(t, nil, bm25.Plain()))
	if got := empty.Search("anything", 5, nil); len(got) != 0 || empty.Len() != 0 {
		t.Errorf("an empty index has %d documents and finds %v", empty.Len(), got)
	}
	wordless := merged(t, filepath.Join(dir, "wordless"), built(t, []string{"", "…"}, bm25.Plain()))
	if got := wordless.Search("anything", 5, nil); len(got) != 0 || wordless.Len() != 2 {
		t.Errorf("texts without a word: %d documents, %v", wordless.Len(), got)
	}
	one := built(t, []string{"a b"}, bm25.Plain())
	if err := bm25.Merge(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("nothing is merged")
	}
	other := bm25.Plain()
	other.K1 = 2
	if err := bm25.Merge(t.Context(), filepath.Join(dir, "other"), one, built(t, []string{"b"}, other)); err == nil || !strings.Contains(err.Error(), "k1 2") {
		t.Errorf("other options: %v", err)
	}
	if err := bm25.Merge(t.Context(), filepath.Join(dir, "empty"), one); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("over another index: %v", err)
	}
	if _, err := bm25.Open(filepath.Join(dir, "empty"), nil); err == nil || !strings.Contains(err.Error(), "analyzer") {
		t.Errorf("with another analyzer: %v", err)
	}
	if _, err := bm25.Open(filepath.Join(dir, "nowhere"), nil); !errors.Is(err, bm25.ErrFolder) {
		t.Errorf("no folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := filepath.Join(dir, "stopped")
	if err := bm25.Merge(ctx, stopped, one); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := bm25.Open(stopped, text.Plain()); !errors.Is(err, bm25.ErrFolder) {
		t.Errorf("what was cancelled is opened: %v", err)
	}
}

// What a damaged folder that is opened gives is wrong, or an error, and never a panic,
// also in goroutines.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	merged(t, sound, built(t, zipf(9000), bm25.Plain()))
	files, err := os.ReadDir(sound)
	texttest.OK(t, err)
	r := rand.New(rand.NewPCG(3, 4))
	opened, failed := 0, 0
	for round := range 10 * len(files) {
		bad := filepath.Join(dir, "bad")
		texttest.OK(t, errors.Join(os.RemoveAll(bad), os.CopyFS(bad, os.DirFS(sound))))
		name := filepath.Join(bad, files[round%len(files)].Name())
		data, err := os.ReadFile(name)
		texttest.OK(t, err)
		for range min(len(data), 1+r.IntN(200)) {
			data[r.IntN(len(data))] = byte(r.IntN(256)) >> r.IntN(8)
		}
		texttest.OK(t, os.WriteFile(name, data, 0o644))
		ix, err := bm25.Open(bad, text.Plain())
		if err != nil {
			continue
		}
		opened++
		for range 20 {
			query := fmt.Sprintf("w%d w%d often", r.IntN(40), r.IntN(5000))
			ix.Search(query, 10, nil)
			ix.Scores(query, nil)
		}
		if err := bm25.Merge(t.Context(), filepath.Join(dir, fmt.Sprint(round)), ix, built(t, []string{"w1 often"}, bm25.Plain())); err != nil {
			failed++
			if !errors.Is(err, bm25.ErrFolder) {
				t.Errorf("%s: %v", files[round%len(files)].Name(), err)
			}
		}
		texttest.OK(t, ix.Close())
	}
	if opened < 40 || failed < 8 {
		t.Errorf("%d damaged folders were opened and %d not merged: too few to mean anything", opened, failed)
	}
}
