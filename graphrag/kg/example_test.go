// SPDX-License-Identifier: Apache-2.0

package kg_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

func Example() {
	base, err := kg.NewBase(kg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	err = base.Insert(
		kg.Extraction{
			Chunk: "amundsen.txt#0", Doc: "amundsen.txt",
			Mentions: []kg.Mention{{Name: "Roald Amundsen", Type: "person"}, {Name: "Fram", Type: "ship"}},
			Facts:    []kg.Fact{{Triple: graphrag.Triple{Head: "Roald Amundsen", Relation: "sailed on", Tail: "Fram"}}},
		},
		kg.Extraction{
			Chunk: "fram.txt#0", Doc: "fram.txt",
			Mentions: []kg.Mention{{Name: "Fram", Type: "ship"}},
			Facts: []kg.Fact{
				{Triple: graphrag.Triple{Head: "ROALD AMUNDSEN", Relation: "sailed_on", Tail: "FRAM"}},
				{Triple: graphrag.Triple{Head: "Colin Archer", Relation: "built", Tail: "FRAM"}},
			},
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	show := func() {
		g, err := base.Graph(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		for r, rel := range g.Relations {
			t := g.Triple(int32(r))
			fmt.Printf("%s – %s – %s, said %d times in %d passages\n", t.Head, t.Relation, t.Tail, rel.Count, len(g.RelationPassages(int32(r))))
		}
	}
	show()
	base.Delete("fram.txt")
	fmt.Println("without fram.txt:")
	show()
	// Output:
	// Colin Archer – built – Fram, said 1 times in 1 passages
	// Roald Amundsen – sailed on – Fram, said 2 times in 2 passages
	// without fram.txt:
	// Roald Amundsen – sailed on – Fram, said 1 times in 1 passages
}
