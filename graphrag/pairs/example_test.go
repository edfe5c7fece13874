// SPDX-License-Identifier: Apache-2.0

package pairs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/pairs"
)

// Two facts about Ada and Charles are of one pair.
func Example() {
	x := kg.Extraction{Chunk: "a#0", Doc: "a"}
	for _, t := range []graphrag.Triple{{Head: "Ada", Relation: "met", Tail: "Charles"}, {Head: "Charles", Relation: "taught", Tail: "Ada"}, {Head: "Ada", Relation: "lived in", Tail: "London"}} {
		x.Facts = append(x.Facts, kg.Fact{Triple: t})
	}
	b, err := kg.NewBase(kg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Insert(x); err != nil {
		log.Fatal(err)
	}
	g, err := b.Graph(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	of := pairs.Of(g, false)
	for p, relations := range of.All() {
		fmt.Println(p)
		for _, r := range relations {
			t := g.Triple(r)
			fmt.Println(" ", t.Head, t.Relation, t.Tail)
		}
	}
	// Output:
	// 0
	//   Ada met Charles
	//   Charles taught Ada
	// 1
	//   Ada lived in London
}
