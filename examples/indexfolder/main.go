// SPDX-License-Identifier: Apache-2.0

// Command indexfolder answers a question over the text files of a folder with a published
// graph system, HippoRAG 2, offline.
//
//	go run ./examples/indexfolder FOLDER "question"
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: indexfolder FOLDER \"question\"")
	}
	ctx := context.Background()
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	system, err := hipporag2.New(parts, hipporag2.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stats, err := system.Index(ctx, load.Documents(ctx, os.DirFS(os.Args[1])))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := system.Answer(ctx, graphrag.Question{Text: os.Args[2], K: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d documents, %d entities\n%s\n", stats.Documents, stats.Entities, answer.Text)
}
