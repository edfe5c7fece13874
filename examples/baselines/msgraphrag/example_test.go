// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func offline() kit.Kit {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	return k
}

// ask indexes a few pages on polar exploration and asks one question.
func ask(s *kit.System, err error, q graphrag.Question) graphrag.Answer {
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, q)
	if err != nil {
		panic(err)
	}
	return a
}

func ExampleNewLocal() {
	s, err := msgraphrag.NewLocal(offline(), msgraphrag.LocalOptions{})
	a := ask(s, err, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(a.Text)
	fmt.Println(a.Derived[0].Kind, a.Derived[0].Docs)
	// Output:
	// The Fram was built by Colin Archer.
	// report [amundsen.md fram.md larvik.md]
}

func ExampleNewGlobal() {
	s, err := msgraphrag.NewGlobal(offline(), msgraphrag.GlobalOptions{})
	a := ask(s, err, graphrag.Question{Text: "Which ships sailed to Antarctica?", Form: graphrag.Overview})
	fmt.Println(a.Text)
	for _, report := range a.Derived {
		fmt.Println(report.Kind, report.Docs)
	}
	// Output:
	// Fridtjof Nansen sailed on the Fram in 1893. Colin Archer built the ship in Larvik for Fridtjof Nansen.
	//
	// Amundsen sailed on the Fram to Antarctica. Robert Scott sailed on the Terra Nova to Antarctica.
	// report [amundsen.md fram.md larvik.md]
	// report [amundsen.md scott.md]
	// report [amundsen.md scott.md]
}

func ExampleNewDrift() {
	s, err := msgraphrag.NewDrift(offline(), msgraphrag.DriftOptions{})
	a := ask(s, err, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(a.Ranked[0].Chunk.Doc)
	// Output:
	// fram.md
}
