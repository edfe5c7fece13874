// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Spending is what a system reads and costs. Tokens that were paid are those of prompts,
// replies and embeddings, whether paid now or in an earlier run.
type Spending struct {
	// Turns, Searches and Read are means over the questions: turns of an agent (1 of systems
	// that read once), searches, and tokens read in all.
	Turns    float64 `json:"turns"`
	Searches float64 `json:"searches"`
	Read     float64 `json:"tokens_read"`
	// Index are the tokens paid for the index, Question those for a question, of which the
	// provider had Cached at hand; IndexMoney and QuestionMoney are their price, nil where it
	// is not known.
	Index         float64  `json:"index_tokens"`
	Question      float64  `json:"question_tokens"`
	Cached        float64  `json:"question_tokens_provider_cached"`
	IndexMoney    *float64 `json:"index_money,omitempty"`
	QuestionMoney *float64 `json:"question_money,omitempty"`
}

// spread are the numbers of questions that an index is spread over.
var spread = []int{100, 1_000, 10_000}

// at is the cost of a question, in tokens, if so many are asked over the same corpus.
func (s Spending) at(questions int) float64 { return s.Question + s.Index/float64(questions) }

// money is the same in money.
func (s Spending) money(questions int) *float64 {
	if s.IndexMoney == nil || s.QuestionMoney == nil {
		return nil
	}
	return ref(*s.QuestionMoney + *s.IndexMoney/float64(questions))
}

// spending adds up what a system read and cost.
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

// spendingTable has what a question of each system reads and costs, and the chart.
func (r *Report) spendingTable() page.Table {
	tokens, money := page.Group{Heading: "Tokens a question, of", Qualified: true}, page.Group{Heading: r.currency + " a question, of", Qualified: true}
	for _, n := range spread {
		tokens.Columns, money.Columns = append(tokens.Columns, count(n)+" questions"), append(money.Columns, count(n)+" questions")
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
		texts := []string{decimal(&p.Turns, 1), decimal(&p.Searches, 1), count(int(p.Read)), count(int(p.Question)), count(int(p.Cached)), decimal(seconds, 2)}
		for _, n := range spread {
			texts = append(texts, count(int(math.Round(p.at(n)))))
		}
		for _, n := range spread {
			if r.currency != "" {
				texts = append(texts, decimal(p.money(n), 5))
			}
		}
		if repeated {
			texts = append(texts, percent(s.Same))
		}
		addTexts(&t, s.name(), texts...)
	}
	if c := r.costChart(); len(c.Lines) > 0 {
		t.Charts = []page.Chart{c}
	}
	return t
}

// frontierName is that of the line that joins the systems which nothing beats.
const frontierName = "frontier"

// costChart has a dot for each system: the first figure of the ranking over the tokens of a
// question among a thousand, in thousands; those that no other one beats in both are joined.
func (r *Report) costChart() page.Chart {
	k := r.rank()
	c := page.Chart{Title: k.figure.words(r.label) + " (%) over the cost of a question", X: "tokens a question, of 1,000 questions", Dots: true}
	var dots []page.Line
	for _, s := range r.Systems {
		m := s.Overall.Types.measured(benchmark.All, k.figure.key)
		if s.Spending == nil || m.value == nil || !s.compared() || s.Spending.Question == 0 {
			continue
		}
		p := page.Point{X: math.Round(s.Spending.at(1000)), Y: 100 * *m.value}
		if m.interval != nil {
			p.Low, p.High = ref(100*m.interval[0]), ref(100*m.interval[1])
		}
		dots = append(dots, page.Line{Name: s.System, Points: []page.Point{p}})
	}
	if len(dots) < 2 {
		return page.Chart{}
	}
	slices.SortStableFunc(dots, func(a, b page.Line) int {
		return cmp.Or(cmp.Compare(a.Points[0].X, b.Points[0].X), cmp.Compare(b.Points[0].Y, a.Points[0].Y))
	})
	frontier := page.Line{Name: frontierName}
	for _, d := range dots {
		if n := len(frontier.Points); n == 0 || d.Points[0].Y > frontier.Points[n-1].Y {
			frontier.Points = append(frontier.Points, page.Point{X: d.Points[0].X, Y: d.Points[0].Y})
		}
	}
	c.Lines = append(dots, frontier)
	return c
}

