// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Triples says which triples there are.
type Triples interface {
	// Neighbors lists, for each triple, triples that share an entity with it, without the triple itself. A
	// hub may have too many; at most limit are returned.
	Neighbors(ctx context.Context, triples []int32, limit int) ([][]int32, error)
	// Scores is the similarity of each chain, its triples put together, to the question:
	// a cosine. Numbers below 0 count as 0.
	Scores(ctx context.Context, chains [][]int32) ([]float64, error)
}

// BeamOptions of [Beam]. Zero values mean the defaults of the paper (GeAR, section 4.2).
type BeamOptions struct {
	Width  int `default:"10" min:"0"` // chains that are kept, b
	Length int `default:"2" min:"0"`  // triples of a chain at most, l
	// Diversity is γ: a chain that is n-th, from 0, of those that grow out of one is
	// worth exp(-min(n, γ)/γ) of its score. 0 means twice Width; [graphrag.Off] is no penalty.
	Diversity float64
	// Neighbors is the number of triples that a chain may grow by at most, those most similar to
	// the question by themselves.
	Neighbors int `default:"100" min:"0"`
}

// Check reports all problems of the options.
func (o BeamOptions) Check() error { return o.fill() }

// Defaults returns the options with zero values replaced by their defaults.
func (o BeamOptions) Defaults() BeamOptions {
	_ = o.fill() // Check reports it
	return o
}

// fill replaces zero values by their defaults and checks the options.
func (o *BeamOptions) fill() error {
	c := opt.Checks{Of: "graph: beam"}
	c.Fill(o)
	if o.Diversity != graphrag.Off {
		opt.Min(&c, "Diversity", o.Diversity, 0)
	}
	o.Diversity = cmp.Or(o.Diversity, 2*float64(o.Width))
	return c.Err()
}

// Chain is a chain of triples, each a neighbor of the one before.
type Chain struct {
	Triples []int32
	Score   float64
}

// Beam returns the best chains that start with one of the triples, best first. Of equal ones the one with
// the smaller numbers comes first. Start may name a triple twice; without any there are no chains. No chain
// grows by a triple that any of the chains contains, as the paper writes it; chains that cannot grow stay,
// with their score, where they would vanish in the paper.
func Beam(ctx context.Context, g Triples, start []int32, o BeamOptions) ([]Chain, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := beamSearch{g, o}
	kept, err := s.begin(ctx, start)
	for range s.o.Length - 1 {
		if err != nil || len(kept) == 0 {
			break
		}
		kept, err = s.step(ctx, kept)
	}
	if err != nil {
		return nil, fmt.Errorf("graph: beam: %w", err)
	}
	return kept, nil
}

// FlattenChains returns the triples of the chains breadth-first: the first of each, then
// the second of each, and so on, each triple once.
func FlattenChains(chains []Chain) []int32 {
	lists := make([][]int32, len(chains))
	for i, c := range chains {
		lists[i] = c.Triples
	}
	return rank.Interleave(lists...)
}

type beamSearch struct {
	g Triples
	o BeamOptions
}

// begin makes the first beams of the triples a search starts with.
func (s beamSearch) begin(ctx context.Context, start []int32) ([]Chain, error) {
	start = slices.Clone(start)
	slices.Sort(start)
	var chains []Chain
	for _, t := range slices.Compact(start) {
		chains = append(chains, Chain{Triples: []int32{t}})
	}
	if err := s.score(ctx, chains); err != nil {
		return nil, err
	}
	return s.best(chains), nil
}

// step grows every beam by one triple and keeps the best results.
func (s beamSearch) step(ctx context.Context, beams []Chain) ([]Chain, error) {
	neighbors, err := s.neighbors(ctx, beams)
	if err != nil {
		return nil, err
	}
	var grown []Chain
	ends := []int{0} // of the chains that grow out of each beam
	for i, b := range beams {
		for _, t := range neighbors[i] {
			grown = append(grown, Chain{append(slices.Clone(b.Triples), t), b.Score})
		}
		ends = append(ends, len(grown))
	}
	if err := s.score(ctx, grown); err != nil {
		return nil, err
	}
	for i := range beams {
		from := grown[ends[i]:ends[i+1]] // chains that grew out of one, penalised by rank
		slices.SortFunc(from, compareChains)
		for n := range from {
			if gamma := s.o.Diversity; gamma != graphrag.Off {
				from[n].Score *= math.Exp(-min(float64(n), gamma) / gamma)
			}
		}
		if ends[i] == ends[i+1] {
			grown = append(grown, beams[i])
		}
	}
	return s.best(grown), nil
}

// neighbors are the triples that each beam may grow by.
func (s beamSearch) neighbors(ctx context.Context, beams []Chain) ([][]int32, error) {
	last := make([]int32, len(beams))
	held := map[int32]bool{}
	for i, b := range beams {
		last[i] = b.Triples[len(b.Triples)-1]
		for _, t := range b.Triples {
			held[t] = true
		}
	}
	// Triples of the beams may be among the neighbors, so more are asked for.
	found, err := s.g.Neighbors(ctx, last, s.o.Neighbors+len(held))
	if err == nil && len(found) != len(last) {
		err = fmt.Errorf("neighbors of %d triples came for %d", len(found), len(last))
	}
	if err != nil {
		return nil, err
	}
	for i := range beams {
		free := make([]int32, 0, len(found[i]))
		for _, t := range found[i] {
			if !held[t] {
				free = append(free, t)
			}
		}
		slices.Sort(free)
		if found[i], err = s.cap(ctx, slices.Compact(free)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// cap keeps of too many neighbors those most similar to the question by themselves.
func (s beamSearch) cap(ctx context.Context, triples []int32) ([]int32, error) {
	if len(triples) <= s.o.Neighbors {
		return triples, nil
	}
	alone := make([]Chain, len(triples))
	for i, t := range triples {
		alone[i].Triples = []int32{t}
	}
	if err := s.score(ctx, alone); err != nil {
		return nil, err
	}
	ranked := make([]rank.Scored[int32], len(alone))
	for i, c := range alone {
		ranked[i] = rank.Scored[int32]{ID: c.Triples[0], Score: c.Score}
	}
	for i, r := range rank.Best(ranked, s.o.Neighbors) {
		triples[i] = r.ID
	}
	return triples[:s.o.Neighbors], nil
}

// score adds to the score of each chain its score as a whole.
func (s beamSearch) score(ctx context.Context, chains []Chain) error {
	if len(chains) == 0 {
		return ctx.Err()
	}
	triples := make([][]int32, len(chains))
	for i, c := range chains {
		triples[i] = c.Triples
	}
	scores, err := s.g.Scores(ctx, triples)
	if err == nil && len(scores) != len(chains) {
		err = fmt.Errorf("scores of %d chains came for %d", len(scores), len(chains))
	}
	if err != nil {
		return err
	}
	for i, score := range scores {
		// The penalty is a factor: it would make a negative score a better one.
		chains[i].Score += max(score, 0)
	}
	return nil
}

// best keeps the width of the beam. Most chains are worth less than the last of it, and are not sorted.
func (s beamSearch) best(chains []Chain) []Chain {
	var top rank.Top[int32]
	top.Reset(s.o.Width)
	for i, c := range chains {
		top.Push(int32(i), c.Score)
	}
	least := top.Threshold()
	chains = slices.DeleteFunc(chains, func(c Chain) bool { return c.Score < least })
	slices.SortFunc(chains, compareChains)
	return chains[:min(len(chains), s.o.Width)]
}

func compareChains(a, b Chain) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.Triples, b.Triples))
}
