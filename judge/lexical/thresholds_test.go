// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/judge"
)

// nouns are words that each weigh one, n of them from the i-th on.
func nouns(i, n int) string {
	all := strings.Fields("apple bridge candle desert engine forest garden hammer island jacket kettle ladder meadow needle orchard pencil quarry river saddle tunnel valley window")
	return strings.Join(all[i:i+n], " ")
}

// The thresholds of the judge, from both sides: the largest share or weight that
// fails and the smallest that passes, or the other way round, with few words.
func TestThresholds(t *testing.T) {
	const question = "what was seen there"
	for _, tt := range []struct {
		name, question, reference, answer string
		share                             float64
		want                              bool
	}{
		{"whole, 7 of 10", "", nouns(0, 10), nouns(0, 7), 7.0 / 10, true},
		{"whole, 9 of 13", "", nouns(0, 13), nouns(0, 9), 9.0 / 13, false},
		{"added, 5 of 10", question, nouns(0, 10), nouns(0, 5), 5.0 / 10, true},
		{"added, 6 of 13", question, nouns(0, 13), nouns(0, 6), 6.0 / 13, false},
		{"added, the only one", question, nouns(0, 1), nouns(0, 1), 1, true},
	} {
		r := newReader(t)
		gold := r.read(tt.reference)
		q := r.question(judge.Case{Question: tt.question}, &gold)
		answer := r.read(tt.answer)
		got := gold.statedIn(&answer, q)
		if got.same != tt.want || got.fault == "" && got.share != tt.share {
			t.Errorf("%s: %+v, want %v with a share of %v", tt.name, got, tt.want, tt.share)
		}
	}
}

// A negation denies four words that mean something, within twelve, and ends with
// its clause.
func TestNegationReach(t *testing.T) {
	for text, want := range map[string]int{
		"not " + nouns(0, 6): 4,
		"not the apple of the bridge of the candle of the desert engine forest": 4,
		"not of the of the of the of the of the " + nouns(0, 3):                 1,
		"not apple, bridge candle":                                              1,
	} {
		r := newReader(t)
		f := r.read(text)
		n := 0
		for _, term := range f.terms {
			if term.mask == denied {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d words denied, want %d", text, n, want)
		}
	}
}
