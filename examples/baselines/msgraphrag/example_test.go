// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

func kit() baselines.Kit {
	kit, err := baselines.OfflineKit(reader.Open, 1)
	if err != nil {
		panic(err)
	}
	return kit
}

// ask indexes a few pages on polar exploration and asks one question.
func ask(s graphrag.System, err error, q graphrag.Question) graphrag.Answer {
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, baselinestest.Stream(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, q)
	if err != nil {
		panic(err)
	}
	return a
}

func ExampleNewLocal() {
	s, err := msgraphrag.NewLocal(kit(), msgraphrag.LocalOptions{})
	a := ask(s, err, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(a.Text)
	fmt.Println(a.Derived[0].Kind, a.Derived[0].Docs)
	// Output:
	// The Fram was built by Colin Archer. Colin Archer built the ship in Larvik for Fridtjof Nansen.
	// report [amundsen.md fram.md]
}

func ExampleNewGlobal() {
	s, err := msgraphrag.NewGlobal(kit(), msgraphrag.GlobalOptions{})
	a := ask(s, err, graphrag.Question{Text: "Which ships sailed to Antarctica?", Type: graphrag.Summary})
	fmt.Println(a.Text)
	for _, report := range a.Derived {
		fmt.Println(report.Kind, report.Docs)
	}
	// Output:
	// Fridtjof Nansen sailed on the Fram in 1893. Amundsen sailed on the Fram to Antarctica. Colin Archer built the ship in Larvik for Fridtjof Nansen. Robert Scott sailed on the Terra Nova to Antarctica.
	// report [amundsen.md fram.md]
	// report [amundsen.md scott.md]
	// report [fram.md larvik.md]
	// report [amundsen.md scott.md]
}

func ExampleNewDrift() {
	s, err := msgraphrag.NewDrift(kit(), msgraphrag.DriftOptions{})
	a := ask(s, err, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(a.Ranked[0].Chunk.Doc)
	// Output:
	// fram.md
}
