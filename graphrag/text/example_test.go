// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func ExampleStandard_Terms() {
	const s = "Which islands did the typhoons cross in 2012?"
	fmt.Println(text.Default().Terms(s))
	fmt.Println(text.Plain().Terms(s))
	// Output:
	// [island typhoon cross 2012]
	// [which islands did the typhoons cross in 2012]
}

func ExampleStandard_Spans() {
	const s = "Typhoon Bolaven (2012)"
	text.Plain().Spans(s, func(word []byte, start, end int) {
		fmt.Printf("%s %d:%d %s\n", word, start, end, s[start:end])
	})
	// Output:
	// typhoon 0:7 Typhoon
	// bolaven 8:15 Bolaven
	// 2012 17:21 2012
}

func ExampleFoldName() {
	fmt.Println(text.FoldName("“The  Avengers”,"))
	fmt.Println(text.FoldName("the avengers"))
	// Output:
	// the avengers
	// the avengers
}
