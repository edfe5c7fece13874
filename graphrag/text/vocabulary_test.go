// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestVocabulary(t *testing.T) {
	v := new(text.Vocabulary)
	for round := range 2 {
		for i := range 5000 {
			id, added := v.Add(fmt.Appendf(nil, "word%d", i))
			if id != i || added != (round == 0) {
				t.Fatalf("Add(word%d) = %d, %v", i, id, added)
			}
		}
	}
	check.Equal(t, v.Find([]byte("word77")), 77, "Find(word77)")
	id := v.Find([]byte("word"))
	check.Equal(t, id, -1, "Find(word) = %d, which was not added", id)
	check.Equal(t, string(v.At(77)), "word77", "At(77)")
	id, added := v.Add(nil)
	check.True(t, id == 5000 && added && v.Len() == 5001, "Add of the empty word = %d, %v", id, added)
}

// Words that differ in one byte, or in zeros at their ends, are others, whatever their
// length and whatever stands behind them.
func TestVocabularyTellsApart(t *testing.T) {
	v := new(text.Vocabulary)
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
		one, both, other := new(text.Vocabulary), new(text.Vocabulary), new(text.Vocabulary)
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
		var mapped text.Vocabulary
		mapped.Map([]byte("aback"), []int{1, 5})
		number, want := both.AddAll(&mapped), []int{one.Find([]byte("a")), one.Len()}
		check.True(t, int(number[0]) == want[0] && int(number[1]) == want[1], "of a sorted vocabulary: %d, want %d", number, want)
		one.Add([]byte("back"))
		check.Equal(t, one.Len(), both.Len(), "%d strings, want", both.Len())
		for i := range one.Len() {
			if string(both.At(i)) != string(one.At(i)) || both.Find(one.At(i)) != i {
				t.Fatalf("string %d is %q, want %q", i, both.At(i), one.At(i))
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
	n := new(text.Vocabulary).Numbering(text.Default())
	check.Equal(t, fmt.Sprint(numbers(n, "the islands of island people run running the")), "[-1 0 -1 0 1 2 2 -1]", "numbers")
	check.True(t, n.Terms().Len() == 3 && string(n.Terms().At(1)) == "peopl", "%d terms, the second %q", n.Terms().Len(), n.Terms().At(1))
	lookup := n.Terms().Lookup(text.Default())
	for range 2 {
		check.Equal(t, fmt.Sprint(numbers(lookup, "runs the unknown islands unknown")), "[2 -1 -1 0 -1]", "looked up")
		lookup.Trim(1)
	}
	n.Trim(7)
	check.Equal(t, n.Terms().Len(), 3, "trimmed although it is small enough")
	n.Trim(6)
	got := fmt.Sprint(numbers(n, "people people"))
	check.True(t, got == "[0 0]" && n.Terms().Len() == 1, "after it was trimmed: %v", got)
}

// other is an analyzer that is not that of the package.
type other struct{ *text.Standard }

// A text has the numbers of its words one by one, whatever their lengths and number.
func TestNumberingOfTexts(t *testing.T) {
	var long strings.Builder
	for i := range 700 {
		fmt.Fprintf(&long, "The word%d of %s, Čapek’s naïve %s; 東京都 runs ", i*i%97, strings.Repeat("ab", i%9), strings.Repeat("x", i%40))
	}
	for _, a := range []text.Analyzer{text.Default(), text.Plain(), other{text.Default()}} {
		one, all := new(text.Vocabulary).Numbering(a), new(text.Vocabulary).Numbering(a)
		for _, s := range []string{"", "a", long.String()[:900], long.String(), "the islands run", long.String()[200:]} {
			var want, got []int32
			a.Words(s, func(word []byte) bool {
				want = append(want, one.Number(word))
				return true
			})
			all.Text(s, func(numbers []int32) bool {
				got = append(got, numbers...)
				return true
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d words: %v, want %v", a.Name(), len(want), got, want)
			}
			if one.Terms().Len() != all.Terms().Len() {
				t.Fatalf("%s: %d terms, want %d", a.Name(), all.Terms().Len(), one.Terms().Len())
			}
		}
		calls := 0
		all.Text(long.String(), func([]int32) bool {
			calls++
			return calls < 3
		})
		if calls != 3 {
			t.Errorf("%s: it went on %d times", a.Name(), calls-3)
		}
		all.Text("islands", func(numbers []int32) bool {
			if len(numbers) != 1 {
				t.Errorf("%s: %d words of one, after a text that was not read to its end", a.Name(), len(numbers))
			}
			return true
		})
	}
}

func TestList(t *testing.T) {
	want := []string{"a", "b", "c"}
	made := text.NewList(len(want), func(i int) string { return string(rune('a' + i)) })
	for _, l := range []text.List{text.Strings(want), made} {
		got := slices.Collect(l.All())
		check.True(t, l.Len() == 3 && l.At(2) == "c" && slices.Equal(got, want), "%d texts, %v", l.Len(), got)
		for range l.All() {
			break
		}
	}
	none := (text.List{})
	check.True(t, none.Len() == 0 && slices.Collect(none.All()) == nil, "texts in an empty list")
}
