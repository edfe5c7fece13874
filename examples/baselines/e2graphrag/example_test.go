// SPDX-License-Identifier: Apache-2.0

package e2graphrag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/e2graphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := e2graphrag.New(k, e2graphrag.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Which ship of Nansen did Colin Archer build?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	fmt.Println(a.Steps[0].Kind, a.Steps[0].Found)
	// Output:
	// Colin Archer built the ship in Larvik for Fridtjof Nansen.
	// local [ship nansen colin archer]
}
