// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
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

func TestSaveAndLoad(t *testing.T) {
	b := sampleBase(t)
	name := filepath.Join(t.TempDir(), "base.kg")
	if err := b.Save(name); err != nil {
		t.Fatal(err)
	}
	c, err := Load(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Collect(b.Extractions()), slices.Collect(c.Extractions())); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	if diff := cmp.Diff(b.merges, c.merges); diff != "" {
		t.Errorf("merges (-saved +loaded):\n%s", diff)
	}
	if err := c.Save(name + "2"); err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(name)
	second, _ := os.ReadFile(name + "2")
	if len(first) == 0 || !bytes.Equal(first, second) {
		t.Error("saved again, the file is another")
	}
	if _, err := Load(name, Options{Folding: FoldASCII}); !errors.Is(err, ErrOptions) {
		t.Errorf("other folding: %v", err)
	}
	if _, err := Load(name+"3", Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := b.Save(filepath.Join(name, "below")); err == nil || !strings.Contains(err.Error(), "below") {
		t.Errorf("saving below a file: %v", err)
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
	for n := range len(whole) - 1 { // without the last line's end it is still whole
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
	for name, text := range map[string]string{
		"empty": "", "foreign": "PK\x03\x04", "json": `{"a":1}`, "too new": strings.Replace(string(whole), `"version":1`, `"version":2`, 1),
		"twice": string(whole) + string(whole),
	} {
		if _, err := Read(strings.NewReader(text), Options{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJSONL(t *testing.T) {
	b := sampleBase(t)
	var w bytes.Buffer
	if err := WriteJSONL(&w, b.Extractions()); err != nil {
		t.Fatal(err)
	}
	w.WriteString("\n{\n" + `{"chunk":"c"}` + "\n" + `{"chunk":"last","doc":"d"}`)
	var good []Extraction
	var bad []string
	for x, err := range ReadJSONL(&w) {
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		good = append(good, x)
	}
	if n := b.Len() + 1; len(good) != n || good[n-1].Chunk != "last" {
		t.Errorf("%d of %d extractions", len(good), n)
	}
	if len(bad) != 2 || !strings.Contains(bad[0], "not an extraction") || !strings.Contains(bad[1], "chunk or doc is missing") {
		t.Errorf("errors %q", bad)
	}
}

func FuzzRead(f *testing.F) {
	var w bytes.Buffer
	if _, err := sampleBase(f).WriteTo(&w); err != nil {
		f.Fatal(err)
	}
	f.Add(w.Bytes())
	f.Add([]byte(`{"format":"wildgraph knowledge","version":1,"folding":"unicode","max_name":512}` + "\n" + `{"end":0,"crc32c":"00000000"}`))
	f.Add([]byte(`{"chunk":"a","doc":"b","facts":[{"head":"x","tail":"y","weight":1e999}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, err := range ReadJSONL(bytes.NewReader(data)) {
			_ = err
		}
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
			base, err := NewBase(Options{Folding: folding, Resolve: &Resolution{Similarity: Trigrams{}, Threshold: 0.5}})
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
