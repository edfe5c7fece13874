// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
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
			again, err := bm25.ReadIndex(iotest.HalfReader(bytes.NewReader(file)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(saved(t, again), file) {
				t.Fatal("saved again, the file is another")
			}
			if d := gocmp.Diff(ix.Analyzer().Options(), again.Analyzer().Options()); d != "" {
				t.Error(d)
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

func TestReadRefusesDamage(t *testing.T) {
	ix, err := bm25.BuildTexts(t.Context(), []string{"a rose is a rose", "a tulip", "two roses"}, bm25.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := saved(t, ix)
	for i := range file {
		if _, err := bm25.ReadIndex(bytes.NewReader(file[:i])); !errors.Is(err, bm25.ErrFormat) {
			t.Errorf("cut to %d bytes: error %v, want ErrFormat", i, err)
		}
		damaged := bytes.Clone(file)
		damaged[i] ^= 0x10
		if _, err := bm25.ReadIndex(bytes.NewReader(damaged)); !errors.Is(err, bm25.ErrFormat) {
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
	if _, err := bm25.ReadIndex(iotest.ErrReader(broken)); !errors.Is(err, broken) || errors.Is(err, bm25.ErrFormat) {
		t.Errorf("read: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if _, err := ix.WriteTo(w); !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
}

// FuzzReadIndex gives arbitrary bytes a right checksum, so that the reader
// gets to see everything behind it.
func FuzzReadIndex(f *testing.F) {
	for _, texts := range [][]string{nil, {"a rose is a rose", "", "roses"}, {strings.Repeat("x ", 300), "x y"}} {
		ix, err := bm25.BuildTexts(f.Context(), texts, bm25.Plain())
		if err != nil {
			f.Fatal(err)
		}
		file := saved(f, ix)
		f.Add(file[8 : len(file)-4])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		file := append([]byte("WGBM25\x00\x01"), body...)
		file = binary.LittleEndian.AppendUint32(file, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		ix, err := bm25.ReadIndex(bytes.NewReader(file))
		if err != nil {
			if !errors.Is(err, bm25.ErrFormat) {
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
