// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"fmt"
	"iter"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Synonym says that an entity has found another whose name is like its own. It has a direction: a name that
// is too short does not look for synonyms but may be one.
type Synonym struct {
	From, To int32
	Score    float64
}

// ViewOptions say which of a graph's knowledge becomes edges. The weights are HippoRAG 2's balance: 2 for a
// fact, the score for each direction of a synonym, 1 for a passage and an entity it states a fact about.
type ViewOptions struct {
	// Synonyms become edges; two that answer each other add up.
	Synonyms []Synonym
	// Overwrite lets a synonym take the place of the facts in its direction,
	// half of their weight, instead of adding to them (HippoRAG's code).
	Overwrite bool
	// Passages adds the passages as nodes, with an edge to each entity of their facts,
	// or with Mentioned to each entity they name at all.
	Passages  bool
	Mentioned bool
}

// View is a graph of ids: entity e is node e, passage p is node Entities+p.
type View struct {
	*graph.Graph
	// Entities and Passages are the numbers of nodes of each kind.
	Entities, Passages int
}

// Passage returns the node of a passage.
func (v *View) Passage(p int32) int32 { return int32(v.Entities) + p }

// View makes a weighted undirected graph of the facts. A fact about one entity alone is no edge.
func (g *Graph) View(o ViewOptions) (*View, error) {
	v := &View{Entities: len(g.Entities)}
	edges, err := g.entityEdges(o)
	if err != nil {
		return nil, err
	}
	if o.Passages {
		v.Passages = len(g.Passages)
		edges = append(edges, g.contextEdges(o, v)...)
	}
	built, err := graph.New(v.Entities+v.Passages, edges, graph.Options{})
	if err != nil {
		return nil, fmt.Errorf("kg: %w", err)
	}
	v.Graph = built
	return v, nil
}

// arc is half an edge between entities.
type arc struct {
	from, to int32
	weight   float64
	synonym  bool
}

// entityEdges gathers facts and synonyms by direction, so that a synonym can take the place of facts.
func (g *Graph) entityEdges(o ViewOptions) ([]graph.Edge, error) {
	arcs := make([]arc, 0, 2*len(g.Relations)+len(o.Synonyms))
	for i := range g.Relations {
		r := &g.Relations[i]
		if r.Head == r.Tail {
			continue
		}
		weight := float64(r.Count) // half of it in each direction
		arcs = append(arcs, arc{r.Head, r.Tail, weight, false}, arc{r.Tail, r.Head, weight, false})
	}
	for _, s := range o.Synonyms {
		if s.From != s.To {
			arcs = append(arcs, arc{s.From, s.To, s.Score, true})
		}
	}
	for _, a := range arcs {
		if n := uint32(len(g.Entities)); uint32(a.from) >= n || uint32(a.to) >= n {
			return nil, fmt.Errorf("kg: view: from entity %d to %d of %d", a.from, a.to, n)
		}
	}
	edges := make([]graph.Edge, 0, len(arcs))
	for row := range rows(len(g.Entities), arcs) {
		for lo, hi := 0, 0; lo < len(row); lo = hi {
			first, replaced := &arcs[uint32(row[lo])], false
			for hi < len(row) && arcs[uint32(row[hi])].to == first.to {
				replaced = replaced || o.Overwrite && arcs[uint32(row[hi])].synonym
				hi++
			}
			for _, at := range row[lo:hi] {
				if a := &arcs[uint32(at)]; a.synonym || !replaced {
					edges = append(edges, graph.Edge{From: a.from, To: a.to, Weight: a.weight})
				}
			}
		}
	}
	return edges, nil
}

// rows yields the arcs from each entity by where they lead, equal ones in their order: that
// in the higher half, their places in the lower.
func rows(entities int, arcs []arc) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		ends := make([]int, entities+1) // at first the starts
		for _, a := range arcs {
			ends[a.from+1]++
		}
		for i := range entities {
			ends[i+1] += ends[i]
		}
		all := make([]uint64, len(arcs))
		for i, a := range arcs {
			all[ends[a.from]] = uint64(a.to)<<32 | uint64(uint32(i))
			ends[a.from]++
		}
		start := 0
		for _, end := range ends[:entities] {
			slices.Sort(all[start:end])
			if !yield(all[start:end]) {
				return
			}
			start = end
		}
	}
}

func (g *Graph) contextEdges(o ViewOptions, v *View) []graph.Edge {
	var edges []graph.Edge
	var ends []int32
	for p := range g.Passages {
		ends = ends[:0]
		if o.Mentioned {
			for _, e := range g.PassageEntities(int32(p)) {
				ends = append(ends, e.ID)
			}
		} else {
			ends = g.AppendFactEntities(ends, int32(p))
		}
		for _, e := range ends {
			edges = append(edges, graph.Edge{From: v.Passage(int32(p)), To: e, Weight: 1})
		}
	}
	return edges
}
