// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/summary"
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
	built, err := summary.Raptor(context.Background(), [][]string{leaves}, summary.RaptorOptions{
		Summarizer: summarizer, Embedder: embedder, Dim: 2, MaxLevels: 1, Regularization: .1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mixed := 0
	first, end := built.Level(1)
	for root := first; root < end; root++ {
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
	t, err := summary.Sequential(context.Background(), [][]string{{
		"The Moon is the only natural satellite of the Earth.",
		"The Moon orbits the Earth in about 27 days.",
		"Tides on the Earth follow the Moon.",
	}}, summary.SequentialOptions{Summarizer: s})
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