// Payoff says from how many questions on a graph pays: from there a question costs no more
// with the graph than with the best system without one, and is answered as well.
type Payoff struct {
	Graph string `json:"graph"`
	Plain string `json:"plain"`
	// Questions is nil if it never pays; Low and High are its 95 % interval by the bootstrap
	// over source pages, High is nil where it may never pay.
	Questions *float64 `json:"questions,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	// Difference is how much more of the figure the graph has.
	Difference float64   `json:"difference"`
	Interval   *Interval `json:"interval,omitempty"`
	figure     figure
	costs      float64 // of a question with the graph, as a multiple of that without
}

// draws is the number of samples of the bootstrap.
const draws = 1000

// payoff compares the best system without a graph with those that have one; nil where there
// are not both, or nothing was paid for an answer.
func (r *Report) payoff(run *benchmark.Run) *Payoff {
	k := r.rank()
	var plain, best *contender
	var graphs []*contender
	for i, of := range run.Systems {
		s := r.Systems[i]
		if k.figure.of == nil || !s.compared() || s.Spending == nil || s.Spending.Question == 0 {
			continue
		}
		c := &contender{of: of, spending: *s.Spending, values: make(map[string][]float64)}
		c.gather(k.figure)
		switch m, ok := c.mean(nil); {
		case !ok:
		case s.graph():
			graphs = append(graphs, c)
		case plain == nil || m > plain.all:
			plain = c
		}
	}
	if plain == nil || len(graphs) == 0 {
		return nil
	}
	for _, g := range graphs {
		if best == nil || pays(g, plain, nil) < pays(best, plain, nil) || pays(g, plain, nil) == pays(best, plain, nil) && g.all > best.all {
			best = g
		}
	}
	out := &Payoff{Graph: best.of.Name, Plain: plain.of.Name, Difference: best.all - plain.all, figure: k.figure, costs: best.spending.Question / plain.spending.Question}
	if p, err := k.figure.compare(plain.of, best.of); err == nil && p.Low != nil {
		out.Interval = &Interval{*p.Low, *p.High}
	}
	if n := pays(best, plain, nil); !math.IsInf(n, 1) {
		out.Questions = &n
		out.bootstrap(best, plain)
	}
	return out
}

// graph tells whether any index of the system has a graph.
func (s System) graph() bool {
	return slices.ContainsFunc(s.Domains, func(d Domain) bool { return d.Index.Entities > 0 })
}

// contender is a system with its figure and its costs by source page.
type contender struct {
	of       benchmark.SystemRun
	spending Spending
	values   map[string][]float64
	costs    map[string][]float64
	all      float64
}

func (c *contender) gather(f figure) {
	c.costs = make(map[string][]float64)
	for _, d := range c.of.Domains {
		for _, r := range d.Results {
			if v := f.of(r); v != nil {
				c.values[source(r)] = append(c.values[source(r)], *v)
				c.costs[source(r)] = append(c.costs[source(r)], float64(r.Answer.Usage.Tokens()))
			}
		}
	}
	c.all, _ = c.mean(nil)
}

// mean is the mean figure over some source pages, all without any.
func (c *contender) mean(pages []string) (float64, bool) { return meanOf(c.values, pages) }

func meanOf(of map[string][]float64, pages []string) (float64, bool) {
	sum, n := 0.0, 0
	if pages == nil {
		pages = sources(of)
	}
	for _, p := range pages {
		for _, v := range of[p] {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

func sources(of map[string][]float64) []string {
	var out []string
	for p := range of {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// pays is from how many questions on a graph pays, infinity if never.
func pays(graph, plain *contender, pages []string) float64 {
	a, _ := graph.mean(pages)
	b, _ := plain.mean(pages)
	with, _ := meanOf(graph.costs, pages)
	without, _ := meanOf(plain.costs, pages)
	dearer := graph.spending.Index - plain.spending.Index
	switch {
	case a < b || with >= without && dearer > 0 || with > without:
		return math.Inf(1)
	case dearer <= 0:
		return 1
	}
	return math.Ceil(dearer / (without - with))
}

func (p *Payoff) bootstrap(graph, plain *contender) {
	pages := sources(graph.values)
	all := make([]float64, draws)
	for i := range all {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		drawn := make([]string, len(pages))
		for j := range drawn {
			drawn[j] = pages[rng.IntN(len(pages))]
		}
		all[i] = pays(graph, plain, drawn)
	}
	slices.Sort(all)
	if low := all[draws/40]; len(pages) >= MinQuestions && !math.IsInf(low, 1) {
		p.Low = &low
		if high := all[draws-1-draws/40]; !math.IsInf(high, 1) {
			p.High = &high
		}
	}
}

// sentence says it in words; "" of nil.
func (p *Payoff) sentence() string {
	if p == nil {
		return ""
	}
	points := fmt.Sprintf("%+.1f points", 100*p.Difference)
	if p.Interval != nil {
		points += fmt.Sprintf(", 95 %% interval %+.1f to %+.1f", 100*p.Interval[0], 100*p.Interval[1])
	}
	switch {
	case p.Questions == nil && p.Difference >= 0:
		return fmt.Sprintf("A graph saves nothing here at any number of questions: %s costs %.1f times as much a question as %s, without a graph, and has %s.", p.Graph, p.costs, p.Plain, points)
	case p.Questions == nil && p.Interval != nil && p.Interval[1] >= 0:
		return fmt.Sprintf("Whether a graph pays here cannot be told: %s has %s beside %s, the best without one, and costs %.1f times as much a question.", p.Graph, points, p.Plain, p.costs)
	case p.Questions == nil:
		return fmt.Sprintf("A graph does not pay here: the best without one, %s, answers better than %s (%s).", p.Plain, p.Graph, points)
	}
	sure := "too few questions for an interval"
	switch {
	case p.Low != nil && p.High != nil:
		sure = fmt.Sprintf("95 %% interval %s to %s", count(int(*p.Low)), count(int(*p.High)))
	case p.Low != nil:
		sure = fmt.Sprintf("95 %% interval %s to never", count(int(*p.Low)))
	}
	return fmt.Sprintf("A graph pays here from %s on (%s): from there %s costs no more than %s, without a graph, and has %s.", plural(int(*p.Questions), "question"), sure, p.Graph, p.Plain, points)
}

// writeCostSVG draws the chart of the costs as a picture; nothing without one.
func (r *Report) writeCostSVG(w io.Writer) error {
	c := r.costChart()
	const width, height, left, bottom, top = 760.0, 420.0, 60.0, 50.0, 30.0
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
			low, high = min(low, p.X), max(high, p.X)
		}
	}
	low, high = math.Log10(max(low, 1)/1.3), math.Log10(max(high, 1)*2)
	x := func(v float64) float64 { return left + (math.Log10(max(v, 1))-low)/(high-low)*(width-left-20) }
	y := func(v float64) float64 { return height - bottom - v/100*(height-bottom-top) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12" role="img"><title>%s</title><rect width="100%%" height="100%%" fill="#fff"/>`, width, height, html.EscapeString(c.Title))
	for v := 0.0; v <= 100; v += 20 {
		fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%.0f</text>`, left, y(v), width-20, left-6, y(v)+4, v)
	}
	for e := math.Ceil(low); e <= high; e++ {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x(math.Pow(10, e)), height-bottom+18, count(int(math.Pow(10, e))))
	}
	for _, l := range c.Lines {
		if l.Name == frontierName {
			b.WriteString(`<polyline fill="none" stroke="#c8742c" stroke-dasharray="4 3" points="`)
			for _, p := range l.Points {
				fmt.Fprintf(&b, "%.1f,%.1f ", x(p.X), y(p.Y))
			}
			b.WriteString(`"/>`)
			continue
		}
		p := l.Points[0]
		if p.Low != nil {
			fmt.Fprintf(&b, `<path d="M%.1f %.1fV%.1f" stroke="#9bb3d4"/>`, x(p.X), y(*p.Low), y(*p.High))
		}
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#3f6fb5"/><text x="%.1f" y="%.1f">%s</text>`, x(p.X), y(p.Y), x(p.X)+7, y(p.Y)-5, html.EscapeString(l.Name))
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="18">%s</text><text x="%.0f" y="%.0f" text-anchor="end">%s; dashed: the frontier</text></svg>`+"\n", left, html.EscapeString(c.Title), width-20, height-8, html.EscapeString(c.X))
	_, err := io.WriteString(w, b.String())
	return err
}
