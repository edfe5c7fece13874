// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Spending is the amount that a system reads, and its cost. Paid tokens are prompts, replies and embeddings,
// whether they were paid now or in an earlier run.
type Spending struct {
	// Turns, Searches and Read are means per question: the turns of an agent (1 for systems that read once),
	// the searches, and all tokens read.
	Turns    float64 `json:"turns"`
	Searches float64 `json:"searches"`
	Read     float64 `json:"tokens_read"`
	// Index is the number of tokens paid for the index, Question the number paid per question, of which Cached
	// were in the provider's cache. IndexMoney and QuestionMoney are their prices, nil if unknown.
	Index         float64  `json:"index_tokens"`
	Question      float64  `json:"question_tokens"`
	Cached        float64  `json:"question_tokens_provider_cached"`
	IndexMoney    *float64 `json:"index_money,omitempty"`
	QuestionMoney *float64 `json:"question_money,omitempty"`
}

// questionCounts are the numbers of questions over which a table spreads the cost of an index.
var questionCounts = []int{100, 1_000, 10_000}

// at returns the cost of a question in tokens if the cost of the index is spread over n questions.
func (s Spending) at(questions int) float64 { return s.Question + s.Index/float64(questions) }

// money returns the same cost in money, nil if a price is unknown.
func (s Spending) money(questions int) *float64 {
	if s.IndexMoney == nil || s.QuestionMoney == nil {
		return nil
	}
	return ref(*s.QuestionMoney + *s.IndexMoney/float64(questions))
}

// spending computes what a system reads and costs; nil if it answered no question.
func spending(run *benchmark.Run, of benchmark.SystemRun) *Spending {
	var out Spending
	var index, answers graphrag.Usage
	n := 0.0
	for _, d := range of.Domains {
		for _, u := range d.Index.Usage {
			index = index.Add(u)
		}
		for _, r := range d.Results {
			if r.Skipped || r.Answer.Error != "" {
				continue
			}
			n++
			answers = answers.Add(r.Answer.Usage)
			turns, searches, read := r.Answer.Effort()
			out.Turns, out.Searches, out.Read = out.Turns+float64(turns), out.Searches+float64(searches), out.Read+float64(read)
		}
	}
	if n == 0 {
		return nil
	}
	out.Turns, out.Searches, out.Read = out.Turns/n, out.Searches/n, out.Read/n
	out.Index, out.Question, out.Cached = float64(index.Tokens()), float64(answers.Tokens())/n, float64(answers.ProviderCached)/n
	if run.Price != nil {
		if a, ok := run.Price(index); ok {
			out.IndexMoney = &a
		}
		if a, ok := run.Price(answers); ok {
			out.QuestionMoney = ref(a / n)
		}
	}
	return &out
}

// spendingTable shows what each system reads and costs for a question, and the charts of it.
func (r *Report) spendingTable() page.Table {
	tokens, money := page.Group{Heading: "Tokens a question, of", Qualified: true}, page.Group{Heading: r.currency + " a question, of", Qualified: true}
	for _, n := range questionCounts {
		tokens.Columns, money.Columns = append(tokens.Columns, display.Digits(n)+" questions"), append(money.Columns, display.Digits(n)+" questions")
	}
	t := page.Table{
		Title:  "What a question costs",
		Groups: []page.Group{{Heading: "A question", Columns: []string{"Turns", "Searches", "Tokens read", "Tokens paid", "Cached by the provider", "Seconds"}}, tokens},
		Notes: []string{"Means over the questions. Tokens read are those of all that was found and put before a model, or stands in the last prompt; tokens paid are prompts, replies and embeddings. " +
			"A question of many bears a part of the index."},
	}
	if r.currency != "" {
		t.Groups = append(t.Groups, money)
	}
	repeated := slices.ContainsFunc(r.Systems, func(s System) bool { return s.Same != nil })
	if repeated {
		t.Groups = append(t.Groups, page.Group{Heading: "Asked again", Columns: []string{"Same verdict %"}})
	}
	for _, s := range r.Systems {
		if s.Spending == nil {
			continue
		}
		p, seconds := *s.Spending, s.QueryMsP50
		if seconds != nil {
			seconds = ref(*seconds / 1000)
		}
		texts := []string{decimal(&p.Turns, 1), decimal(&p.Searches, 1), display.Digits(int(p.Read)), display.Digits(int(p.Question)), display.Digits(int(p.Cached)), decimal(seconds, 2)}
		for _, n := range questionCounts {
			texts = append(texts, display.Digits(int(math.Round(p.at(n)))))
		}
		for _, n := range questionCounts {
			if r.currency != "" {
				texts = append(texts, decimal(p.money(n), 5))
			}
		}
		if repeated {
			texts = append(texts, percent(s.Same))
		}
		addTexts(&t, s.name(), texts...)
	}
	for _, c := range []page.Chart{
		r.costChart("the cost of a question", "tokens a question, of 1,000 questions", func(s Spending) float64 { return math.Round(s.at(1000)) }),
		r.costChart("the cost of the index", "tokens of the index", func(s Spending) float64 { return s.Index }),
	} {
		if n := len(c.Lines); n > 0 && c.Lines[n-2].Points[0].X > 0 {
			t.Charts = append(t.Charts, c)
		}
	}
	return t
}

