// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Plan names aspects of an overview: parts of the subject that its question does not name,
// each a query. titles are those of the pages found for the question, best first. Aspects
// beyond [MaxAspects] are ignored.
type Plan func(ctx context.Context, question string, titles []string) ([]string, error)

// MaxAspects is how many aspects of an overview are searched for. A summary of
// WildGraphBench has five statements on average.
const MaxAspects = 8

// Relevance feedback: the number of best passages and of best pages that terms are taken
// from, and the number of terms that are searched for. docs/systems.md has other settings.
const (
	aspectPassages = 10
	aspectPages    = 20
	aspectTerms    = 100
	planTitles     = 20
)

// aspects is the reused memory of the further searches of an overview.
type aspects struct {
	weight  []float64 // of each term
	count   []int32   // of each term in a page
	here    []int32   // terms of a page
	seen    []int32   // terms with a weight
	come    []rank.Scored[int32]
	named   []string  // by the plan
	planned []float64 // of each passage
}

// aspects adds the scores of the aspects of an overview.
func (p *Pages) aspects(ctx context.Context, a *asked, question string) error {
	if p.o.Aspects > 0 {
		a.query = a.query[:0]
		p.comes(a, aspectPassages, func(page int32) (from, end int) {
			first := int(a.best[page] - p.first[page])
			return first, p.pages[page].Ends[first]
		})
		p.comes(a, aspectPages, func(page int32) (from, end int) { return 0, len(p.pages[page].Units) })
	}
	if err := p.plan(ctx, a, question); err != nil {
		return err
	}
	if p.o.Aspects > 0 {
		a.more = p.body.ScoresOf(a.query, a.more)
		add(a.passage, a.more, p.o.Aspects)
		if p.o.Title > 0 {
			a.more = p.title.ScoresOf(a.query, a.more)
			add(a.fields, a.more, p.o.Aspects)
		}
	}
	return nil
}

// comes adds to the query the terms that co-occur with the subject in the given units of the
// best pages. Their weights are the sum over pages of the probability of relevance and the
// saturated frequency, times the IDF, scaled so that the first has 1.
func (p *Pages) comes(a *asked, pages int, of func(page int32) (from, end int)) {
	best := a.order[0].Score
	a.seen, a.come = a.seen[:0], a.come[:0]
	for _, x := range a.order[:min(len(a.order), pages)] {
		from, end := of(x.ID)
		unit := p.units.first[x.ID]
		a.here = a.here[:0]
		for _, t := range p.units.across(unit+from, unit+end) {
			if a.number[t] != 0 {
				continue // of the question
			}
			if a.count[t] == 0 {
				a.here = append(a.here, t)
			}
			a.count[t]++
		}
		right := math.Exp((x.Score - best) / p.o.OverviewSpread)
		for _, t := range a.here {
			if a.weight[t] == 0 {
				a.seen = append(a.seen, t)
			}
			a.weight[t] += right * float64(a.count[t]) / float64(a.count[t]+1)
			a.count[t] = 0
		}
	}
	for _, t := range a.seen {
		a.come = append(a.come, rank.Scored[int32]{ID: t, Score: a.weight[t] * p.units.rarity(t)})
		a.weight[t] = 0
	}
	for i, x := range rank.Best(a.come, aspectTerms) {
		if i == 0 {
			best = x.Score
		}
		a.query = append(a.query, bm25.Term{Text: string(p.units.terms.At(int(x.ID))), Weight: x.Score / best})
	}
}

// plan adds the gains of passages by the planned aspects. Scores are divided by the best of
// each aspect, so that no aspect displaces the pages of another.
func (p *Pages) plan(ctx context.Context, a *asked, question string) error {
	if p.o.Plan == nil || p.o.Planned == 0 {
		return nil
	}
	var titles []string
	for _, x := range a.order {
		if t := p.pages[x.ID].Title; t != "" && !slices.Contains(titles, t) {
			titles = append(titles, t)
		}
		if len(titles) == planTitles {
			break
		}
	}
	named, err := p.o.Plan(ctx, question, titles)
	if err != nil {
		return fmt.Errorf("retrieve: pages: planning aspects: %w", err)
	}
	a.named = named[:min(len(named), MaxAspects)]
	a.planned = zeros(a.planned, len(p.passages))
	for _, aspect := range a.named {
		a.more = p.body.Scores(text.ReadQuestion(aspect).Words, a.more)
		if best := slices.Max(a.more); best > 0 {
			for i, s := range a.more {
				a.planned[i] = max(a.planned[i], s/best)
			}
		}
	}
	add(a.passage, a.planned, p.o.Planned)
	return nil
}
