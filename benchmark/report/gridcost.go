// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark/page"
)

// constructionTable is Figure 5, with the plots of Figure 6.
func (g *gridReport) constructionTable() Table {
	t := Table{Title: "Construction" + g.on(), Notes: []string{
		"Prompt and completion tokens of the index, those of them that describe communities, and the seconds that all of it took, once for each data set.",
	}}
	for _, set := range g.sets {
		t.Groups = append(t.Groups, ColumnGroup{g.Title(set), []string{"Tokens", "Communities", "Seconds"}, true})
		if c := g.pareto(set); len(c.Lines) > 0 {
			t.charts = append(t.charts, c)
		}
	}
	for _, s := range g.systems() {
		if s.NotApplicable != "" {
			t.addTexts(s.name())
			continue
		}
		var texts []string
		for _, set := range g.sets {
			c := g.built[cellKey{0, set, s.System, 0}]
			texts = append(texts, count(c.tokens()), count(c.Community.PromptTokens+c.Community.CompletionTokens), decimal(c.Seconds, 1))
		}
		t.addTexts(s.name(), texts...)
	}
	if len(t.charts) == 0 {
		t.Notes = append(t.Notes, "No index took a token: there is no trade with accuracy to draw.")
	}
	return t
}

// tokens are those of chats; embedded ones are another price.
func (c Construction) tokens() int { return c.Usage.PromptTokens + c.Usage.CompletionTokens }

// pareto is Figure 6: accuracy over the tokens of the construction, and the front of
// the systems than which none is better for less. It has no line where nothing took a
// token.
func (g *gridReport) pareto(set string) page.Chart {
	p := page.Chart{Title: fmt.Sprintf("%saccuracy (%%) on %s over tokens of construction", g.label().prefix(), g.Title(set)), X: "tokens"}
	type point struct {
		tokens int
		m      measured
	}
	var points []point
	most := 0
	for _, s := range g.systems() {
		m := g.cells[cellKey{0, set, s.System, g.TopK[0]}].measured("accuracy")
		c := g.built[cellKey{0, set, s.System, 0}]
		if m.value == nil || !s.compared() {
			continue
		}
		m.interval = nil
		points = append(points, point{c.tokens(), m})
		most = max(most, c.tokens())
		addPoint(&p, s.System, c.tokens(), m)
	}
	if most == 0 {
		return page.Chart{}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.tokens, b.tokens), cmp.Compare(*b.m.value, *a.m.value))
	})
	best := math.Inf(-1)
	for _, q := range points {
		if *q.m.value > best {
			best = *q.m.value
			addPoint(&p, "Pareto front", q.tokens, q.m)
		}
	}
	return p
}

// trafficTable is what the answers took, over all data sets of the first trial.
func (g *gridReport) trafficTable() Table {
	if len(g.reports) == 0 {
		return Table{}
	}
	t := g.reports[0].costTable()
	t.Title = "Cost of the first column"
	return t
}