// costChart has a dot for each system: the leading figure of the ranking over a cost in tokens. A line joins
// the systems for which no other is both better and cheaper.
func (r *Report) costChart(cost, axis string, of func(Spending) float64) page.Chart {
	k := r.rank()
	c := page.Chart{Title: k.figure.words(r.label) + " (%) over " + cost, X: axis, Dots: true}
	var dots []page.Line
	for _, s := range r.Systems {
		m := s.Overall.Types[benchmark.All].estimate(k.figure.key)
		if s.Spending == nil || m.value == nil || !s.compared() || s.Spending.Question == 0 {
			continue
		}
		dots = append(dots, page.Line{Name: s.System, Points: []page.Point{m.point(of(*s.Spending))}})
	}
	if len(dots) < 2 {
		return page.Chart{}
	}
	slices.SortStableFunc(dots, func(a, b page.Line) int {
		return cmp.Or(cmp.Compare(a.Points[0].X, b.Points[0].X), cmp.Compare(b.Points[0].Y, a.Points[0].Y))
	})
	frontier := page.Line{Name: "frontier"}
	for _, d := range dots {
		if n := len(frontier.Points); n == 0 || d.Points[0].Y > frontier.Points[n-1].Y {
			frontier.Points = append(frontier.Points, page.Point{X: d.Points[0].X, Y: d.Points[0].Y})
		}
	}
	c.Lines = append(dots, frontier)
	return c
}

// stageTable shows the tokens and seconds of each step of indexing, for systems whose index used a model.
func (r *Report) stageTable() page.Table {
	t := page.Table{
		Title: "The index by stage", Heading: "System, stage",
		Groups: []page.Group{{Columns: []string{"LLM calls", "Tokens", "Embedded", "Seconds"}}},
		Notes:  []string{"Totals of the run. Seconds are those in which a step, or a call of its model, was under way; steps may have others within them."},
	}
	for _, s := range r.Systems {
		usage, steps := make(map[string]graphrag.Usage), make(map[string]*float64)
		for _, d := range s.Domains {
			for stage, u := range d.Index.ByStage {
				usage[stage] = usage[stage].Add(u)
			}
			for stage, seconds := range d.Index.Steps {
				steps[stage] = ref(deref(steps[stage]) + seconds)
				usage[stage] = usage[stage].Add(graphrag.Usage{})
			}
		}
		for _, stage := range slices.Sorted(maps.Keys(usage)) {
			if u := usage[stage]; s.indexed().Calls > 0 {
				addTexts(&t, s.name()+", "+stage, display.Digits(u.Calls), display.Digits(u.PromptTokens+u.CompletionTokens), display.Digits(u.EmbeddedTokens), decimal(steps[stage], 2))
			}
		}
	}
	return t
}

