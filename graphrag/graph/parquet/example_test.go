// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"fmt"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/parquet"
)

// Edges come from anywhere, one after the other, and go to a file. What an engine made of
// them comes back in the same way.
func Example() {
	var file bytes.Buffer
	err := parquet.WriteEdges(&file, func(yield func(parquet.Edge, error) bool) {
		for n := range int64(4) {
			if !yield(parquet.Edge{From: n, To: n + 1, Weight: 1}, nil) {
				return
			}
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	folder := fstest.MapFS{"edges.parquet": {Data: file.Bytes()}}
	g, err := graph.Build(5, parquet.ReadEdges(folder, 5), graph.Options{})
	fmt.Println(g.N(), g.Arcs(), err)
	_, err = parquet.ReadRanks(folder, "pagerank", 5)
	fmt.Println(err)
	// Output:
	// 5 8 <nil>
	// parquet: read ranks: edges.parquet: not the table that is wanted: it has the columns ["src" "dst" "weight"], and no "id": name them so
}
