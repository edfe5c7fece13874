// SPDX-License-Identifier: Apache-2.0

package vector_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/vector"
)

func Example() {
	index, err := vector.New(vector.Options{Dim: 3, Cosine: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = index.Add(
		[]float32{1, 0, 0},
		[]float32{3, 4, 0},
		[]float32{0, 0, 1},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := index.Search([]float32{2, 0, 0}, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range hits {
		fmt.Printf("row %d: %.2f\n", hit.ID, hit.Score)
	}
	// Output:
	// row 0: 1.00
	// row 1: 0.60
}
