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

func ExampleProfile_Evaluate() {
	questions := []answer.Question{
		{ID: "q1", Golds: []string{"Paris"}},
		{ID: "q2", Golds: []string{"New York", "New York City"}},
		{ID: "q3", Golds: []string{"1,000"}},
	}
	result, err := answer.TwoWiki.Evaluate(questions, map[string]string{"q1": "Paris.", "q2": "York"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Figures() {
		fmt.Printf("%s %v of %v\n", f.Name, f.Value, f.Scale)
	}
	fmt.Println("missing:", result.Missing)
	// Output:
	// em/2wiki 33.33 of 100
	// f1/2wiki 55.56 of 100
	// precision/2wiki 66.67 of 100
	// recall/2wiki 50 of 100
	// missing: [q3]
}
