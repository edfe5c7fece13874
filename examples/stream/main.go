// SPDX-License-Identifier: Apache-2.0

// Command stream prints an answer while a model of an OpenAI-compatible server writes it.
//
//	go run ./examples/stream http://127.0.0.1:8000/v1 MODEL
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm/transport"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: stream URL MODEL")
	}
	ctx := context.Background()
	model, err := transport.OpenAI(transport.Config{BaseURL: os.Args[1], Model: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	parts, err := kit.ByModel(kit.ModelOptions{Model: model})
	if err != nil {
		log.Fatal(err)
	}
	index, err := retrieve.NewSparse(ctx, []graphrag.Chunk{{ID: "c0", Doc: "fram", Text: "Colin Archer built the Fram."}}, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	question := graphrag.Question{Text: "Who built the Fram?", K: 1}
	found, err := index.Retrieve(ctx, question)
	if err != nil {
		log.Fatal(err)
	}
	shown := 0
	for answer, err := range reader.Stream(ctx, parts.Read, question, found.Ranked, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(answer.Text[shown:]) // each answer extends the one before
		shown = len(answer.Text)
	}
	fmt.Println()
}
