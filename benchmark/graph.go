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

// degreesOf describes the graph of a system, if it shows one: the pairs of
// entities that facts join.
func degreesOf(system any) (record.Degrees, int64, error) {
	g, ok := system.(Grapher)
	if !ok || g.Graph() == nil {
		return nil, 0, nil
	}
	view, err := g.Graph().View(kg.ViewOptions{})
	if err != nil {
		return nil, 0, err
	}
	return degrees(view.Degrees()), view.Stats().Edges, nil
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
