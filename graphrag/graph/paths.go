// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// PathOptions are the options of [FindPaths]. The depth is from the paper; it has no other limits.
type PathOptions struct {
	// Depth is the most edges of a path; 0 means 5. MaxPaths is the most paths returned; 0 means 50.
	Depth    int `source:"the paper, section 3.3" default:"5" min:"0"`
	MaxPaths int `default:"50" min:"0"`
	// MaxExpand is the most arcs followed in all; 0 means 5,000. MaxNeighbors is the most arcs of a node that
	// are tried, the best ones; 0 means 100.
	MaxExpand    int `default:"5000" min:"0"`
	MaxNeighbors int `default:"100" min:"0"`
	// Cost is subtracted from the score of a path for each edge.
	Cost float64 `min:"0"`
}

// Check returns an error that lists all invalid options.
func (o PathOptions) Check() error { return o.fill() }

// fill replaces zero values by their defaults and checks the options.
func (o *PathOptions) fill() error {
	checks := opt.Checks{Of: "graph: paths"}
	checks.Fill(o)
	return checks.Err()
}

// ArcScores says how well the arcs of a graph match a question.
type ArcScores struct {
	// Scores contains the similarity of each arc to the question. An arc with minus infinity is not followed.
	Scores []float64
	// Parts contains, for each arc, the bit set of the parts of the question that it matches; Weights contains
	// the value of each part. Both may be nil.
	Parts   []uint64
	Weights []float64
}

// MaxParts is the most parts of a question.
const MaxParts = 64

func (l ArcScores) check(arcs int64) error {
	if int64(len(l.Scores)) != arcs || l.Parts != nil && int64(len(l.Parts)) != arcs {
		return fmt.Errorf("graph: paths: %d scores and %d parts for %d arcs, want one for each arc", len(l.Scores), len(l.Parts), arcs)
	}
	if len(l.Weights) > MaxParts {
		return fmt.Errorf("graph: paths: a question of %d parts, want at most %d", len(l.Weights), MaxParts)
	}
	return nil
}

// Worth returns the sum of the values of parts.
func (l ArcScores) Worth(parts uint64) float64 {
	sum := 0.0
	for ; parts != 0; parts &= parts - 1 {
		if i := bits.TrailingZeros64(parts); i < len(l.Weights) {
			sum += l.Weights[i]
		}
	}
	return sum
}

func (l ArcScores) parts(arc int64) uint64 {
	if l.Parts == nil {
		return 0
	}
	return l.Parts[arc]
}

// Path is a path in a graph that contains no node twice.
type Path struct {
	Start int32
	// Arcs are indexes in the graph's arcs: arc a leads to g.Targets()[a].
	Arcs []int64
	// Score is the mean score of the arcs, plus the values of the parts they match, less the cost of the edges.
	Score float64
}

// FindPaths searches depth first from each start and returns the best paths of at least one edge, best first,
// equal ones in the order in which they were found. A part of the question counts once per path, so that a path
// that matches all parts is better than one that repeats a part: at each node, the arcs that add most to the
// path are tried first. The budget of arcs is divided equally among the starts and then among the neighbours of
// each node, so that no region of the graph uses all of it; an unused share passes to the next neighbour. So
// time and memory are limited by the options and the degrees of the visited nodes, whose arcs are read once.
//
// A start that is no node of g, or scores of another length than its arcs, is an error, as is a cancelled ctx.
// FindPaths is safe for concurrent use.
func FindPaths(ctx context.Context, g *Graph, starts []int32, like ArcScores, o PathOptions) ([]Path, error) {
	if err := errors.Join(o.fill(), like.check(g.Arcs())); err != nil {
		return nil, err
	}
	for _, s := range starts {
		if s < 0 || int(s) >= g.N() {
			return nil, fmt.Errorf("graph: paths: start %d is no node, because the graph has %d nodes", s, g.N())
		}
	}
	w := &walk{ctx: ctx, g: g, like: like, o: o, rows: make(map[int32][]int64)}
	w.ahead = make([][]rank.Scored[int64], w.o.Depth)
	w.best.Reset(w.o.MaxPaths)
	left := w.o.MaxExpand
	seen := make([]int32, 0, len(starts))
	for i, s := range starts {
		if slices.Contains(seen, s) {
			continue
		}
		seen = append(seen, s)
		share := left / (len(starts) - i)
		w.nodes, w.arcs = append(w.nodes[:0], s), w.arcs[:0]
		left -= share - w.from(s, 0, 0, share)
	}
	var paths []Path
	for _, b := range w.best.Append(nil) {
		paths = append(paths, w.met[b.ID])
	}
	return paths, ctx.Err()
}

