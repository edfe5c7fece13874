// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"bytes"
	"fmt"
	"strings"
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

func numbers(n *text.Numbering, s string) (out []int32) {
	for _, w := range strings.Fields(s) {
		out = append(out, n.Number([]byte(w)))
	}
	return out
}

func TestNumbering(t *testing.T) {
	n := text.NewNumbering(text.Default())
	if got := fmt.Sprint(numbers(n, "the islands of island people run running the")); got != "[-1 0 -1 0 1 2 2 -1]" {
		t.Errorf("numbers %v", got)
	}
	if n.Terms().Len() != 3 || string(n.Terms().At(1)) != "peopl" {
		t.Errorf("%d terms, the second %q", n.Terms().Len(), n.Terms().At(1))
	}
	lookup := text.NewLookup(text.Default(), n.Terms())
	for range 2 {
		if got := fmt.Sprint(numbers(lookup, "runs the unknown islands unknown")); got != "[2 -1 -1 0 -1]" {
			t.Errorf("looked up: %v", got)
		}
		lookup.Trim(1)
	}
	n.Trim(7)
	if n.Terms().Len() != 3 {
		t.Error("trimmed although it is small enough")
	}
	n.Trim(6)
	if got := fmt.Sprint(numbers(n, "people people")); got != "[0 0]" || n.Terms().Len() != 1 {
		t.Errorf("after it was trimmed: %v", got)
	}
}
