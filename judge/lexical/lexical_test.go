// SPDX-License-Identifier: Apache-2.0

package lexical_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

func newJudge(t testing.TB, o judge.Options) *lexical.Judge {
	t.Helper()
	return check.Of(lexical.New(o)).OK(t)
}

func TestLexicalFact(t *testing.T) {
	j := newJudge(t, judge.Options{})
	for _, tt := range []struct {
		name, reference, answer string
		want                    float64
	}{
		{"the same", "On September 17, Sanba made landfall over South Korea.", "On September 17, Sanba made landfall over South Korea.", 1},
		{"reordered", "On September 17, Sanba made landfall over South Korea.", "Sanba made landfall over South Korea on 17 September.", 1},
		{"inflected, with more detail", "The storm damaged few buildings.", "Few buildings were damaged by the storm, which later moved north.", 1},
		{"another number", "Sanba made landfall on September 17.", "Sanba made landfall on September 19.", 0},
		{"grouped and spelled numbers", "The storm killed 1,200 people in three towns.", "In 3 towns the storm killed 1200 people.", 1},
		{"ordinal", "It was the 2nd storm of the season.", "It was the second storm of the season.", 1},
		{"denied", "The typhoon did not hit Japan.", "The typhoon did hit Japan.", 0},
		{"denied with an apostrophe", "The typhoon didn't hit Japan.", "The typhoon did not hit Japan.", 1},
		{"another name", "Sanba reached Korea.", "Bolaven reached Korea.", 0},
		{"spread over sentences", "Sanba formed in 2012 and reached Korea.", "Sanba formed in 2012. Sanba reached Korea.", 1},
		{"empty", "Sanba reached Korea.", " ", 0},
		{"no", "no", "No, they are of different countries [1].", 1},
		{"no, and yes", "No.", "Yes.", 0},
		{"yes", "yes", "**Yes**", 1},
		{"yes, and neither", "yes", "Both are American.", 0},
		{"a number", "3", "There are three of them.", 1},
		{"another bare number", "3", "4", 0},
		{"unrelated", "Sanba reached Korea.", "Prime numbers have two divisors.", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := j.Fact(t.Context(), judge.Case{Reference: tt.reference, Answer: tt.answer})
			check.True(t, err == nil && got.State == judge.Scored && got.Value == tt.want, "%+v, %v, want %v", got, err, tt.want)
		})
	}
	v, _ := j.Fact(t.Context(), judge.Case{Reference: "Sanba.", Answer: "Sanba.", Refused: true})
	check.Equal(t, v.Value, 0, "a refusal scores")
	v, _ = j.Fact(t.Context(), judge.Case{Reference: "?", Answer: "Sanba."})
	check.Equal(t, v.State, judge.Unscored, "a reference without a word")
}

// The answer need not repeat the parts of the question, but must not replace them.
func TestLexicalQuestion(t *testing.T) {
	j := newJudge(t, judge.Options{})
	const q, r = "Where did Sanba, 1 of 12 storms, make landfall in September 2012?", "Sanba, 1 of 12 storms, made landfall in South Korea in September 2012."
	for answer, want := range map[string]float64{
		"South Korea": 1, "In South Korea.": 1, "It made landfall in South Korea.": 1, "In South Korea in 2012.": 1, "In South Korea on 17 September 2012.": 1,
		"In South Korea in 2013.": 0, "In South Korea in October 2012.": 0, "Sanba, 1 of 19 storms, made landfall in South Korea.": 0,
		"In Japan.": 0, "North Korea": 0, "Sanba": 0, "September 2012": 0,
	} {
		got, err := j.Fact(t.Context(), judge.Case{Question: q, Reference: r, Answer: answer})
		check.True(t, err == nil && got.Value == want, "%q: %+v, %v, want %v", answer, got, err, want)
	}
	for answer, want := range map[string]float64{"Yes.": 0, "No.": 1, "no, it did not": 1, "Yes, it did.": 0, "Perhaps.": 0} {
		got, err := j.Fact(t.Context(), judge.Case{Question: "Did Sanba hit Japan?", Reference: "Sanba did not hit Japan.", Answer: answer})
		check.True(t, err == nil && got.Value == want, "%q: %+v, %v, want %v", answer, got, err, want)
	}
}

