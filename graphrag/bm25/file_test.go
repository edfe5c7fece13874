// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func saved(t testing.TB, ix *bm25.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := ix.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo = %d, %v for %d bytes", n, err, b.Len())
	}
	return b.Bytes()
}

func TestSavedIndexIsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	french, err := text.New(text.Options{Language: text.French, NoStems: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []bm25.Options{{}, bm25.Plain(), {K1: 1.7, B: bm25.Zero, TitleWeight: 400, Analyzer: french}} {
		for _, n := range []int{0, 1, 1000, 9000} {
			chunks := randomTexts(rng, n, 2000)
			if n > 0 {
				chunks[n-1].Text = strings.Repeat("w1 ", 1000)
			}
			ix, err := bm25.Build(t.Context(), chunks, o)
			if err != nil {
				t.Fatal(err)
			}
			file := saved(t, ix)
			again, err := bm25.Read(iotest.HalfReader(bytes.NewReader(file)), o.Analyzer)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(saved(t, again), file) {
				t.Fatal("saved again, the file is another")
			}
			for range 20 {
				q := randomWords(rng, 10, 2000, rng.IntN(20))
				if d := gocmp.Diff(ix.Search(q, 10, nil), again.Search(q, 10, nil)); d != "" {
					t.Fatal(d)
				}
			}
		}
	}
}

// payload is what the one block of a small file holds.
func payload(file []byte) []byte { return file[8+4 : len(file)-4-8] }

func TestReadRefusesDamage(t *testing.T) {
	ix, err := bm25.BuildTexts(t.Context(), []string{"a rose is a rose", "a tulip", "two roses"}, bm25.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := saved(t, ix)
	for i := range file {
		if _, err := bm25.Read(bytes.NewReader(file[:i]), nil); !errors.Is(err, bm25.ErrFormat) {
			t.Errorf("cut to %d bytes: error %v, want ErrFormat", i, err)
		}
		damaged := bytes.Clone(file)
		damaged[i] ^= 0x10
		if _, err := bm25.Read(bytes.NewReader(damaged), nil); !errors.Is(err, bm25.ErrFormat) {
			t.Errorf("byte %d damaged: error %v, want ErrFormat", i, err)
		}
	}
}

func TestFileErrorsPassThrough(t *testing.T) {
	ix, err := bm25.BuildTexts(t.Context(), []string{"a"}, bm25.Options{})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := bm25.Read(iotest.ErrReader(broken), nil); !errors.Is(err, broken) || errors.Is(err, bm25.ErrFormat) {
		t.Errorf("read: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if _, err := ix.WriteTo(w); !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
}

func TestReadRefusesAnotherAnalyzer(t *testing.T) {
	ix, err := bm25.BuildTexts(t.Context(), []string{"a"}, bm25.Plain())
	if err != nil {
		t.Fatal(err)
	}
	_, err = bm25.Read(bytes.NewReader(saved(t, ix)), nil)
	if err == nil || errors.Is(err, bm25.ErrFormat) || !strings.Contains(err.Error(), `"none, no bigrams, no marks", this one "english"`) {
		t.Errorf("error %v", err)
	}
}

// FuzzRead gives arbitrary bytes the right checksums, so that the reader gets to
// see everything behind them.
func FuzzRead(f *testing.F) {
	for _, texts := range [][]string{nil, {"a rose is a rose", "", "roses"}, {strings.Repeat("x ", 300), "x y"}} {
		ix, err := bm25.BuildTexts(f.Context(), texts, bm25.Plain())
		if err != nil {
			f.Fatal(err)
		}
		file := saved(f, ix)
		f.Add(payload(file))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		var file bytes.Buffer
		w := codec.NewWriter(&file, "WGBM25", 2)
		_, _ = w.Write(body)
		_, _ = w.Close()
		ix, err := bm25.Read(&file, text.Plain())
		if err != nil {
			if !errors.Is(err, bm25.ErrFormat) && !strings.Contains(err.Error(), "its analyzer is") {
				t.Fatalf("error %v is not ErrFormat", err)
			}
			return
		}
		for _, r := range ix.Search("a rose is x y", 5, nil) {
			if r.ID < 0 || int(r.ID) >= ix.Len() {
				t.Fatalf("document %d of %d", r.ID, ix.Len())
			}
		}
		if _, err := ix.WriteTo(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}
