// SPDX-License-Identifier: Apache-2.0

package lexical_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/judge"
)

// A gold statement of two facts is met by sentences that give them apart, and not
// when one is missing, or is told of something else.
func TestStatedTogether(t *testing.T) {
	lights := "The Bell Rock lighthouse of Robert Stevenson and the Skerryvore lighthouse of his son Alan were both first lit on a first of February, in 1811 and 1844."
	lamp := "An electric arc lamp was tested at the South Foreland lighthouse in 1858 with Michael Faraday as adviser."
	bellRock := "Robert Stevenson's Bell Rock lighthouse was first lit on 1 February 1811."
	skerryvore := "Alan Stevenson, the eldest son of Robert Stevenson, built the Skerryvore lighthouse, which was first lit on 1 February 1844."
	arc := "On 8 December 1858 an electric arc lamp was tested at the South Foreland lighthouse."
	faraday := "Michael Faraday, the scientific adviser of Trinity House, found the lamp at South Foreland good but dear."
	plymouth := "Most of John Smeaton's tower was re-erected on Plymouth Hoe."
	for name, tt := range map[string]struct {
		gold, answer string
		met          bool
		supported    int
	}{
		"both lights":         {lights, bellRock + " " + plymouth + " " + skerryvore, true, 2},
		"the first alone":     {lights, bellRock + " " + plymouth, false, 1},
		"the second alone":    {lights, skerryvore + " " + plymouth, false, 0},
		"the year of another": {lights, bellRock + " The Skerryvore lighthouse is made of pink granite. Cordouan was lit on 1 February 1844 by Jules Brebner.", false, 1},
		"a year told of another": {"The Bell Rock lighthouse was lit in 1811 and the Skerryvore lighthouse in 1844.",
			"The Bell Rock lighthouse was lit in 1811. The Skerryvore lighthouse is of pink granite. Cordouan was lit in 1844.", false, 1},
		"beside a denial":            {lamp, arc + " Michael Faraday was never an adviser in London. " + faraday, true, 2},
		"twice alone":                {"Skerryvore was lit in 1844.", "In 1844 Skerryvore was lit. It rained. Skerryvore was lit at last in 1844.", true, 2},
		"lamp and adviser":           {lamp, arc + " " + plymouth + " " + faraday, true, 2},
		"the lamp without adviser":   {lamp, arc + " " + plymouth, false, 0},
		"the adviser without a year": {lamp, faraday + " " + plymouth, false, 0},
		"one half denied":            {lamp, arc + " Michael Faraday was never an adviser at South Foreland.", false, 0},
		"in four sentences":          {"It was signed by Adams, Brown, Clark and Davis.", "Adams signed it. Brown signed it. Clark signed it. Davis signed it.", false, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newJudge(t, judge.Options{}).Summary(t.Context(), judge.Case{Question: "How did lighthouses develop?", Statements: []string{tt.gold}, Answer: tt.answer})
			if err != nil || (s.Recall.Value == 1) != tt.met || s.Counts.PredictedMet != tt.supported {
				t.Errorf("%+v, %v", s, err)
			}
			if name == "twice alone" && len(s.Matches) != 2 {
				t.Errorf("%+v: want both that state it alone", s.Matches)
			}
		})
	}
}

// Sentences of a summary need not repeat the name that the question gives, and must
// not name another.
func TestTopicOfSummary(t *testing.T) {
	c := judge.Case{Question: "What damage did Typhoon Sanba do in 2012?", Statements: []string{"Typhoon Sanba destroyed 67 houses in South Korea in 2012."}}
	for answer, want := range map[string]float64{
		"In South Korea 67 houses were destroyed.": 1, "In South Korea 12 houses were destroyed.": 0, "It destroyed 67 houses in Japan.": 0,
	} {
		c.Answer = answer
		s, err := newJudge(t, judge.Options{}).Summary(t.Context(), c)
		if err != nil || s.Recall.Value != want {
			t.Errorf("%q: %+v, %v", answer, s, err)
		}
	}
}