func TestLexicalSummary(t *testing.T) {
	gold := []string{"Sanba formed in September 2012.", "Sanba hit South Korea.", "Bolaven killed 59 people."}
	answer := "Sanba hit South Korea. Sanba formed in September 2012. The weather was fine."
	want := judge.SummaryJudgment{
		Predicted: []string{"Sanba hit South Korea.", "Sanba formed in September 2012.", "The weather was fine."},
		Matches:   []judge.Match{{Gold: 0, Predicted: 1}, {Gold: 1, Predicted: 0}},
		Recall:    judge.Score(2.0/3, ""), Precision: judge.Score(2.0/3, ""),
	}
	for _, tt := range []struct {
		name string
		o    judge.Options
		c    judge.Case
		want judge.SummaryJudgment
	}{
		{"gold", judge.Options{}, judge.Case{Statements: gold, Answer: answer}, want},
		{"no gold", judge.Options{}, judge.Case{Answer: answer}, judge.SummaryJudgment{
			Recall:    judge.Verdict{State: judge.NotApplicable, Reason: "no gold statements"},
			Precision: judge.Verdict{State: judge.NotApplicable, Reason: "no gold statements"}}},
		{"no answer", judge.Options{}, judge.Case{Statements: gold}, judge.SummaryJudgment{
			Recall: judge.Score(0, "empty answer"), Precision: judge.Score(0, "empty answer")}},
		{"no statement", judge.Options{}, judge.Case{Statements: gold, Answer: "— * —"}, judge.SummaryJudgment{
			Recall: judge.Score(0, "no statement in the answer"), Precision: judge.Score(0, "no statement in the answer")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := check.Of(newJudge(t, tt.o).Summary(t.Context(), tt.c)).OK(t)
			c := got.Counts
			if got.Counts = (judge.Counts{}); got.Recall.State == judge.Scored && got.Recall.Value != float64(c.GoldMet)/float64(c.Gold) {
				t.Errorf("counts %+v with recall %v", c, got.Recall.Value)
			}
			if len(got.Predicted) > 0 { // at least as many gold statements as predicted ones
				tt.want.Ceiling = judge.Score(1, "")
			}
			check.Equal(t, got, tt.want, "(-want +got)")
		})
	}
}

// Texts of any size and kind are judged.
func TestLexicalHostile(t *testing.T) {
	j := newJudge(t, judge.Options{})
	for unit, size := range map[string]int{"no ": 110_000, "Name Of ": 110_000, "not the ": 2e4, "1,": 2e4, "17 September ": 2e4, "a hundred ": 2e4,
		"\x00\xff": 2e4, "東京": 2e4, "un\u200bit ": 2e4, "Yes. ": 2e4} {
		long := strings.Repeat(unit, size/len(unit))
		f, err := j.Fact(t.Context(), judge.Case{Question: "When?", Reference: "Sanba hit Korea in 2012.", Answer: long})
		check.True(t, err == nil && f.Value == 0, "%.10q: %+v, %v", unit, f, err)
		_, err = j.Summary(t.Context(), judge.Case{Statements: []string{"Sanba hit Korea.", "!"}, Answer: long})
		check.True(t, err == nil, "%.10q: %v", unit, err)
	}
	f, _ := j.Fact(t.Context(), judge.Case{Reference: "Sanba hit Korea.", Answer: "S\u200ban\u00adba h\u2060it K\ufefforea."})
	check.Equal(t, f.Value, 1, "invisible characters split words: %+v", f)
}

func TestF1(t *testing.T) {
	for _, tt := range []struct{ recall, precision, want judge.Verdict }{
		{judge.Score(2.0/3, ""), judge.Score(0.5, ""), judge.Score(4.0/7, "")}, // the F1 is 2·⅔·½ / (⅔+½)
		{judge.Score(0, ""), judge.Score(0, ""), judge.Score(0, "")},
		{judge.Score(1, ""), judge.NoScore("x"), judge.NoScore("x")},
		{judge.NoScore("y"), judge.Score(1, ""), judge.NoScore("y")},
		{judge.Score(1, ""), judge.Verdict{State: judge.NotApplicable}, judge.Verdict{State: judge.NotApplicable}},
	} {
		got := judge.SummaryJudgment{Recall: tt.recall, Precision: tt.precision}.F1()
		diff := got.Value - tt.want.Value
		check.True(t, got.State == tt.want.State && diff <= 1e-15 && diff >= -1e-15, "F1(%v, %v) = %v, want %v", tt.recall, tt.precision, got, tt.want)
	}
}

