// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
)

// zipf are n pages of words whose frequencies have an exponent of 1/heaps, so that their
// vocabulary grows with that of heaps.
func zipf(n int) pages {
	return func() iter.Seq2[graphrag.Document, error] {
		return func(yield func(graphrag.Document, error) bool) {
			random := rand.New(rand.NewPCG(1, 2))
			words := rand.NewZipf(random, 1/heaps, 1, 1<<24)
			for i := range n {
				var b strings.Builder
				for range 300 {
					fmt.Fprintf(&b, "%s ", spelt("abcdefgh", rand.New(rand.NewPCG(3, words.Uint64()))))
				}
				if !yield(graphrag.Document{ID: fmt.Sprint(i), Title: "A Name", Text: b.String()}, nil) {
					return
				}
			}
		}
	}
}

func distinct(t *testing.T, e *enlarged) (words, different int) {
	t.Helper()
	seen := make(map[string]bool)
	for doc, err := range e.documents() {
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range strings.Fields(doc.Text) {
			words++
			seen[w] = true
		}
	}
	return words, len(seen)
}

// Of pages whose vocabulary grows by a power of their size, that of the enlarged ones goes
// on with it.
func TestHeaps(t *testing.T) {
	const n = 400
	size := int64(0)
	for doc := range zipf(n)() {
		size += int64(len(doc.Text))
	}
	e, err := enlarge(zipf(n), 4*size, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	words, now := distinct(t, e)
	e.bytes = size
	before, was := distinct(t, e)
	exponent := math.Log(float64(now)/float64(was)) / math.Log(float64(words)/float64(before))
	if words < before*39/10 || math.Abs(exponent-heaps) > .1 {
		t.Errorf("%d words, %d different; of %d %d: exponent %.2f, want %.2f", words, now, before, was, exponent, heaps)
	}
}

// The same seed gives the same pages, another one others; the real ones come first, as
// they are.
func TestEnlarged(t *testing.T) {
	read := func(seed uint64, share float64) (out []string) {
		e, err := enlarge(zipf(20), 100_000, share, seed)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range e.documents() {
			out = append(out, doc.ID+doc.Title+doc.Text)
		}
		return out
	}
	first, again, other, half := read(1, 1), read(1, 1), read(2, 1), read(1, .5)
	if strings.Join(first, "\n") != strings.Join(again, "\n") {
		t.Error("two corpora of one seed")
	}
	if first[0] != other[0] || first[len(first)-1] == other[len(other)-1] {
		t.Error("another seed changes real pages, or does not change new ones")
	}
	if len(half) < len(first)/4 || len(half) > len(first)*3/4 {
		t.Errorf("half of %d pages are %d", len(first), len(half))
	}
}

func TestCased(t *testing.T) {
	for as, want := range map[string]string{"word": "fram", "Word": "Fram", "WORD": "FRAM"} {
		if got := cased("fram", as); got != want {
			t.Errorf("%q as %q, want %q", got, as, want)
		}
	}
}
