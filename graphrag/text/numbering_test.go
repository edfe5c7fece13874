// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

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

// other is an analyzer that is not that of the package.
type other struct{ *text.Standard }

// A text has the numbers of its words one by one, whatever their lengths and number.
func TestNumberingOfTexts(t *testing.T) {
	var long strings.Builder
	for i := range 700 {
		fmt.Fprintf(&long, "The word%d of %s, Čapek’s naïve %s; 東京都 runs ", i*i%97, strings.Repeat("ab", i%9), strings.Repeat("x", i%40))
	}
	for _, a := range []text.Analyzer{text.Default(), text.Plain(), other{text.Default()}} {
		one, all := text.NewNumbering(a), text.NewNumbering(a)
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
