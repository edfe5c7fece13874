// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/tree"
)

func ExampleRaptor() {
	var leaves []string
	for _, day := range []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"} {
		leaves = append(leaves,
			"The ferry to the island sails at noon on "+day+".",
			"Bread at the bakery is fresh from the oven on "+day+".")
	}
	embedder, err := embed.FitLSA(context.Background(), leaves, embed.LSAOptions{Dim: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	summarizer, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 12})
	if err != nil {
		fmt.Println(err)
		return
	}
	built, err := tree.Raptor(context.Background(), [][]string{leaves}, tree.RaptorOptions{
		Summarizer: summarizer, Embedder: embedder, Dim: 2, MaxLevels: 1, Regularization: .1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mixed := 0
	for _, root := range built.Roots() {
		ferries, below := 0, built.Sources(root)
		for _, leaf := range below {
			if strings.Contains(leaves[leaf], "ferry") {
				ferries++
			}
		}
		if ferries > 0 && ferries < len(below) {
			mixed++
		}
	}
	fmt.Println(len(built.Levels), "levels, summaries of ferries and bread together:", mixed)
	first, _ := built.Level(1)
	fmt.Println(built.Nodes[first].Text)
	// Output:
	// 2 levels, summaries of ferries and bread together: 0
	// The ferry to the island sails at noon on Monday.
}

func ExampleSequential() {
	s, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := tree.Sequential(context.Background(), [][]string{{
		"The Moon is the only natural satellite of the Earth.",
		"The Moon orbits the Earth in about 27 days.",
		"Tides on the Earth follow the Moon.",
	}}, tree.SequentialOptions{Summarizer: s})
	if err != nil {
		fmt.Println(err)
		return
	}
	top := t.Nodes[len(t.Nodes)-1]
	fmt.Println(top.Text)
	quote := top.Quotes[0]
	fmt.Println("from leaf", top.Children[quote.Source], "bytes", quote.SourceStart, "to", quote.SourceEnd)
	// Output:
	// The Moon is the only natural satellite of the Earth. Tides on the Earth follow the Moon.
	// from leaf 0 bytes 0 to 52
}
