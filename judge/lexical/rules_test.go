// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
)

func newReader(t testing.TB) *reader {
	t.Helper()
	return &reader{lang: newStemmer()}
}

func TestDates(t *testing.T) {
	day := date{year: 2012, month: 9, day: 17}
	for text, want := range map[string][]date{
		"on 17 September 2012":               {day},
		"on the 17th of September, 2012":     {day},
		"September 17, 2012":                 {day},
		"Sept. 17, 2012":                     {day},
		"2012-09-17":                         {day},
		"in September 2012":                  {{year: 2012, month: 9}},
		"on 17 September":                    {{month: 9, day: 17}},
		"1939–45":                            {{year: 1939}, {year: 1945}},
		"the 1990s":                          {{year: 1990, span: 10}},
		"the '90s":                           {{year: 1990, span: 10}},
		"the 2000s":                          {{year: 2000, span: 10}},
		"Mid-1990 prices":                    {{year: 1990}},
		"its second February 2012":           {{year: 2012, month: 2}},
		"the early 1900s":                    {{year: 1900, span: 100}},
		"1500 km":                            nil,
		"$1500":                              nil,
		"1,500 men":                          nil,
		"it may march on":                    nil,
		"May I go":                           nil,
		"15 of them":                         nil,
		strings.Repeat("9", 300) + "-09-17 ": nil,
	} {
		var s scan
		s.read(newReader(t).lang.words, text)
		check.Equal(t, cmp.Diff(want, s.dates(), cmp.AllowUnexported(date{}), cmpopts.EquateEmpty()), "", "%q (-want +got)", text)
	}
}

func TestAmounts(t *testing.T) {
	type a struct {
		value float64
		dim   dimension
	}
	for text, want := range map[string][]a{
		"1.2 million people":                {{1.2e6, noDimension}},
		"1,200,000":                         {{1.2e6, noDimension}},
		"twelve":                            {{12, noDimension}},
		"twenty-five ships":                 {{25, noDimension}},
		"one hundred and twenty thousand":   {{120e3, noDimension}},
		"a dozen":                           {{12, noDimension}},
		"one of them":                       nil,
		"hundreds of men":                   nil,
		"23%":                               {{23, percent}},
		"23 per cent":                       {{23, percent}},
		"$4.5bn":                            {{4.5e9, dollars}},
		"4.5 billion dollars":               {{4.5e9, dollars}},
		"£5m":                               {{5e6, "pounds"}},
		"5 km":                              {{5, length}},
		"250 square kilometres":             {{250, "area"}},
		"a 5-kilometre run":                 {{5, length}},
		"the 2nd storm":                     {{2, ordinal}},
		"the second storm":                  {{2, ordinal}},
		"the B52 and 3M":                    nil,
		"a factor-19 test":                  {{19, noDimension}},
		"1.2.3":                             {{1.2, noDimension}},
		"12 0 twenty hundred million, zero": {{12, noDimension}, {0, noDimension}, {2e9, noDimension}, {0, noDimension}},
	} {
		var s scan
		s.read(newReader(t).lang.words, text)
		var got []a
		for _, x := range s.amounts() {
			got = append(got, a{x.value, x.dim})
		}
		check.Equal(t, cmp.Diff(want, got, cmp.AllowUnexported(a{}), cmpopts.EquateEmpty(), cmpopts.EquateApprox(1e-12, 0)), "", "%q (-want +got)", text)
	}
}

// A statement states itself, whatever it contains, unless it denies itself.
func TestStatesItself(t *testing.T) {
	for _, s := range []string{
		"On 17–19 September 2012 Sanba, the 16th named storm, killed about 12 people and cost $1.2 million (10%).",
		"Between 3 million and over 10 million people, with a probable figure of nearly 6 million, died.",
		"Neither the United States nor the U.K. did not agree.", "東京都は日本の首都である。", "DON'T SHOUT AT THE BBC IN 1999!",
	} {
		r := newReader(t)
		a, b := r.read(s), r.read(s)
		got := a.statedIn(&b, nil)
		check.True(t, got.same && got.share == 1, "%q: %+v", s, got)
	}
}

// FuzzFeatures reads any text within bounds, with the same result every time, and each text states itself.
func FuzzFeatures(f *testing.F) {
	for _, s := range []string{
		"B. Obama and J. K. of the of the UN", "May March 1990s '90s 44 BC 19th century BC", "1,,2..3--4", "\x00\xff\u200b東京ab", "1.2.3.4.5.6", "a hundred hundred hundred million",
	} {
		f.Add(s, s)
	}
	f.Add("NO.O", "O")
	f.Add("3."+strings.Repeat("5", 310), "")
	lang := newStemmer()
	f.Fuzz(func(t *testing.T, a, b string) {
		r := &reader{lang: lang}
		x, y := r.read(a), r.read(b)
		again := (&reader{lang: lang}).read(a)
		diff := cmp.Diff(x.terms, again.terms, cmp.AllowUnexported(term{}), cmpopts.EquateEmpty())
		check.Must(t, diff == "", "%q: %s", a, diff)
		for i := 1; i < len(x.terms); i++ {
			check.Must(t, x.terms[i-1].hash < x.terms[i].hash, "%q: the terms are not sorted", a)
		}
		got := x.statedIn(&y, nil)
		check.Must(t, got.share >= 0 && got.share <= 1, "%q in %q: share %v", a, b, got.share)
		// Amounts spelled in words without sense may be infinite, but are never NaN; the statement must still
		// state itself.
		got = x.statedIn(&again, nil)
		check.Must(t, got.same || got.denied, "%q is not stated in itself: %+v", a, got)
	})
}

// The judge's verdicts on statements, one a line: 1 or 0 by a person, question, reference, answer. A line that
// begins with ! is a known error of the judge.
func TestStatements(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/statements.tsv")).OK(t)
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		check.Must(t, len(cells) == 4, "%d cells: %q", len(cells), line)
		label, known := strings.CutPrefix(cells[0], "!")
		v := newReader(t).fact(judge.Case{Question: cells[1], Reference: cells[2], Answer: cells[3]})
		if right := (v.Value == 1) == (label == "1"); right == known {
			t.Errorf("%s: %v, %s", strings.TrimSpace(line), v.Value, v.Reason)
		}
	}
}

// nouns returns n words that each weigh one, from the i-th on.
func nouns(i, n int) string {
	all := strings.Fields("apple bridge candle desert engine forest garden hammer island jacket kettle ladder meadow needle orchard pencil quarry river saddle tunnel valley window")
	return strings.Join(all[i:i+n], " ")
}

// The thresholds of the judge from both sides: the highest share or weight that fails and the lowest that
// passes, or the other way round, with few words.
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
		check.True(t, got.same == tt.want && (got.fault != "" || got.share == tt.share),
			"%s: %+v, want %v with a share of %v", tt.name, got, tt.want, tt.share)
	}
}

// A negation denies four words that are no stop words, within twelve, and ends with its clause.
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
		check.Equal(t, n, want, "%q: %d words denied", text, n)
	}
}
