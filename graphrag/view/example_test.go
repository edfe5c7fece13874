// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/view"
)

// A graph as one page. Of a system it is view.New(ctx, system.Graph(), …), with
// Chunks that asks system.Get.
func Example() {
	ctx := context.Background()
	base, _ := kg.NewBase(kg.Options{})
	err := base.Insert(kg.Extraction{Chunk: "fram.md#0", Doc: "fram.md", Facts: []kg.Fact{
		{Triple: graphrag.Triple{Head: "Colin Archer", Relation: "built", Tail: "Fram"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, _ := base.Graph(ctx)
	v, err := view.New(ctx, g, view.Options{Title: "Ships", Chunks: func(doc string) ([]graphrag.Chunk, bool) {
		return []graphrag.Chunk{{ID: doc + "#0", Doc: doc, Text: "Colin Archer built the Fram."}}, true
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	fmt.Println(v.WriteHTML(&page), bytes.Contains(page.Bytes(), []byte("<h1>Ships</h1>")))
	// Output: <nil> true
}
