// SPDX-License-Identifier: Apache-2.0

package frameworks

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/langchain"
)

// LangChain answers a question by an agent of langchaingo that searches a system, and finds and reads in its texts.
// read is the number of tokens that the tools showed, counted by count.
func LangChain(ctx context.Context, system *kit.System, count func(string) int, model llms.Model, question string) (answer string, read int, err error) {
	var chunks []graphrag.Chunk
	ids, err := system.List(ctx)
	for _, id := range ids {
		pieces, _, failed := system.Get(ctx, id)
		chunks, err = append(chunks, pieces...), errors.Join(err, failed)
	}
	if err != nil {
		return "", 0, err
	}
	tools, err := agent.NewTools(graphrag.Question{Text: question, K: 5}, agent.ToolOptions{
		Retriever: system, Pages: find.New(chunks), Count: count,
	})
	if err != nil {
		return "", 0, err
	}
	theirs := agents.NewOneShotAgent(model, langchain.Tools(tools))
	answer, err = chains.Run(ctx, agents.NewExecutor(theirs), question)
	return answer, agent.DefaultRead - tools.Left(), err
}
