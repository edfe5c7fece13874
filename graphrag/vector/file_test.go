// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func saved(t testing.TB, opts Options, vectors ...[]float32) []byte {
	t.Helper()
	x := newIndex(t, opts, fastest())
	if err := x.Add(vectors...); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := x.Save(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestSaveLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, opts := range []Options{{Dim: 1}, {Dim: 37, Cosine: true}, {Dim: 64, Quantized: true, Cosine: true}} {
		vectors := someVectors(rng, 3*blockRows/2, opts.Dim, false)
		file := saved(t, opts, vectors...)
		in := bytes.NewReader(append(file[:len(file):len(file)], "what follows"...))
		x, err := Load(in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if in.Len() != len("what follows") {
			t.Errorf("%+v: %d bytes left unread", opts, in.Len())
		}
		var again bytes.Buffer
		if err := x.Save(&again); err != nil {
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

// resum replaces the checksum, to get past it.
func resum(file []byte) []byte {
	body := file[:len(file)-4]
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
}

func TestLoadRefuses(t *testing.T) {
	file := saved(t, Options{Dim: 2, Cosine: true}, []float32{1, 2}, []float32{3, 4})
	for n := range file {
		if _, err := Load(bytes.NewReader(file[:n]), Options{}); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		bad := bytes.Clone(file)
		bad[n] ^= 0x10
		if _, err := Load(bytes.NewReader(bad), Options{}); !errors.Is(err, ErrFormat) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
	nan := bytes.Clone(file)
	binary.LittleEndian.PutUint32(nan[headerBytes:], math.Float32bits(float32(math.NaN())))
	if _, err := Load(bytes.NewReader(resum(nan)), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("NaN: %v", err)
	}
	long := bytes.Clone(file)
	binary.LittleEndian.PutUint32(long[headerBytes:], math.Float32bits(2))
	if _, err := Load(bytes.NewReader(resum(long)), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("row longer than 1: %v", err)
	}
	huge := bytes.Clone(file)
	binary.LittleEndian.PutUint64(huge[headerBytes-8:], math.MaxInt32)
	if _, err := Load(bytes.NewReader(huge), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("2^31-1 rows promised: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(saved(f, Options{Dim: 2}))
	f.Add(saved(f, Options{Dim: 1, Quantized: true}, []float32{5}))
	f.Add(saved(f, Options{Dim: 3, Cosine: true}, []float32{1, 2, 3}, []float32{0, 0, 0}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 4 {
			file = resum(file)
		}
		x, err := Load(bytes.NewReader(file), Options{})
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
			t.Fatalf("loaded index of %d rows: %v, %v", x.Len(), got, err)
		}
	})
}
