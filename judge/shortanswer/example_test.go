// SPDX-License-Identifier: Apache-2.0

package shortanswer_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/answer"
	"github.com/wildgraph/wildgraph/judge/shortanswer"
)

func Example() {
	j, err := shortanswer.New(shortanswer.Options{Schemes: map[string]shortanswer.Scheme{"2-hop": {Profile: answer.MuSiQue}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := j.Fact(context.Background(), judge.Case{
		Type: "2-hop", Question: "Who founded the town of the bridge?", Reference: "Ada Moss", Answer: "The town was founded by Ada Moss.",
	})
	fmt.Println(f.Value, f.Scores["contains"].Value, f.Scores["em/musique"].Value, err)
	// Output: 1 1 0 <nil>
}
