// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
)

var (
	long   = strings.Repeat("long ", 50_000)
	floats = []float32{1, -2.5, float32(math.Inf(1)), math.SmallestNonzeroFloat32}
)

func file(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := codec.NewWriter(&b, "TEST", 3)
	w.Uint(0)
	w.Uint(math.MaxUint64)
	w.String("text")
	w.String(long)
	for range 20_000 {
		w.Float32s(floats)
	}
	if n, err := w.Close(); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes written, Close says %d, %v", b.Len(), n, err)
	}
	return b.Bytes()
}

func read(r io.Reader) error {
	in := codec.NewReader(r, "TEST", 3)
	ok := in.Uint(0) == 0 && in.Uint(math.MaxUint64) == math.MaxUint64 &&
		string(in.Bytes(nil, 10)) == "text" && string(in.Bytes(nil, 1<<20)) == long
	for range 20_000 {
		four := make([]float32, 4)
		in.Float32s(four)
		ok = ok && slices.Equal(four, floats)
	}
	if err := in.Close(); err != nil {
		return err
	}
	if !ok {
		return errors.New("read something else than was written")
	}
	return nil
}

func TestRoundTrip(t *testing.T) {
	in := bytes.NewReader(append(file(t), "what follows"...))
	if err := read(iotest.HalfReader(in)); err != nil {
		t.Fatal(err)
	}
	if in.Len() != len("what follows") {
		t.Errorf("%d bytes left", in.Len())
	}
}

func TestDamageIsNoticed(t *testing.T) {
	whole := file(t)
	places := []int{len(whole) - 1, len(whole) - 5, len(whole) - 9, len(whole) / 2, 1<<16 + 12, 1<<16 + 16}
	for i := range 64 {
		places = append(places, i)
	}
	for _, i := range places {
		if err := read(bytes.NewReader(whole[:i])); !errors.Is(err, codec.ErrFormat) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
		for bit := range 8 {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1 << bit
			if err := read(bytes.NewReader(damaged)); !errors.Is(err, codec.ErrFormat) {
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			}
		}
	}
	// A block that is left out, though each is right in itself.
	block := 4 + 1<<16 + 4
	if err := read(bytes.NewReader(slices.Delete(bytes.Clone(whole), 8+block, 8+2*block))); !errors.Is(err, codec.ErrFormat) {
		t.Errorf("a block less: %v", err)
	}
}

func TestReaderRefuses(t *testing.T) {
	with := func(write func(w *codec.Writer)) *bytes.Reader {
		var b bytes.Buffer
		w := codec.NewWriter(&b, "TEST", 3)
		write(w)
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(b.Bytes())
	}
	none := func(*codec.Writer) {}
	for _, test := range []struct {
		want string
		in   *codec.Reader
		read func(in *codec.Reader)
	}{
		{"begins with", codec.NewReader(with(none), "OTHER", 3), nil},
		{"version 3, this program reads 4", codec.NewReader(with(none), "TEST", 4), nil},
		{"more than it says", codec.NewReader(with(func(w *codec.Writer) { w.Uint(1) }), "TEST", 3), nil},
		{"less than it says", codec.NewReader(with(none), "TEST", 3), func(in *codec.Reader) { in.Uint(1) }},
		{"at most 8", codec.NewReader(with(func(w *codec.Writer) { w.Uint(9) }), "TEST", 3), func(in *codec.Reader) { in.Uint(8) }},
		{"64 bits", codec.NewReader(with(func(w *codec.Writer) { _, _ = w.Write(bytes.Repeat([]byte{0xFF}, 10)) }), "TEST", 3), func(in *codec.Reader) { in.Uint(1 << 63) }},
		{"of its own", codec.NewReader(with(none), "TEST", 3), func(in *codec.Reader) { in.Fail("of its %s", "own"); in.Fail("second") }},
	} {
		if test.read != nil {
			test.read(test.in)
		}
		if err := test.in.Close(); !errors.Is(err, codec.ErrFormat) || !strings.Contains(err.Error(), test.want) || err != test.in.Err() {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

// A length that is only promised costs nothing.
func TestPromisesCostNothing(t *testing.T) {
	var b bytes.Buffer
	w := codec.NewWriter(&b, "TEST", 3)
	w.Uint(1 << 40)
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in := codec.NewReader(&b, "TEST", 3)
	if got := in.Bytes(nil, math.MaxInt); len(got) != 0 || cap(got) > 1<<16 || !errors.Is(in.Err(), codec.ErrFormat) {
		t.Errorf("%d bytes, room for %d: %v", len(got), cap(got), in.Err())
	}
}

func TestErrorsPassThrough(t *testing.T) {
	broken := errors.New("broken")
	if err := read(io.MultiReader(bytes.NewReader(file(t)[:100]), iotest.ErrReader(broken))); !errors.Is(err, broken) || errors.Is(err, codec.ErrFormat) {
		t.Errorf("read: %v", err)
	}
	r, out := io.Pipe()
	r.CloseWithError(broken)
	w := codec.NewWriter(out, "TEST", 3)
	w.String(long)
	if _, err := w.Close(); !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	f.Add(bytes.Repeat([]byte{0xFF}, 30))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, whole := range [][]byte{body, append([]byte("TEST\x00\x00\x00\x03"), body...)} {
			in := codec.NewReader(bytes.NewReader(whole), "TEST", 3)
			in.Uint(7)
			in.Bytes(nil, 5)
			in.Float32s(make([]float32, 2))
			if err := in.Close(); err != nil && !errors.Is(err, codec.ErrFormat) {
				t.Fatal(err)
			}
		}
	})
}
