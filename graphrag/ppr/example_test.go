// SPDX-License-Identifier: Apache-2.0

package ppr_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

// On the path 0–1–2 a walk from node 0 with damping ½ is at the nodes with
// probabilities 7/12, 1/3 and 1/12.
func Example() {
	g, err := graph.New(3, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}}, graph.Options{})
	if err != nil {
		panic(err)
	}
	s, err := ppr.New(g, ppr.Options{Damping: .5})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	x, err := s.Solve(ctx, []ppr.Seed{{Node: 0, Weight: 1}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f\n", x)
	// Output:
	// [0.583333 0.333333 0.083333]
}