// Sentences of a summary need not repeat the name in the question, and must not contain another.
func TestTopicOfSummary(t *testing.T) {
	c := judge.Case{Question: "What damage did Typhoon Sanba do in 2012?", Statements: []string{"Typhoon Sanba destroyed 67 houses in South Korea in 2012."}}
	for answer, want := range map[string]float64{
		"In South Korea 67 houses were destroyed.": 1, "In South Korea 12 houses were destroyed.": 0, "It destroyed 67 houses in Japan.": 0,
	} {
		c.Answer = answer
		s, err := newJudge(t, judge.Options{}).Summary(t.Context(), c)
		check.True(t, err == nil && s.Recall.Value == want, "%q: %+v, %v", answer, s, err)
	}
}

// A gold statement of two facts is met by sentences with one fact each, but not if one is missing, or is about
// something else.
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
		"the first alone":     {lights, bellRock + " " + plymouth, false, 0},
		"the second alone":    {lights, skerryvore + " " + plymouth, false, 0},
		"the year of another": {lights, bellRock + " The Skerryvore lighthouse is made of pink granite. Cordouan was lit on 1 February 1844 by Jules Brebner.", false, 0},
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
			check.True(t, err == nil && (s.Recall.Value == 1) == tt.met && s.Counts.PredictedMet == tt.supported, "%+v, %v", s, err)
			check.True(t, name != "twice alone" || len(s.Matches) == 2, "%+v: want both that state it alone", s.Matches)
		})
	}
}

// For real questions a reference is a right answer to itself; with another digit, or as an answer to another
// question, it is wrong.
func TestLexicalOnRealReferences(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "QA", "*", "questions.jsonl"))
	check.Must(t, err == nil && len(files) != 0, "no questions: %v", err)
	var cases []judge.Case
	for _, file := range files {
		f := check.Of(os.Open(file)).OK(t)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var q struct{ Question, Answer string }
			check.OK(t, json.Unmarshal(lines.Bytes(), &q))
			if q.Answer != "" {
				cases = append(cases, judge.Case{Question: q.Question, Reference: q.Answer})
			}
		}
		_ = f.Close() // the file is only read
	}
	j := newJudge(t, judge.Options{})
	own, others, numbers, misread := 0, 0, 0, 0
	for i, c := range cases {
		c.Answer = c.Reference
		v := check.Of(j.Fact(t.Context(), c)).OK(t)
		if own += int(v.Value); v.Value == 0 {
			t.Logf("not its own answer: %q: %s", c.Reference, v.Reason)
		}
		if at := strings.LastIndexAny(c.Reference, "0123456789"); at >= 0 {
			numbers++
			c.Answer = c.Reference[:at] + string('0'+(c.Reference[at]-'0'+5)%10) + c.Reference[at+1:]
			v = check.Of(j.Fact(t.Context(), c)).OK(t)
			if misread += int(v.Value); v.Value == 1 {
				t.Logf("another number passes: %q: %q", c.Question, c.Answer)
			}
		}
		c.Answer = cases[(i+1)%len(cases)].Reference
		v = check.Of(j.Fact(t.Context(), c)).OK(t)
		if others += int(v.Value); v.Value == 1 {
			t.Logf("answered by the next: %q: %q (%s)", c.Reference, c.Answer, v.Reason)
		}
	}
	t.Logf("%d references: %d answer themselves, %d are answered by the next one; of %d with a changed digit %d pass", len(cases), own, others, numbers, misread)
	check.True(t, own >= len(cases)*99/100 && others <= len(cases)/100 && misread <= numbers/5,
		"%d of %d references answer themselves, %d are answered by the next one, %d of %d pass with a changed digit", own, len(cases), others, misread, numbers)
}

// The lexical judge needs no model: it suits tests and first looks.
func Example() {
	j, err := lexical.New(judge.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	fact, _ := j.Fact(ctx, judge.Case{
		Reference: "Typhoon Sanba made landfall over South Korea on September 17.",
		Answer:    "On 17 September Typhoon Sanba made landfall over South Korea.",
	})
	fmt.Println("fact:", fact.Value)

	summary, _ := j.Summary(ctx, judge.Case{
		Statements: []string{"Sanba formed in September 2012.", "Sanba hit South Korea."},
		Answer:     "Sanba hit South Korea. The weather was fine.",
	})
	fmt.Printf("recall %.2f, precision %.2f, F1 %.2f\n",
		summary.Recall.Value, summary.Precision.Value, summary.F1().Value)
	// Output:
	// fact: 1
	// recall 0.50, precision 0.50, F1 0.50
}
