// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

const (
	// graphLinks are chosen for a new row (M of the paper), of at most graphDegree that a
	// row has on the lowest layer and graphLinks on others.
	graphLinks  = 16
	graphDegree = 2 * graphLinks
	// graphBeam rows are kept in mind while a new one is placed (efConstruction).
	graphBeam = 100
	// graphRound rows are placed at once, each by the graph of before and by those of the
	// round before it: so the graph is the same with any number of workers.
	graphRound = 256
	// A row is in a layer above one of its own with the chance 1/2^graphShift.
	graphShift = 5
	maxLayers  = 7
	graphSeed  = 1
)

// graph is a hierarchy of graphs of neighbors (Malkov and Yashunin, "Efficient and robust
// approximate nearest neighbor search using hierarchical navigable small world graphs",
// IEEE TPAMI 42(4), 2020) over int8 codes. Its nodes are numbered in each layer in the
// order of their rows. What it reads of links is within bounds, whatever they say.
type graph struct {
	linked  int // rows; those after wait until they fill a round
	layers  []layer
	walkers []walker // of those who place rows
}

// layer is one graph.
type layer struct {
	links slabs[int32] // of each node, up to one below 0
	rows  []int32      // of each node; nil in the lowest layer, whose nodes are the rows
	below []int32      // each node's number in the layer below
	n     int
}

func newLayer(degree int) layer { return layer{links: newSlabs[int32](degree)} }

// row is that of a node.
func (l *layer) row(node int32) int32 {
	if l.rows == nil {
		return node
	}
	return l.rows[node]
}

// of are the links of a node.
func (l *layer) of(node int32) []int32 { return l.links.part(int(node), 1) }

// add appends a node without links.
func (l *layer) add(row, below int32, lowest bool) {
	l.n++
	l.links.grow(l.n)
	for i := range l.of(int32(l.n - 1)) {
		l.of(int32(l.n - 1))[i] = -1
	}
	if !lowest {
		l.rows, l.below = append(l.rows, row), append(l.below, below)
	}
}

// highest is the highest layer of a row, by the bits of a hash (SplitMix64).
func highest(row int) int {
	z := (uint64(row) + graphSeed) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	at := 0
	for ; at < maxLayers-1 && z&(1<<graphShift-1) == 0; z >>= graphShift {
		at++
	}
	return at
}

// grow links rows in whole rounds, the last one if all is set.
func (g *graph) grow(c *codes, kernels *kernels, n, workers int, all bool) {
	for n-g.linked >= graphRound || all && g.linked < n {
		g.round(c, kernels, min(graphRound, n-g.linked), workers)
	}
}

// place is where a row of a round goes: for each of its layers its node and, in order,
// the rows it is linked with.
type place struct {
	nodes []int32
	links [][]near
}

// round links the next rows.
func (g *graph) round(c *codes, kernels *kernels, n, workers int) {
	first := g.linked
	places := make([]place, n)
	for len(g.walkers) < workers {
		g.walkers = append(g.walkers, walker{codes: c, kernels: kernels})
	}
	_ = par.Ranges(context.Background(), n, 8, workers, func(worker, lo, hi int) error {
		w := &g.walkers[worker]
		for i := lo; i < hi; i++ {
			places[i] = g.place(w, first, first+i)
		}
		return nil
	})
	for i := range places {
		below := int32(0)
		for at := range places[i].links {
			if at == len(g.layers) {
				g.layers = append(g.layers, newLayer(degreeAt(at)))
			}
			l := &g.layers[at]
			places[i].nodes = append(places[i].nodes, int32(l.n))
			l.add(int32(first+i), below, at == 0)
			below = int32(l.n - 1)
		}
	}
	g.linked += n
	for at := range g.layers {
		g.join(at, places, workers)
	}
}

func degreeAt(layer int) int {
	if layer == 0 {
		return graphDegree
	}
	return graphLinks
}

// place finds what a row is to be linked with: its neighbors among the linked rows and
// those of its round before it, on each of its layers. Nodes of the round stand as their
// rows, counted from first, below -1.
func (g *graph) place(w *walker, first, row int) place {
	top := highest(row)
	p := place{links: make([][]near, top+1)}
	w.ask(row)
	entry := int32(0)
	for at := len(g.layers) - 1; at >= 0; at-- {
		l := &g.layers[at]
		if at > top {
			w.walk(l, entry, 1)
		} else {
			w.walk(l, entry, graphBeam)
			p.links[at] = slices.Clone(w.beam)
		}
		if at > 0 && len(w.beam) > 0 {
			entry = l.below[w.beam[0].id]
		}
	}
	w.fellows(first, row)
	fellows := slices.Clone(w.sims)
	for at := range p.links {
		list := p.links[at]
		for i, s := range fellows {
			if highest(first+i) >= at {
				list = append(list, near{s, ^int32(i)})
			}
		}
		slices.SortFunc(list, compareNear)
		p.links[at] = w.choose(list, graphLinks, func(id int32) int32 {
			if id < 0 {
				return int32(first) + ^id
			}
			return g.layers[at].row(id)
		})
	}
	return p
}

// link is a wish of a node to be linked with another.
type link struct{ to, from int32 }

// join writes the links of a round on a layer, and those back, of which a node keeps the
// best if it has no room.
func (g *graph) join(at int, places []place, workers int) {
	l := &g.layers[at]
	var back []link
	for _, p := range places {
		if at >= len(p.links) {
			continue
		}
		own := l.of(p.nodes[at])
		for i, s := range p.links[at] {
			if s.id < 0 {
				s.id = places[^s.id].nodes[at]
			}
			own[i] = s.id
			back = append(back, link{s.id, p.nodes[at]})
		}
	}
	slices.SortFunc(back, func(a, b link) int {
		if a.to != b.to {
			return int(a.to) - int(b.to)
		}
		return int(a.from) - int(b.from)
	})
	var starts []int
	for i := range back {
		if i == 0 || back[i].to != back[i-1].to {
			starts = append(starts, i)
		}
	}
	starts = append(starts, len(back))
	_ = par.Ranges(context.Background(), len(starts)-1, 32, workers, func(worker, lo, hi int) error {
		for i := lo; i < hi; i++ {
			g.walkers[worker].receive(l, back[starts[i]:starts[i+1]])
		}
		return nil
	})
}
