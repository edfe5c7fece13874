// SPDX-License-Identifier: Apache-2.0

// Command langchain searches a folder by HippoRAG 2 with an agent of langchaingo. Indexing calls no model:
//
//	langchain SERVER MODEL FOLDER QUESTION
//
// SERVER is the address of an OpenAI-compatible server, with the version: http://…/v1.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/llm/langchain"
)

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: langchain SERVER MODEL FOLDER QUESTION")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, server, name, folder, question string) error {
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		return err
	}
	system, err := hipporag2.New(parts, hipporag2.Options{})
	if err != nil {
		return err
	}
	if _, err := system.Index(ctx, load.Options{Formats: office.Formats()}.Documents(ctx, os.DirFS(folder))); err != nil {
		return err
	}
	var chunks []graphrag.Chunk // the pages of the tools find and read
	ids, err := system.List(ctx)
	for _, id := range ids {
		of, _, failed := system.Get(ctx, id)
		chunks, err = append(chunks, of...), errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	tools, err := agent.NewTools(graphrag.Question{Text: question, K: 5}, agent.ToolOptions{
		Retriever: system, Pages: agent.NewPages(chunks), Count: parts.Count,
	})
	if err != nil {
		return err
	}
	model, err := openai.New(openai.WithBaseURL(server), openai.WithModel(name), openai.WithToken("none"))
	if err != nil {
		return err
	}
	theirs := agents.NewOneShotAgent(model, langchain.Tools(tools))
	answer, err := chains.Run(ctx, agents.NewExecutor(theirs), question)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%d tokens were read.\n", answer, agent.DefaultRead-tools.Left())
	return err
}
