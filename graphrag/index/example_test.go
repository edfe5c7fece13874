// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"context"
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// An index in a folder, without a model, and a question to it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := disk.Open(dir, disk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	x, err := index.Open(ctx, index.Options{Store: s, Name: "ships", Knowledge: index.Triples})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	job, err := x.Submit(ctx, graphrag.Documents(
		graphrag.Document{ID: "fram", Text: "The Fram sailed to Antarctica with Roald Amundsen."},
		graphrag.Document{ID: "maud", Text: "The Maud sailed the Northeast Passage with Roald Amundsen."},
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	progress, err := index.Run(ctx, x, job, index.RunOptions{})
	for _, stage := range progress.Stages {
		fmt.Println(stage.Name, stage.Done, "of", stage.Tasks)
	}
	fmt.Println(err)

	c, _ := s.Open(ctx, "ships")
	g, _ := c.Pin(ctx)
	defer g.Close()
	chunks, _ := g.Table("chunks")
	found, _ := retrieve.Stored{Table: chunks}.Sparse().Retrieve(ctx, graphrag.Question{Text: "Which ship sailed to Antarctica?", K: 1})
	fmt.Println(found.Ranked[0].Chunk.Doc)
	// Output:
	// documents 1 of 1
	// cut 1 of 1
	// write 1 of 1
	// extract 1 of 1
	// graph 1 of 1
	// publish 1 of 1
	// <nil>
	// fram
}
