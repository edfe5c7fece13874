// SPDX-License-Identifier: Apache-2.0

// Command walk ranks the nodes of a small graph by personalized PageRank.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

func main() {
	names := []string{"Fram", "Larvik", "Colin Archer", "Amundsen", "South Pole"}
	g, err := graph.New(len(names), []graph.Edge{
		{From: 0, To: 1, Weight: 1}, {From: 0, To: 2, Weight: 1}, {From: 1, To: 2, Weight: 1}, {From: 0, To: 3, Weight: 1}, {From: 3, To: 4, Weight: 1},
	}, graph.Options{})
	if err != nil {
		log.Fatal(err)
	}
	solver, err := ppr.New(g, ppr.Options{Damping: .5})
	if err != nil {
		log.Fatal(err)
	}
	shares, err := solver.Solve(context.Background(), []ppr.Seed{{Node: 2, Weight: 1}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i, name := range names {
		fmt.Printf("%.3f %s\n", shares[i], name)
	}
}
