// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// How statements of an overview are chosen.
const (
	centralPart  = 2.0  // what centrality counts beside what is asked
	summaryFloor = 0.3  // part of the best score that a statement must reach
	sameFact     = 0.7  // likeness from which two statements are one fact
	likeLoss     = 0.25 // loss by likeness to one that is chosen
	pageLoss     = 1.0  // by each that is chosen of the same page
	maxCompared  = 200  // statements that are compared with each other
	minSentence  = 6    // words of a statement
)

// overview returns the statements of an overview: those that are asked for and that
// many others are about as well, no two of them one fact. A statement is central as
// in LexRank (Erkan and Radev 2004), by its likeness to the others, each as much as it
// is asked for.
func (c *corpus) overview(scores []float64, limit int) []int {
	pool := c.statements(scores)
	weights := c.rarities()
	sizes := make([]float64, len(pool))
	for n, i := range pool {
		terms := c.candidates[i].distinct()
		sizes[n] = shared(weights, terms, terms)
	}
	like := func(a, b int) float64 {
		x, y := &c.candidates[pool[a]], &c.candidates[pool[b]]
		return shared(weights, x.terms, y.terms) / max(min(sizes[a], sizes[b]), 1e-9)
	}
	central := make([]float64, len(pool))
	for a := range pool {
		for b := range a {
			if s := like(a, b); s < repeated { // the same again says nothing of how central it is
				central[a] += s * scores[pool[b]]
				central[b] += s * scores[pool[a]]
			}
		}
	}
	most := 1e-9
	if len(central) > 0 {
		most = max(most, slices.Max(central))
	}
	worth := make([]float64, len(pool))
	for n, i := range pool {
		worth[n] = scores[i] * (1 + centralPart*central[n]/most)
	}
	closest := make([]float64, len(pool)) // to one that is chosen
	var chosen []int
	taken := make(map[string]int)
	for len(chosen) < limit {
		next, gain := -1, 0.0
		for n := range pool {
			if g := worth[n] * (1 - likeLoss*closest[n]) / (1 + pageLoss*float64(taken[c.pieces[c.candidates[pool[n]].piece].doc])); closest[n] < sameFact && g > gain {
				next, gain = n, g
			}
		}
		if next < 0 {
			break
		}
		chosen = append(chosen, pool[next])
		taken[c.pieces[c.candidates[pool[next]].piece].doc]++
		closest[next] = 1
		for n := range pool {
			closest[n] = max(closest[n], like(n, next))
		}
	}
	return c.byPage(chosen)
}

// statements are the candidates that can be a statement of an overview, best first:
// whole sentences if there are any.
func (c *corpus) statements(scores []float64) []int {
	var pool, rest []int
	top := slices.Max(scores)
	for i := range c.candidates {
		x := &c.candidates[i]
		switch {
		case scores[i] < summaryFloor*top || x.list:
		case x.quality == 1 && x.words >= minSentence && ends(x.text) && (x.kind == load.Paragraph || x.kind == load.Item || x.kind == load.Definition):
			pool = append(pool, i)
		default:
			rest = append(rest, i)
		}
	}
	if len(pool) == 0 {
		pool = rest
	}
	slices.SortStableFunc(pool, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return pool[:min(len(pool), maxCompared)]
}

// rarities are the weights of all terms by how many candidates have them.
func (c *corpus) rarities() []float64 {
	out := make([]float64, len(c.lexicon.met))
	for i := range c.candidates {
		for _, t := range c.candidates[i].distinct() {
			out[t]++
		}
	}
	for t, df := range out {
		if t < c.q.terms {
			out[t] = 0
			continue
		}
		out[t] = rarity(df, float64(len(c.candidates)))
	}
	return out
}

// shared is the weight of the terms that two rising lists share.
func shared(weights []float64, a, b []int32) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			sum += weights[a[i]]
			i++
			j++
		}
	}
	return sum
}

// byPage groups chosen candidates by page, the page of the first one first.
func (c *corpus) byPage(chosen []int) []int {
	first := make(map[string]int)
	for n, i := range chosen {
		if doc := c.pieces[c.candidates[i].piece].doc; first[doc] == 0 {
			first[doc] = n + 1
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int {
		return cmp.Compare(first[c.pieces[c.candidates[a].piece].doc], first[c.pieces[c.candidates[b].piece].doc])
	})
	return chosen
}
