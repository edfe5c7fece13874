// SPDX-License-Identifier: Apache-2.0

package path_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/path"
)

// The father of Stephen Curry, and when he started college: triples 1, 3 and 4.
func ExampleBeam() {
	triples := curry()
	chains, err := path.Beam(context.Background(), triples, []int32{1}, path.BeamOptions{Width: 2, Length: 3, Diversity: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chains {
		fmt.Printf("%v %.3f\n", c.Triples, c.Score)
	}
	fmt.Println(path.Flatten(chains))
	// Output:
	// [1 2 7] 1.221
	// [1 3 4] 0.922
	// [1 2 3 7 4]
}
