// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/judge"
)

func TestAsks(t *testing.T) {
	for question, want := range map[string]kinds{
		"How many guests came?":                               askedNumber,
		"What was the approximate total number of guests?":    askedNumber,
		"When did it open, and who opened it?":                askedTime | askedName,
		"In which year did it open?":                          askedTime,
		"Who won?":                                            askedName,
		"How did he number the pages?":                        0,
		"What part of the year was dry?":                      0,
		"What did those who left say?":                        0,
		"What happened when it opened?":                       0,
		"What was, after all the noise, the number of guests": 0,
	} {
		r := newReader(t)
		r.read(question)
		if got := r.scan.asks(); got != want {
			t.Errorf("%q asks for %b, want %b", question, got, want)
		}
	}
}

// What of a reference answers the frame of the question alone is not demanded, and is
// no part of its topic.
func TestRelease(t *testing.T) {
	for _, tt := range []struct{ question, reference, free string }{
		{"In addition to the boycotts of players, what did Blatter say of the choice?",
			"Several countries, clubs, and players declared boycotts of the event, and Blatter said the choice was a mistake.", "countries clubs players boycotts event several"},
		{"In addition to the boycotts of clubs, what did Blatter say of the choice?",
			"Blatter called the boycotts of the choice wrong, and the choice a mistake.", ""},
		{"In addition to the boycotts and strikes, what else happened there?", "Players declared boycotts, and workers declared strikes.", ""},
		{"What did Blatter say in addition to the boycotts, of the choice?", "Players declared boycotts, and Blatter said the choice was a mistake.", ""},
		{"Rather than the fine, what was the penalty of the teams?", "While players would pay the fine, the teams had a card as penalty.", "players pay fine"},
		{"Rather than the fine, what was the penalty of the teams?", "The teams had a card as penalty.", ""},
	} {
		r := newReader(t)
		gold, question := r.read(tt.reference), r.read(tt.question)
		gold.give(&question)
		before, _, _, _ := gold.shares(&gold, &question)
		r.release(&gold, tt.question, tt.reference)
		var want []uint64
		for w := range strings.FieldsSeq(tt.free) {
			if stem, ok := r.lang.words.Term(w); ok {
				want = append(want, hashOf(stem))
			}
		}
		var got []uint64
		released := 0.0
		for _, term := range gold.terms {
			if term.free {
				got = append(got, term.hash)
				released += float64(term.weight)
			}
		}
		less := func(a, b uint64) bool { return a < b }
		if diff := cmp.Diff(want, got, cmpopts.SortSlices(less), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q, %q (-want +got):\n%s", tt.question, tt.reference, diff)
		}
		if after, _, _, _ := gold.shares(&gold, &question); after != before-released {
			t.Errorf("%q: the topic weighs %v, before %v of which %v were released", tt.question, after, before, released)
		}
	}
}

// A name that the question shortens is given as a whole, and an adverb is no name.
func TestGivenNames(t *testing.T) {
	r := newReader(t)
	gold, question := r.read("On Monday Barack Obama signed it."), r.read("What did Obama sign?")
	gold.give(&question)
	for _, term := range gold.terms {
		if term.name && !term.given {
			t.Errorf("%+v is not given", term)
		}
	}
	if f := r.read("Us two met."); f.has(hashOf(r.lang.stem("america"))) {
		t.Error("a pronoun is a country")
	}
	for text, want := range map[string]int{"Shortly after it fell.": 0, "Sanba fell.": 1, "Shortly after, Sanba fell.": 1} {
		if f := r.read(text); len(f.names) != want {
			t.Errorf("%q: %d names, want %d", text, len(f.names), want)
		}
	}
}

// Words of one group are one word, in all their forms; names are not.
func TestSynonyms(t *testing.T) {
	r := newReader(t)
	for _, pair := range [][2]string{{"it began there", "it starts there"}, {"they bought it", "they acquired it"}, {"a doctor came", "physicians came"}} {
		a, b := r.read(pair[0]), r.read(pair[1])
		for _, term := range a.terms {
			if !b.has(term.hash) && r.lang.stem("came") != "" && term.hash != hashOf(r.lang.stem("came")) {
				t.Errorf("%q and %q differ in %+v", pair[0], pair[1], term)
			}
		}
	}
	if a, b := r.read("He met Start there."), r.read("They begin there."); a.has(b.terms[0].hash) {
		t.Error("a name is a verb")
	}
	seen := make(map[string]string)
	for _, group := range synonymGroups {
		for w := range strings.FieldsSeq(group) {
			if other, ok := seen[r.lang.stem(w)]; ok && other != group {
				t.Errorf("%q is in %q and in %q", w, other, group)
			}
			seen[r.lang.stem(w)] = group
		}
	}
}

// A question for a number demands no name.
func TestNamesThatAreNotAskedFor(t *testing.T) {
	r := newReader(t)
	for answer, want := range map[string]float64{"The guests were 54.": 1, "The guests of Porto were 45.": 0} {
		v := r.fact(judge.Case{Question: "How many guests came?", Reference: "At the invitation of Lady Astor 54 guests came.", Answer: answer})
		if v.Value != want {
			t.Errorf("%q: %+v, want %v", answer, v, want)
		}
	}
}
