// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// PathOptions of [FindPaths]. The depth is the paper's; the other bounds are ours.
type PathOptions struct {
	// Depth is the number of edges of the longest path, 0 for 5. MaxPaths is how
	// many paths are kept, 0 for 50.
	Depth    int `source:"the paper, section 3.3" default:"5" min:"0"`
	MaxPaths int `default:"50" min:"0"`
	// MaxExpand is the number of arcs that are walked in all, 0 for 5,000. MaxNeighbors is
	// how many of a node are tried, those with the best arcs, 0 for 100.
	MaxExpand    int `default:"5000" min:"0"`
	MaxNeighbors int `default:"100" min:"0"`
	// Cost is subtracted from the score of a path for each edge.
	Cost float64 `min:"0"`
}

// Check reports all problems of the options.
func (o PathOptions) Check() error { return o.fill() }

// fill replaces zero values by their defaults and checks the options.
func (o *PathOptions) fill() error {
	checks := opt.Checks{Of: "graph: paths"}
	checks.Fill(o)
	return checks.Err()
}

// ArcScores says how the arcs of a graph answer to a question.
type ArcScores struct {
	// Scores has for each arc its own similarity to the question. One of minus infinity is not walked.
	Scores []float64
	// Parts has for each arc the parts of the question that it speaks of, a bit for
	// each, and Weights what each part is worth. Both may be nil.
	Parts   []uint64
	Weights []float64
}

// MaxParts is the largest number of parts of a question.
const MaxParts = 64

func (l ArcScores) check(arcs int64) error {
	if int64(len(l.Scores)) != arcs || l.Parts != nil && int64(len(l.Parts)) != arcs {
		return fmt.Errorf("graph: paths: %d scores and %d parts for %d arcs", len(l.Scores), len(l.Parts), arcs)
	}
	if len(l.Weights) > MaxParts {
		return fmt.Errorf("graph: paths: a question of %d parts, want at most %d", len(l.Weights), MaxParts)
	}
	return nil
}

// Worth returns the value of parts together.
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

// Path is a way through a graph that meets no node twice.
type Path struct {
	Start int32
	// Arcs are places in the rows of the graph: arc a leads to g.Targets()[a].
	Arcs []int64
	// Score is the mean of the scores of the arcs, and what the parts are worth of
	// which any of them speaks, less the cost of the edges.
	Score float64
}

// FindPaths walks from each start, depth first, and returns the best paths of one edge or more, best first,
// equal ones in the order in which they were met. A part of the question counts once in a path, so that one
// that speaks of all parts, each in its place, is better than one that repeats itself: of
// the arcs of a node those come first that add most to the path so far. The arcs that may be walked are
// shared out equally, among the starts and then among the neighbours of each node, so that no corner of the
// graph takes them all; what one leaves over goes to the next. So time and memory are bounded by the
// options and the degrees of the nodes that are met, each of which is looked through once.
//
// A start that is no node of g, or scores of another length than its arcs, is an
// error, as is the end of ctx. FindPaths is safe for concurrent use.
func FindPaths(ctx context.Context, g *Graph, starts []int32, like ArcScores, o PathOptions) ([]Path, error) {
	if err := errors.Join(o.fill(), like.check(g.Arcs())); err != nil {
		return nil, err
	}
	for _, s := range starts {
		if s < 0 || int(s) >= g.N() {
			return nil, fmt.Errorf("graph: paths: start %d: the graph has %d nodes", s, g.N())
		}
	}
	w := &walk{ctx: ctx, g: g, like: like, o: o, first: make([]int32, g.N())}
	w.ahead = make([][]rank.Scored[int64], w.o.Depth)
	w.best.Reset(w.o.MaxPaths)
	w.rows = append(w.rows, 0) // place 0 of first means: not looked at yet
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
		p := w.met[w.at[b.ID]:]
		paths = append(paths, Path{Start: int32(p[1]), Arcs: p[2 : 2+p[0] : 2+p[0]], Score: b.Score})
	}
	return paths, ctx.Err()
}

// walk is one search.
type walk struct {
	ctx  context.Context
	g    *Graph
	like ArcScores
	o    PathOptions

	nodes []int32 // of the path that is being walked
	arcs  []int64
	ahead [][]rank.Scored[int64] // the arcs to walk, by the length of the path

	// The arcs of a node that was met, if they are too many the best, are
	// rows[first[node]:], after their number.
	first []int32
	rows  []int64

	met  []int64 // the paths so far, each its length, start and arcs
	at   []int32 // where each begins in met
	best rank.Top[int32]
}

// from continues from a node and returns the remaining number of arcs of the budget.
// sum and parts describe the path so far.
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

// onward returns the arcs to walk from a node, at most a number of them, those first that add most.
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

// row returns the arcs of a node that are tried at all, in any order.
func (w *walk) row(node int32) []int64 {
	if w.first[node] == 0 {
		at := len(w.rows)
		w.first[node] = int32(at)
		w.rows = append(w.rows, 0)
		lo, hi := w.g.Row(node)
		if hi-lo <= int64(w.o.MaxNeighbors) {
			for a := lo; a < hi; a++ {
				if w.open(a) {
					w.rows = append(w.rows, a)
				}
			}
		} else {
			for _, s := range w.bestOf(node, lo, hi) {
				w.rows = append(w.rows, s.ID)
			}
		}
		w.rows[at] = int64(len(w.rows) - at - 1)
	}
	at := int64(w.first[node])
	return w.rows[at+1 : at+1+w.rows[at]]
}

func (w *walk) open(arc int64) bool { return !math.IsInf(w.like.Scores[arc], -1) }

// bestOf are the best of too many arcs of a node, which has none to itself among them.
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

// meet takes note of the path as it stands.
func (w *walk) meet(sum float64, parts uint64) {
	w.at = append(w.at, int32(len(w.met)))
	w.met = append(append(w.met, int64(len(w.arcs)), int64(w.nodes[0])), w.arcs...)
	w.best.Push(int32(len(w.at)-1), sum/float64(len(w.arcs))+w.like.Worth(parts)-w.o.Cost*float64(len(w.arcs)))
}
