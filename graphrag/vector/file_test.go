// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
)

func saved(t testing.TB, opts Options, vectors ...[]float32) []byte {
	t.Helper()
	x := newIndex(t, opts, fastest())
	if err := x.Add(vectors...); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := x.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestWriteAndRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, opts := range []Options{{Dim: 1}, {Dim: 37, Cosine: true}, {Dim: 64, Quantized: true, Cosine: true}} {
		vectors := someVectors(rng, 3*blockRows/2, opts.Dim, false)
		file := saved(t, opts, vectors...)
		in := bytes.NewReader(append(file[:len(file):len(file)], "what follows"...))
		x, err := Read(in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if in.Len() != len("what follows") {
			t.Errorf("%+v: %d bytes left unread", opts, in.Len())
		}
		var again bytes.Buffer
		if _, err := x.WriteTo(&again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file, again.Bytes()) {
			t.Errorf("%+v: saved, loaded and saved again gives other bytes", opts)
		}
		original := newIndex(t, opts, fastest())
		if err := original.Add(vectors...); err != nil {
			t.Fatal(err)
		}
		want, _ := original.Search(vectors[3], 10, nil)
		got, _ := x.Search(vectors[3], 10, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: (-want +got)\n%s", opts, diff)
		}
	}
}

// block is where the rows of a small file begin, end how much follows them.
const block, rowsAt, end = 8 + 4, 3, 4 + 8

// resum gives what a file of one block holds the right checksums.
func resum(held []byte) []byte {
	var file bytes.Buffer
	w := codec.NewWriter(&file, kind, version)
	_, _ = w.Write(held)
	_, _ = w.Close()
	return file.Bytes()
}

func held(file []byte) []byte { return file[block : len(file)-end] }

func TestReadRefuses(t *testing.T) {
	file := saved(t, Options{Dim: 2, Cosine: true}, []float32{1, 2}, []float32{3, 4})
	for n := range file {
		if _, err := Read(bytes.NewReader(file[:n]), Options{}); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		bad := bytes.Clone(file)
		bad[n] ^= 0x10
		if _, err := Read(bytes.NewReader(bad), Options{}); !errors.Is(err, ErrFormat) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
	for what, x := range map[string]float32{"NaN": float32(math.NaN()), "a row longer than 1": 2} {
		bad := bytes.Clone(held(file))
		binary.LittleEndian.PutUint32(bad[rowsAt:], math.Float32bits(x))
		if _, err := Read(bytes.NewReader(resum(bad)), Options{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
	promised := binary.AppendUvarint([]byte{0, 2}, math.MaxInt32)
	if _, err := Read(bytes.NewReader(resum(promised)), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("2^31-1 rows promised: %v", err)
	}
	if _, err := Read(bytes.NewReader(file), Options{Workers: -1}); err == nil || errors.Is(err, ErrFormat) {
		t.Errorf("-1 workers: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(held(saved(f, Options{Dim: 2})))
	f.Add(held(saved(f, Options{Dim: 1, Quantized: true}, []float32{5})))
	f.Add(held(saved(f, Options{Dim: 3, Cosine: true}, []float32{1, 2, 3}, []float32{0, 0, 0})))
	f.Add(held(saved(f, Options{Dim: 2, Cosine: true, Quantized: true, Graph: true}, []float32{1, 2})))
	f.Fuzz(func(t *testing.T, held []byte) {
		x, err := Read(bytes.NewReader(resum(held)), Options{})
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("error is not ErrFormat: %v", err)
			}
			return
		}
		query := make([]float32, x.Dim())
		query[0] = 1
		got, err := x.Search(query, 3, nil)
		if err != nil || len(got) != min(3, x.Len()) {
			t.Fatalf("index of %d rows: %v, %v", x.Len(), got, err)
		}
	})
}
