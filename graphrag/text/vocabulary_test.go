// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func TestVocabulary(t *testing.T) {
	v := text.NewVocabulary()
	for round := range 2 {
		for i := range 5000 {
			id, added := v.Add(fmt.Appendf(nil, "word%d", i))
			if id != i || added != (round == 0) {
				t.Fatalf("Add(word%d) = %d, %v", i, id, added)
			}
		}
	}
	if id := v.Find([]byte("word77")); id != 77 {
		t.Errorf("Find(word77) = %d", id)
	}
	if id := v.Find([]byte("word")); id != -1 {
		t.Errorf("Find(word) = %d, which was not added", id)
	}
	if got := string(v.At(77)); got != "word77" {
		t.Errorf("At(77) = %q", got)
	}
	if id, added := v.Add(nil); id != 5000 || !added || v.Len() != 5001 {
		t.Errorf("Add of the empty word = %d, %v", id, added)
	}
}

// Words that differ in one byte, or in zeros at their ends, are others, whatever their
// length and whatever stands behind them.
func TestVocabularyTellsApart(t *testing.T) {
	v := text.NewVocabulary()
	seen := map[string]int{}
	for n := range 40 {
		for at := range n + 1 {
			for _, c := range []byte{0, 1, 'b'} {
				room := bytes.Repeat([]byte("abcdefgh"), 6)
				if word := room[:n]; at < n {
					word[at] = c
				}
				word := room[:n:min(len(room), n+at)]
				want, known := seen[string(word)]
				if !known {
					want = len(seen)
					seen[string(word)] = want
				}
				if got := v.Find(word); known && got != want || !known && got != -1 {
					t.Fatalf("%q is found as %d, want %d", word, got, want)
				}
				if got, added := v.Add(word); got != want || added == known || string(v.At(got)) != string(word) {
					t.Fatalf("%q is added as %d, want %d", word, got, want)
				}
			}
		}
	}
}

func TestAddAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	word := func() []byte {
		w := make([]byte, rng.IntN(20))
		for i := range w {
			w[i] = "ab"[rng.IntN(2)]
		}
		return w
	}
	for _, size := range []int{0, 1, 40, 5000} {
		one, both, other := text.NewVocabulary(), text.NewVocabulary(), text.NewVocabulary()
		for range 1000 {
			w := word()
			one.Add(w)
			both.Add(w)
		}
		for range size {
			other.Add(word())
		}
		for i, number := range both.AddAll(other) {
			if want, _ := one.Add(other.At(i)); int(number) != want {
				t.Fatalf("%q got the number %d, want %d", other.At(i), number, want)
			}
		}
		if number, want := both.AddAll(text.SortedVocabulary([]byte("aback"), []int{1, 5})), []int{one.Find([]byte("a")), one.Len()}; int(number[0]) != want[0] || int(number[1]) != want[1] {
			t.Errorf("of a sorted vocabulary: %d, want %d", number, want)
		}
		one.Add([]byte("back"))
		if one.Len() != both.Len() {
			t.Errorf("%d strings, want %d", both.Len(), one.Len())
		}
		for i := range one.Len() {
			if string(both.At(i)) != string(one.At(i)) || both.Find(one.At(i)) != i {
				t.Fatalf("string %d is %q, want %q", i, both.At(i), one.At(i))
			}
		}
	}
}
