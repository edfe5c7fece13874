// SPDX-License-Identifier: Apache-2.0

package perception_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/perception"
)

func ExampleByMembers() {
	const bornIn, directed = 0, 1
	// Two directors, two films, two towns.
	entities := []float32{1, 0, .9, .1, .5, .5, .4, .6, 0, 1, .1, .9}
	relations := []float32{.2, .8, .8, .2}
	triples := []perception.Triple{
		{Head: 0, Relation: directed, Tail: 2}, {Head: 1, Relation: directed, Tail: 3},
		{Head: 0, Relation: bornIn, Tail: 4}, {Head: 1, Relation: bornIn, Tail: 5},
	}
	vectors, err := perception.EntityVectors(entities, 2, relations, triples)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := perception.ByMembers(context.Background(), vectors, 6, triples, perception.Options{Beta: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Communities {
		fmt.Println(c.Members, "centre", c.Center)
	}
	// Output:
	// [0 1] centre 0
	// [2 3] centre 2
	// [4 5] centre 4
}
