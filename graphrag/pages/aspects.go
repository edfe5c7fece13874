// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Plan names aspects of an overview: parts of the subject that its question does not name, each a query. titles
// come from the pages found for the question, best first. Aspects beyond [MaxAspects] are ignored.
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

// aspectMemory is the reused memory of the further searches of an overview.
type aspectMemory struct {
	seen    *text.Vocabulary // terms with a weight, in the order in which they are met
	weight  []float64
	count   []int32 // of each term of a segment in a page
	here    []int32 // terms of a page
	come    []rank.Scored[int32]
	named   []string  // by the plan
	planned []float64 // of each passage
}

// aspects adds the scores of the aspects of an overview.
func (p *Retriever) aspects(ctx context.Context, a *queryMemory, question string) error {
	if p.o.Aspects > 0 {
		a.query = a.query[:0]
		p.comes(a, aspectPassages, func(ix *pageIndex, n, best int32) (from, end int) {
			first := int(best - ix.first[n])
			return first, ix.pages[n].Ends[first]
		})
		p.comes(a, aspectPages, func(ix *pageIndex, n, _ int32) (from, end int) { return 0, len(ix.pages[n].Units) })
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
func (p *Retriever) comes(a *queryMemory, pages int, of func(ix *pageIndex, n, best int32) (from, end int)) {
	best := a.order[0].Score
	a.seen, a.weight, a.come = new(text.Vocabulary), a.weight[:0], a.come[:0]
	for _, x := range a.order[:min(len(a.order), pages)] {
		at, n := p.at(x.ID)
		ix, number := p.segments[at].Index, a.number[at]
		from, end := of(ix, n, a.best[x.ID])
		unit := ix.units.first[n]
		a.here = a.here[:0]
		for _, t := range ix.units.across(unit+from, unit+end) {
			if number[t] != 0 {
				continue // of the question
			}
			if a.count[t] == 0 {
				a.here = append(a.here, t)
			}
			a.count[t]++
		}
		relevance := math.Exp((x.Score - best) / p.o.OverviewSpread)
		for _, t := range a.here {
			i, added := a.seen.Add(ix.units.terms.At(int(t)))
			if added {
				a.weight = append(a.weight, 0)
			}
			a.weight[i] += relevance * float64(a.count[t]) / float64(a.count[t]+1)
			a.count[t] = 0
		}
	}
	for i, weight := range a.weight {
		a.come = append(a.come, rank.Scored[int32]{ID: int32(i), Score: weight * p.rarity(a.seen.At(i))})
	}
	for i, x := range rank.Best(a.come, aspectTerms) {
		if i == 0 {
			best = x.Score
		}
		a.query = append(a.query, bm25.Term{Text: string(a.seen.At(int(x.ID))), Weight: x.Score / best})
	}
}

// plan adds the gains of passages by the planned aspects. Scores are divided by the best of
// each aspect, so that no aspect displaces the pages of another.
func (p *Retriever) plan(ctx context.Context, a *queryMemory, question string) error {
	if p.o.Plan == nil || p.o.Planned == 0 {
		return nil
	}
	var titles []string
	for _, x := range a.order {
		at, n := p.at(x.ID)
		if t := p.segments[at].Index.pages[n].Title; t != "" && !slices.Contains(titles, t) {
			titles = append(titles, t)
		}
		if len(titles) == planTitles {
			break
		}
	}
	named, err := p.o.Plan(ctx, question, titles)
	if err != nil {
		return fmt.Errorf("pages: planning aspects: %w", err)
	}
	a.named = named[:min(len(named), MaxAspects)]
	a.planned = zeros(a.planned, len(a.passage))
	for _, aspect := range a.named {
		a.more = p.body.AllScores(text.ReadQuestion(aspect).Words, a.more)
		if best := slices.Max(a.more); best > 0 {
			for i, s := range a.more {
				a.planned[i] = max(a.planned[i], s/best)
			}
		}
	}
	add(a.passage, a.planned, p.o.Planned)
	return nil
}
