// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

func Example() {
	g, err := graph.New(4, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: .5}, {From: 2, To: 1, Weight: .5}}, graph.Options{})
	if err != nil {
		panic(err)
	}
	s := g.Stats()
	fmt.Printf("%d nodes, %d edges, average degree %.1f, isolated %.2f\n", s.Nodes, s.Edges, s.AverageDegree, s.IsolatedShare)
	component, count, err := g.Components(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(count, "components", component)
	// Output:
	// 4 nodes, 2 edges, average degree 1.0, isolated 0.25
	// 2 components [0 0 0 1]
}
