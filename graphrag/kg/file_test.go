// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleBase(t testing.TB) *Base {
	t.Helper()
	b, err := NewBase(Options{})
	if err == nil {
		err = b.Insert(random(rand.New(rand.NewPCG(1, 2)), 4)...)
	}
	if err == nil {
		err = errors.Join(b.Insert(chunk("z#0", triple("<b>Zürich</b>\u2028", "\xff", "x"))), b.Merge("Turing", "Alan Turing"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWriteAndRead(t *testing.T) {
	b := sampleBase(t)
	var first, second bytes.Buffer
	if n, err := b.WriteTo(&first); err != nil || n != int64(first.Len()) {
		t.Fatal(n, err)
	}
	c, err := Read(bytes.NewReader(first.Bytes()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Collect(b.Extractions()), slices.Collect(c.Extractions())); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	if diff := cmp.Diff(b.merges, c.merges); diff != "" {
		t.Errorf("merges (-saved +loaded):\n%s", diff)
	}
	if _, err := c.WriteTo(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("saved again, the file is another", err)
	}
	if _, err := Read(&first, Options{Folding: FoldASCII}); !errors.Is(err, ErrOptions) {
		t.Errorf("other folding: %v", err)
	}
}

// Every file that is cut, and every flipped bit, is refused or changes nothing.
func TestDamagedFiles(t *testing.T) {
	b := sampleBase(t)
	var w bytes.Buffer
	if _, err := b.WriteTo(&w); err != nil {
		t.Fatal(err)
	}
	whole := w.Bytes()
	for n := range whole {
		if _, err := Read(bytes.NewReader(whole[:n]), Options{}); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
	for n := range whole {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 1 << (n % 8)
		if got, err := Read(bytes.NewReader(damaged), Options{}); err == nil {
			var again bytes.Buffer
			if _, err := got.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), whole) {
				t.Fatalf("bit flip in byte %d was taken for %s", n, damaged[max(0, n-40):min(len(damaged), n+40)])
			}
		} else if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrOptions) {
			t.Fatalf("bit flip in byte %d: %v", n, err)
		}
	}
	for name, text := range map[string]string{"empty": "", "foreign": "PK\x03\x04", "json": `{"a":1}`} {
		if _, err := Read(strings.NewReader(text), Options{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	var w bytes.Buffer
	if _, err := sampleBase(f).WriteTo(&w); err != nil {
		f.Fatal(err)
	}
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read(bytes.NewReader(data), Options{})
		if err != nil {
			return
		}
		g, err := b.Graph(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		consistent(t, g)
	})
}

// FuzzGraph puts hostile names together.
func FuzzGraph(f *testing.F) {
	f.Add("Ada", "wrote", "Notes", "ada.")
	f.Add("!\f\x10", "", "", "")
	f.Add("0", "\f6&\f\f6", "\u200b", "東京")
	f.Add("", "\xff", "\u200b", "東京")
	f.Add("İstanbul", "ß", "ẞ", "Σς")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		for _, folding := range []Folding{FoldUnicode, FoldASCII} {
			base, err := NewBase(Options{Folding: folding, Resolve: initials{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := base.Insert(chunk("1#0", triple(a, b, c), triple(c, a, d)), Extraction{Chunk: "2#0", Doc: "2", Mentions: []Mention{{Name: d, Type: a}, {Name: b}}}); err != nil {
				t.Fatal(err)
			}
			g, err := base.Graph(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			consistent(t, g)
			for _, e := range g.Entities {
				if id, ok := g.Find(e.Name); !ok || g.Entities[id].Key != e.Key {
					t.Errorf("%q of key %q is found as %d, %v", e.Name, e.Key, id, ok)
				}
			}
			var w bytes.Buffer
			if _, err := base.WriteTo(&w); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(&w, Options{Folding: folding}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
