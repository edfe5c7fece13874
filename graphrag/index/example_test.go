// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"context"
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Two shares ask a model for everything that a system needs; the system is built from the replies.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 document
	// round 1: 2 of 2 shares
	// round 2: 2 of 2 shares
	// [log000.md]
}

func example(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	model := llmtest.NewScript("m").
		Reply(llmtest.Stage(extract.StageRecords), `("entity"<|>FRAM<|>ship<|>A ship.)##<|COMPLETE|>`).
		Reply(llmtest.Any, "The Fram is a ship.")
	recipe := func() (*kit.System, error) { return chronicle(model, nil) }
	x, err := index.Open(ctx, index.Options{Store: s, Name: "logs", System: recipe})
	if err != nil {
		return err
	}
	defer x.Close()
	n, err := x.Put(ctx, graphrag.Documents(ships(1)...))
	if err != nil {
		return err
	}
	fmt.Println(n, "document")
	p := index.Progress{Shares: 2}
	for shares := p.Next(); shares != nil; shares = p.Next() {
		for _, share := range shares { // each share in its own process
			done, err := x.Do(ctx, share)
			if err != nil {
				return err
			}
			p.Add(done)
		}
		fmt.Printf("round %d: %d of %d shares\n", p.Round, p.Done, p.Shares)
	}
	system, err := recipe()
	if err != nil {
		return err
	}
	defer system.Close()
	if _, err := x.Build(ctx, system); err != nil {
		return err
	}
	documents, err := system.List(ctx)
	fmt.Println(documents)
	return err
}
