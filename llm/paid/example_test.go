// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// A model behind a budget and a cache: the second question is free.
func Example() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "llm.journal"), journal.Header{Schema: paid.Schema}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	budget, err := paid.NewBudget(100_000, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	remote := llmtest.NewScript("demo").Reply(llmtest.Any, "Paris")
	model, err := paid.Cached(budget.Model(remote), j, paid.CacheOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	for range 2 {
		reply, err := model.Generate(context.Background(), llm.Prompt("What is the capital of France?"))
		fmt.Println(reply.Text, reply.Usage.Calls, reply.Usage.CachedCalls, err)
	}
	// Output:
	// Paris 1 0 <nil>
	// Paris 0 1 <nil>
}
