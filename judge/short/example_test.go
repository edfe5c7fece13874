// SPDX-License-Identifier: Apache-2.0

package short_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/short"
)

func Example() {
	j, err := short.New(short.Options{Schemes: map[string]short.Scheme{"2-hop": {Script: short.MuSiQue}}})
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