// walk is the state of one search.
type walk struct {
	ctx  context.Context
	g    *Graph
	like ArcScores
	o    PathOptions

	nodes []int32 // nodes of the current path
	arcs  []int64
	ahead [][]rank.Scored[int64] // arcs to follow, by length of the path

	rows map[int32][]int64 // by visited node: the arcs to try, the best if there are too many
	met  []Path            // paths found so far
	best rank.Top[int32]
}

// from continues the current path from a node, and returns how many arcs of the budget are left. sum and parts
// are the sum of the path's scores and the parts that it matches.
func (w *walk) from(node int32, sum float64, parts uint64, budget int) (left int) {
	row := w.onward(node, parts, budget)
	left = budget - len(row)
	for i, a := range row {
		if w.ctx.Err() != nil {
			break
		}
		next := w.g.Targets()[a.ID]
		w.nodes, w.arcs = append(w.nodes, next), append(w.arcs, a.ID)
		sum, parts := sum+w.like.Scores[a.ID], parts|w.like.parts(a.ID)
		w.meet(sum, parts)
		if share := left / (len(row) - i); share > 0 && len(w.arcs) < w.o.Depth {
			left -= share - w.from(next, sum, parts, share)
		}
		w.nodes, w.arcs = w.nodes[:len(w.nodes)-1], w.arcs[:len(w.arcs)-1]
	}
	return left
}

// onward returns the arcs to follow from a node, at most most of them, in descending order of what they add.
func (w *walk) onward(node int32, parts uint64, most int) []rank.Scored[int64] {
	out := w.ahead[len(w.arcs)][:0]
	for _, a := range w.row(node) {
		if !slices.Contains(w.nodes, w.g.Targets()[a]) {
			out = append(out, rank.Scored[int64]{ID: a, Score: w.like.Scores[a] + w.like.Worth(w.like.parts(a)&^parts)})
		}
	}
	w.ahead[len(w.arcs)] = out
	return rank.Best(out, max(0, most))
}

// row returns the arcs of a node that are tried, in any order.
func (w *walk) row(node int32) []int64 {
	row, ok := w.rows[node]
	if ok {
		return row
	}
	lo, hi := w.g.Row(node)
	if hi-lo <= int64(w.o.MaxNeighbors) {
		for a := lo; a < hi; a++ {
			if w.open(a) {
				row = append(row, a)
			}
		}
	} else {
		for _, s := range w.bestOf(node, lo, hi) {
			row = append(row, s.ID)
		}
	}
	w.rows[node] = row
	return row
}

func (w *walk) open(arc int64) bool { return !math.IsInf(w.like.Scores[arc], -1) }

// bestOf returns the best MaxNeighbors arcs of a node, without self-loops.
func (w *walk) bestOf(node int32, lo, hi int64) []rank.Scored[int64] {
	var best rank.Top[int64]
	best.Reset(w.o.MaxNeighbors)
	for a := lo; a < hi; a++ {
		if w.g.Targets()[a] != node && w.open(a) {
			best.Push(a, w.like.Scores[a]+w.like.Worth(w.like.parts(a)))
		}
	}
	return best.Append(nil)
}

// meet records the current path.
func (w *walk) meet(sum float64, parts uint64) {
	score := sum/float64(len(w.arcs)) + w.like.Worth(parts) - w.o.Cost*float64(len(w.arcs))
	w.best.Push(int32(len(w.met)), score)
	w.met = append(w.met, Path{w.nodes[0], slices.Clone(w.arcs), score})
}

