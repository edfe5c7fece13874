// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

func Example() {
	sparse := []string{"page#3", "page#1", "page#9"}
	dense := []string{"page#1", "page#4", "page#3"}
	for _, hit := range rank.RRF(sparse, dense) {
		fmt.Printf("%s %.4f\n", hit.ID, hit.Score)
	}
	// Output:
	// page#1 0.0325
	// page#3 0.0323
	// page#4 0.0161
	// page#9 0.0159
}
