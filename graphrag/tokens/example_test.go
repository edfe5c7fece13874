// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

func Example() {
	s := "How many tokens is this <|endoftext|>?"
	fmt.Println(tokens.Cl100k().Count(s))
	starts, err := tokens.Cl100k().Starts(context.Background(), nil, "How many tokens?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(starts)
	// Output:
	// 11
	// [0 3 8 15]
}
