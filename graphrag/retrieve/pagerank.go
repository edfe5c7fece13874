// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// asked is the memory of one question.
type asked struct {
	ask
	spender
	query   []bm25.Term
	passage []float64 // scores of passages
	fields  []float64 // scores of pages beside their passages
	more    []float64
	score   []float64 // of pages
	best    []int32   // passage of each page
	order   []rank.Scored[int32]
	aspects
}

// rank scores the pages that have to do with a question, and orders them, best first.
func (p *Pages) rank(ctx context.Context, a *asked, q graphrag.Question, read text.Wording) ([]rank.Scored[int32], error) {
	standard := text.Default()
	a.ask.clear()
	a.named = nil
	a.ask.add(p.units, standard, read.Words, 1)
	a.ask.add(p.units, standard, read.Names, p.o.Names)
	a.query = a.ask.query(p.units, a.query)
	a.passage = p.body.ScoresOf(a.query, a.passage)
	if p.o.Like != nil && p.o.Likeness > 0 {
		var err error
		if a.more, err = p.o.Like.Scores(ctx, read.Words, a.more); err != nil {
			return nil, err
		}
		for i := range a.passage {
			a.passage[i] += p.o.Likeness * slices.Max(a.more[p.tiles[2*i]:p.tiles[2*i+1]])
		}
	}
	a.fields = p.title.Scores(read.Words, a.fields)
	for i := range a.fields {
		a.fields[i] *= p.o.Title
	}
	a.more = p.page.Scores(read.Names, a.more)
	add(a.fields, a.more, p.o.Page)
	p.order(a)
	if read.Overview && len(a.order) > 0 {
		if err := p.aspects(ctx, a, q.Text); err != nil {
			return nil, err
		}
		p.order(a)
	}
	if p.o.Follow != nil && len(a.order) > 0 {
		if err := p.follow(ctx, a, q.Text); err != nil {
			return nil, err
		}
	}
	return a.order, nil
}

// follow orders pages by the chance that they have with what leads to them.
func (p *Pages) follow(ctx context.Context, a *asked, question string) error {
	a.more = zeros(a.more, len(p.pages))
	sum := 0.0
	for _, x := range a.order {
		right := math.Exp((x.Score - a.order[0].Score) / p.o.Spread)
		a.more[x.ID] = right
		sum += right
	}
	for i := range a.more {
		a.more[i] /= sum
	}
	right, err := p.o.Follow(ctx, question, a.more)
	if err != nil {
		return err
	}
	if len(right) != len(p.pages) {
		return fmt.Errorf("retrieve: pages: Follow gave %d chances for %d pages", len(right), len(p.pages))
	}
	a.order = a.order[:0]
	for i, x := range right {
		if x > 0 && p.first[i] < p.first[i+1] {
			a.score[i] = p.o.Spread * math.Log(x)
			a.order = append(a.order, rank.Scored[int32]{ID: int32(i), Score: a.score[i]})
		}
	}
	slices.SortFunc(a.order, rank.Compare)
	return nil
}

// add adds weighted scores to others.
func add(to, scores []float64, weight float64) {
	for i, s := range scores {
		to[i] += weight * s
	}
}

// order puts together the scores of pages, and orders those that have any.
func (p *Pages) order(a *asked) {
	n := len(p.pages)
	a.best, a.score, a.order = zeros(a.best, n), zeros(a.score, n), a.order[:0]
	for i := range p.pages {
		from, to := p.first[i], p.first[i+1]
		if from == to {
			continue
		}
		best := from
		for c := from + 1; c < to; c++ {
			if a.passage[c] > a.passage[best] {
				best = c
			}
		}
		a.best[i] = best
		if found := a.passage[best] + a.fields[i]; found != 0 {
			a.score[i] = found - p.o.Length*p.length[i]
			a.order = append(a.order, rank.Scored[int32]{ID: int32(i), Score: a.score[i]})
		}
	}
	slices.SortFunc(a.order, rank.Compare)
}
