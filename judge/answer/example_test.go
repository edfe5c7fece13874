// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/judge/answer"
)

func ExampleNormalize() {
	fmt.Println(answer.Normalize("The  Eiffel-Tower, in Paris!"))
	// Output: eiffeltower in paris
}

func ExampleProfile_Score() {
	for _, p := range []answer.Profile{answer.HotpotQA, answer.MRQA} {
		s, err := p.Score("yes it is", []string{"yes"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("f1/%v %.2f\n", p, s.F1)
	}
	// Output:
	// f1/hotpot 0.00
	// f1/mrqa 0.50
}
