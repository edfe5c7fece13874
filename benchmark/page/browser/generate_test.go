// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
)

var (
	systemNames = []string{"walker", "lister", "finder", "reader", "dreamer", "guesser"}
	domainNames = []string{"birds", "ships", "comets", "rivers"}
	syllables   = strings.Fields("ka lo mi ra ten dor sel um bri fa gos hin jal ked nop vu")
)

func prose(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		for range 1 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

func share(f float64) *float64 { return &f }

// generated is a made-up run of six systems, each worse than the one before, and questions of three types, the
// last with statements. It is no result.
func generated(questions int) *page.Page {
	r := rand.New(rand.NewPCG(7, 11))
	run := &page.Run{Domains: domainNames, Types: []page.Type{{Title: "Single-Fact", Fact: true}, {Title: "Multi-Fact", Fact: true}, {Title: "Summary"}}}
	for _, name := range systemNames {
		run.Systems = append(run.Systems, page.System{Name: name})
	}
	for i := range questions {
		q := page.Question{
			ID: fmt.Sprint("q", i), Domain: i % 4, Type: i % 3, Text: fmt.Sprintf("Why does number %d %s?", i, prose(r, 14)),
			Statements: []string{prose(r, 12)}, Gold: [][]string{{fmt.Sprintf("Gold page %d.txt", i)}},
		}
		if q.Type == 2 {
			q.Statements = []string{prose(r, 10), prose(r, 10), prose(r, 10)}
		}
		for s := range systemNames {
			q.Answers = append(q.Answers, answer(r, q, i, s))
		}
		run.Questions = append(run.Questions, q)
	}
	for i, m := range []string{"Evidence recall at 5", "Accuracy"} {
		run.Measures = append(run.Measures, page.Measure{
			Key: fmt.Sprint("m", i), Title: m, Help: "A made-up figure.", Class: []string{"level", "level", "level", "probable", "certain", "certain"}, Values: values(r),
		})
	}
	return &page.Page{
		Title: "Made-up run", Summary: "6 systems over made-up questions.", Verdict: "walker leads with 71.0 % evidence recall at 5; of the others 2 are certainly behind, one is probably behind, 2 are level.",
		Certainty: "95 % interval 66.0 to 76.0.", Strong: "Made up.", Note: "Nothing here is a result.", Run: run,
		Tables: []page.Table{
			{
				Title: "Cost", Heading: "System", Groups: []page.Group{{Heading: "Tokens", Columns: []string{"Prompt", "Reply"}}, {Heading: "Time", Columns: []string{"p (Holm)"}}},
				Rows: []page.Row{{Name: "walker", Cells: []page.Cell{{Text: "1"}, {Text: "2", Best: true}, {Text: "3", Interval: "1–4"}}}}, Notes: []string{"A note."},
				Charts: []page.Chart{
					{Title: "Lines", X: "k", Lines: []page.Line{{Name: "walker", Points: []page.Point{{X: 1, Y: 80, Low: share(70), High: share(90)}, {X: 10, Y: 20}}}}},
				},
			},
		},
		Settings: []page.Setting{{Name: "kit", Value: "none"}},
	}
}

func values(r *rand.Rand) [][][]page.Value {
	var out [][][]page.Value
	for range len(domainNames) + 1 {
		var types [][]page.Value
		for range 4 {
			var systems []page.Value
			for s := range systemNames {
				v := .71 - .08*float64(s) + .04*r.Float64()
				systems = append(systems, page.Value{Mean: share(v), Low: share(v - .05), High: share(v + .05)})
			}
			types = append(types, systems)
		}
		out = append(out, types)
	}
	return out
}

func answer(r *rand.Rand, q page.Question, i, s int) page.Answer {
	a := page.Answer{Text: prose(r, 40), Reason: "it says " + prose(r, 4), Costs: page.Costs{Context: 1000 + r.IntN(5000), Millis: 3 + 100*r.Float64()}}
	gold := r.IntN(14) // rank of the gold page, if found
	a.Found = share(0)
	if gold < 5 {
		a.Found = share(1)
	}
	for n := range 10 {
		doc := fmt.Sprintf("Page %d of %s.txt", r.IntN(300), domainNames[q.Domain])
		if n == gold {
			doc = q.Gold[0][0]
		}
		a.Ranked = append(a.Ranked, record.Ranked{Doc: doc, Chunk: doc + "#000001", Score: 20 - float64(n)})
		if n < 6 {
			text := prose(r, 40)
			a.Passages = append(a.Passages, page.Passage{Doc: doc, Tokens: 200, Text: text, Quotes: [][2]int{{10, 40}}})
		}
	}
	a.Citations = []page.Citation{{Start: 0, End: 20, Passage: 0}, {Start: 15, End: 60, Passage: 2}}
	switch roll := r.IntN(10 + 2*s); {
	case i%50 == 13 && s == 5:
		return page.Answer{} // the question was not asked
	case roll == 9:
		a.State = page.Refused
	case roll == 8 && i%7 == 0:
		return page.Answer{State: page.Failed, Reason: "the server is down", Costs: page.Costs{Context: -1}}
	case q.Type == 2:
		a.State, a.Score, a.Verdict = page.Scored, share(float64(roll%4)/3), "recall 1, precision 1"
		a.Predicted, a.Matches = []string{prose(r, 8), prose(r, 8)}, [][2]int{{0, 1}}
	case roll < 5:
		a.State, a.Score = page.Right, share(1)
	default:
		a.State, a.Score = page.Wrong, share(0)
	}
	return a
}

// The filters implemented again, from the words of docs/report.md.

func answered(a page.Answer) bool {
	return a.State == page.Right || a.State == page.Scored && *a.Score > 0
}

func judged(a page.Answer) bool {
	return a.State == page.Right || a.State == page.Wrong || a.State == page.Scored || a.State == page.Refused
}

func found(a page.Answer) bool { return a.Found != nil && *a.Found > 0 }

func lost(a page.Answer) bool { return judged(a) && !answered(a) && found(a) }

func failing(a page.Answer) bool { return judged(a) && !answered(a) }

// count counts the questions that pass.
func count(p *page.Page, pass func(page.Question) bool) int {
	n := 0
	for _, q := range p.Run.Questions {
		if pass(q) {
			n++
		}
	}
	return n
}

// of returns whether one system's answer passes a filter.
func of(s int, pass func(page.Answer) bool) func(page.Question) bool {
	return func(q page.Question) bool { return pass(q.Answers[s]) }
}

func disagree(q page.Question) bool {
	right, all := 0, 0
	for _, a := range q.Answers {
		if judged(a) {
			all++
			if answered(a) {
				right++
			}
		}
	}
	return right > 0 && right < all
}
