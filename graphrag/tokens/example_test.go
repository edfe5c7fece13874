// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

func Example() {
	s := "How many tokens is this <|endoftext|>?"
	fmt.Println(tokens.Cl100k().Count(s), tokens.O200k().Count(s))
	fmt.Println(tokens.Cl100k().Starts(nil, "How many tokens?"))
	// Output:
	// 11 12
	// [0 3 8 15]
}