// Triples is the set of triples that a beam search runs on.
type Triples interface {
	// Neighbors returns, for each triple, the triples that share an entity with it, without the triple itself;
	// of too many, at most limit.
	Neighbors(ctx context.Context, triples []int32, limit int) ([][]int32, error)
	// Scores returns the cosine similarity of each chain, as the concatenation of its triples, to the question.
	// Values below 0 count as 0.
	Scores(ctx context.Context, chains [][]int32) ([]float64, error)
}

// BeamOptions are the options of [Beam]. Zero values mean the defaults of the paper (GeAR, section 4.2).
type BeamOptions struct {
	Width  int `default:"10" min:"0"` // number of chains kept, b in the paper
	Length int `default:"2" min:"0"`  // most triples of a chain, l in the paper
	// Diversity is γ: the score of a chain that ranks n-th, from 0, of the chains that extend the same one is
	// multiplied by exp(-min(n, γ)/γ). 0 means twice Width; [graphrag.Off] means no penalty.
	Diversity float64
	// Neighbors is the most triples that can extend a chain: the ones most similar to the question.
	Neighbors int `default:"100" min:"0"`
}

// Check returns an error that lists all invalid options.
func (o BeamOptions) Check() error { return o.fill() }

// fill replaces zero values by their defaults and checks the options.
func (o *BeamOptions) fill() error {
	c := opt.Checks{Of: "graph: beam"}
	c.Fill(o)
	if o.Diversity != graphrag.Off {
		opt.Min(&c, "Diversity", o.Diversity, 0)
	}
	*o = o.Defaults()
	return c.Err()
}

// Defaults returns the options with the default of Diversity, which depends on Width.
func (o BeamOptions) Defaults() BeamOptions {
	o.Diversity = cmp.Or(o.Diversity, 2*float64(o.Width))
	return o
}

// Chain is a list of triples, each a neighbor of the one before.
type Chain struct {
	Triples []int32
	Score   float64
}

// Beam returns the best chains that begin with one of the start triples, best first; of equal ones the chain
// with the smaller numbers first. start may contain a triple twice; if it is empty there are no chains. As in
// the paper, no chain is extended by a triple that any kept chain contains; but a chain that cannot be extended
// stays, with its score, whereas the paper drops it.
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
		return nil, fmt.Errorf("graph: beam search: %w", err)
	}
	return kept, nil
}

// FlattenChains returns the triples of the chains, interleaved: the first of each, then the second of each, and
// so on, each triple once.
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

// begin returns the first beam: the best chains of one start triple.
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

// step extends each chain of the beam by one triple and keeps the best results.
func (s beamSearch) step(ctx context.Context, beams []Chain) ([]Chain, error) {
	neighbors, err := s.neighbors(ctx, beams)
	if err != nil {
		return nil, err
	}
	var grown []Chain
	ends := []int{0} // ends[i] is the start in grown of the extensions of chain i
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
		from := grown[ends[i]:ends[i+1]] // extensions of one chain, penalized by rank
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

// neighbors returns the triples that may extend each chain.
func (s beamSearch) neighbors(ctx context.Context, beams []Chain) ([][]int32, error) {
	last := make([]int32, len(beams))
	held := map[int32]bool{}
	for i, b := range beams {
		last[i] = b.Triples[len(b.Triples)-1]
		for _, t := range b.Triples {
			held[t] = true
		}
	}
	// More than Neighbors, because some may be in the kept chains already.
	found, err := s.g.Neighbors(ctx, last, s.o.Neighbors+len(held))
	if err == nil && len(found) != len(last) {
		err = fmt.Errorf("got the neighbors of %d triples, want %d", len(found), len(last))
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

// cap returns the Neighbors triples that are most similar to the question by themselves.
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

// score adds the similarity of each chain to its score.
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
		err = fmt.Errorf("got the scores of %d chains, want %d", len(scores), len(chains))
	}
	if err != nil {
		return err
	}
	for i, score := range scores {
		// The penalty is a factor, which would raise a negative score.
		chains[i].Score += max(score, 0)
	}
	return nil
}

// best returns the Width best chains. It sorts only chains that are not worse than the last of these.
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
