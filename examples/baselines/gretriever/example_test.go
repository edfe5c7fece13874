// SPDX-License-Identifier: Apache-2.0

package gretriever_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/gretriever"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := gretriever.New(k, gretriever.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	for _, fact := range a.Derived {
		fmt.Println(fact.Kind, fact.Text, fact.Docs)
	}
	// Output:
	// The Fram was built by Colin Archer.
	// fact Amundsen, sailed on, Fram [amundsen.md]
	// fact Colin Archer, built for, Fridtjof Nansen [fram.md]
	// fact Colin Archer, built ship in, Larvik [fram.md]
	// fact Fram, in, 1893 [fram.md]
	// fact Fram, mentions, Larvik [fram.md]
	// fact Fram, to, Antarctica [amundsen.md]
	// fact Fram, was built by, Colin Archer [fram.md]
}
