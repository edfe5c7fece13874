// SPDX-License-Identifier: Apache-2.0

package raptor_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := raptor.New(k, raptor.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1, Tokens: 60})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	fmt.Println(a.Ranked[0].Chunk.Doc)
	// Output:
	// The Fram was built by Colin Archer.
	// fram.md
}