// Payoff is the number of questions from which a graph pays: it is as good as the best system without a graph,
// and its total cost per question is no higher.
type Payoff struct {
	Graph string `json:"graph"`
	Plain string `json:"plain"`
	// Questions is nil if the graph never pays. Low and High are the numbers at the bounds of the 95 % interval
	// of the saving per question; High is nil if a question may save nothing.
	Questions *float64 `json:"questions,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	// Difference is the figure with the graph minus the figure without. Times is the cost of a question with
	// the graph divided by the cost without.
	Difference float64   `json:"difference"`
	Interval   *Interval `json:"interval,omitempty"`
	Times      float64   `json:"times"`
}

// tokensPaid is the number of tokens that a question costs, as a figure that can be compared.
var tokensPaid = figure{key: "tokens", size: true, of: func(r benchmark.Result) *float64 {
	if r.Skipped || r.Answer.Error != "" {
		return nil
	}
	return ref(float64(r.Answer.Usage.Tokens()))
}}

// payoff compares the best system without a graph with the systems that have one. It is nil if there is no such
// pair, or if no answer costs anything.
func (r *Report) payoff(run *benchmark.Run) *Payoff {
	f := r.rank().figure
	value := func(i int) *float64 { return r.Systems[i].Overall.Types[benchmark.All].estimate(f.key).value }
	plain, graphs := -1, []int(nil)
	for i, s := range r.Systems {
		switch v := value(i); {
		case v == nil || f.of == nil || !s.compared() || s.Spending == nil || s.Spending.Question == 0:
		case slices.ContainsFunc(s.Domains, func(d Domain) bool { return d.Index.Entities > 0 }):
			graphs = append(graphs, i)
		case plain < 0 || *v > *value(plain):
			plain = i
		}
	}
	if plain < 0 || graphs == nil {
		return nil
	}
	without := *r.Systems[plain].Spending
	pays := func(graph int, saved float64) float64 { // least number of questions, by the saving of each
		switch dearer := r.Systems[graph].Spending.Index - without.Index; {
		case *value(graph) < *value(plain) || saved < 0 || saved == 0 && dearer > 0:
			return math.Inf(1)
		case dearer <= 0:
			return 1
		default:
			return math.Ceil(dearer / saved)
		}
	}
	saves := func(i int) float64 { return without.Question - r.Systems[i].Spending.Question }
	best := slices.MinFunc(graphs, func(a, b int) int {
		return cmp.Or(cmp.Compare(pays(a, saves(a)), pays(b, saves(b))), cmp.Compare(*value(b), *value(a)))
	})
	out := &Payoff{Graph: r.Systems[best].System, Plain: r.Systems[plain].System, Difference: *value(best) - *value(plain), Times: r.Systems[best].Spending.Question / without.Question}
	if p, err := f.compare(run.Systems[plain], run.Systems[best]); err == nil && p.Low != nil {
		out.Interval = &Interval{*p.Low, *p.High}
	}
	known := func(n float64) *float64 {
		if math.IsInf(n, 1) {
			return nil
		}
		return &n
	}
	out.Questions = known(pays(best, saves(best)))
	if p, err := tokensPaid.compare(run.Systems[best], run.Systems[plain]); err == nil && p.Low != nil && out.Questions != nil {
		out.Low, out.High = known(pays(best, *p.High)), known(pays(best, *p.Low))
	}
	return out
}

// sentence describes the payoff; "" if it is nil.
func (p *Payoff) sentence() string {
	if p == nil {
		return ""
	}
	more := fmt.Sprintf("%+.1f points", 100*p.Difference)
	if p.Interval != nil {
		more += fmt.Sprintf(", 95 %% interval %+.1f to %+.1f", 100*p.Interval[0], 100*p.Interval[1])
	}
	switch {
	case p.Questions == nil && p.Difference >= 0:
		return fmt.Sprintf("A graph saves nothing here at any number of questions: %s costs %.1f times as much a question as %s, without a graph, and has %s.", p.Graph, p.Times, p.Plain, more)
	case p.Questions == nil && p.Interval != nil && p.Interval[1] >= 0:
		return fmt.Sprintf("Whether a graph pays here cannot be told: %s has %s beside %s, the best without one, and costs %.1f times as much a question.", p.Graph, more, p.Plain, p.Times)
	case p.Questions == nil:
		return fmt.Sprintf("A graph does not pay here: the best without one, %s, answers better than %s (%s).", p.Plain, p.Graph, more)
	}
	sure := "too few questions for an interval"
	if p.Low != nil {
		high := "never"
		if p.High != nil {
			high = display.Digits(int(*p.High))
		}
		sure = fmt.Sprintf("95 %% interval %s to %s", display.Digits(int(*p.Low)), high)
	}
	return fmt.Sprintf("A graph pays here from %s on (%s): from there %s costs no more than %s, without a graph, and has %s.", display.Counted(int(*p.Questions), "question"), sure, p.Graph, p.Plain, more)
}
