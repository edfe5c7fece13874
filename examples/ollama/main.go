// SPDX-License-Identifier: Apache-2.0

// Command ollama builds a knowledge graph of a folder with a language model of an Ollama server, and
// answers from it: LightRAG, with a model in place of the rules.
//
//	go run ./examples/ollama http://127.0.0.1:11434 MODEL FOLDER "question"
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/llm/transport"
)

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: ollama URL MODEL FOLDER \"question\"")
	}
	ctx := context.Background()
	model, err := transport.Ollama(transport.Config{BaseURL: os.Args[1], Model: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	parts, err := kit.ByModel(kit.ModelOptions{Model: model})
	if err != nil {
		log.Fatal(err)
	}
	system, err := lightrag.New(parts, lightrag.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stats, err := system.Index(ctx, load.Options{Formats: office.Formats()}.Documents(ctx, os.DirFS(os.Args[3])))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := system.Answer(ctx, graphrag.Question{Text: os.Args[4], K: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d calls to index %d documents\n%s\n", stats.Calls, stats.Documents, answer.Text)
}
