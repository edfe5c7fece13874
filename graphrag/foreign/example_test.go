// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/foreign"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// What LightRAG extracted, as a graph. A folder on disk is os.DirFS(dir).
func Example() {
	x, err := foreign.ReadLightRAG(folder())
	if err != nil {
		fmt.Println(err)
		return
	}
	base, _ := kg.NewBase(kg.Options{})
	for e := range x.Extractions() {
		if err := base.Insert(e); err != nil {
			fmt.Println(err)
		}
	}
	g, _ := base.Graph(context.Background())
	for _, e := range g.Entities {
		fmt.Println(e.Name, "·", e.Type)
	}
	// Output:
	// Colin Archer · person
	// Fram · artifact
}
