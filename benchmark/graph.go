// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"math/bits"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Grapher is a system that shows the knowledge graph it has built; nil is
// none. The runner describes it as Table 4 and Figure 4 of WildGraphBench do.
type Grapher interface {
	Graph() *kg.Graph
}

// describe fills in what the graph of a system shows, if it has one: all figures
// are those of the pairs of entities that facts join.
func describe(system any, r *record.Index) error {
	g, ok := system.(Grapher)
	if !ok || g.Graph() == nil {
		return nil
	}
	view, err := g.Graph().View(kg.ViewOptions{})
	if err != nil {
		return err
	}
	stats := view.Stats()
	r.Graph, r.Degrees, r.Edges = true, degrees(view.Degrees()), stats.Edges
	r.Stats.Entities, r.Stats.Relations = stats.Nodes, len(g.Graph().Relations)
	r.Stats.AverageDegree, r.Stats.MaxDegree, r.Stats.IsolatedShare = stats.AverageDegree, stats.MaxDegree, stats.IsolatedShare
	return nil
}

// degrees sums a distribution by powers of two.
func degrees(counts []graph.DegreeCount) record.Degrees {
	var d record.Degrees
	for _, c := range counts {
		class := bits.Len(uint(c.Degree))
		for len(d) <= class {
			d = append(d, 0)
		}
		d[class] += c.Nodes
	}
	return d
}
