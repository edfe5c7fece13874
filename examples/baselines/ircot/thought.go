// SPDX-License-Identifier: Apache-2.0

package ircot

import (
	"context"
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts("ircot", promptFiles)

// StageThought names the calls for the next thought in accounts.
const StageThought = "next thought"

// A thought with the answer has a sentence that says so; "So the answer is not in the passages" is not
// an answer. Models repeat the label at the prompt's end.
var (
	final    = regexp.MustCompile(`(?i)(^|[.!?:;,]\s)(and )?so,? the answer is\b:?\s*(\S+)`)
	noAnswer = regexp.MustCompile(`(?i)^(not|unknown|unclear|unavailable|still|nowhere|missing)\b`)
	label    = regexp.MustCompile(`(?i)^(next )?thought( \d+)?:\s*`)
)

// answers reports whether a thought contains the answer.
func answers(thought string) bool {
	m := final.FindStringSubmatch(thought)
	return m != nil && !noAnswer.MatchString(m[3])
}

// firstSentence returns the query of a thought, its first sentence (IRCoT, section 3.1).
func firstSentence(thought string) string {
	spans := text.Sentences(thought)
	if len(spans) == 0 {
		return ""
	}
	return thought[spans[0].Start:spans[0].End]
}

// shownTokens bounds the passages of a prompt: IRCoT shows 15 paragraphs of 350 words.
const shownTokens = 7000

// byModel asks the model for a thought, the next query; "" ends the search, and so does a failed
// reply.
func byModel(k kit.Kit, passages int) func(llm.Model) agent.Next {
	return func(model llm.Model) agent.Next {
		return func(ctx context.Context, m *agent.Memory) (agent.Move, error) {
			var data []llm.Data
			shown := m.Found.Ranked[:min(passages, len(m.Found.Ranked))]
			for i, h := range retrieve.Within(shown, shownTokens, func(h graphrag.Hit) int { return k.Count(retrieve.Shown(h.Chunk)) }) {
				data = append(data, llm.Data{Label: fmt.Sprintf("passage %d", i+1), Text: llm.Printable(retrieve.Shown(h.Chunk))})
			}
			var thoughts []string
			for _, t := range m.Turns[1:] {
				thoughts = append(thoughts, t.Query)
			}
			if thoughts != nil {
				data = append(data, llm.Data{Label: "thoughts", Rows: thoughts, First: 1})
			}
			req, err := prompts.Request(ctx, StageThought, "thought", map[string]any{"Question": strings.TrimSpace(llm.Printable(m.Question.Text))}, data...)
			if err != nil {
				return agent.Move{}, err
			}
			req.Question = m.Question.ID
			reply, err := model.Generate(ctx, req)
			thought := label.ReplaceAllString(strings.Join(strings.Fields(llm.Printable(reply.Text)), " "), "")
			if err != nil || answers(thought) {
				return agent.Move{}, llm.Fatal(err)
			}
			return agent.Move{Query: firstSentence(thought)}, nil
		}
	}
}

// noThought ends the search after one step, without a model. Rules for the next query (the sentence or
// passage most similar to the question, or its title) lose 2 to 11 points of recall at 5 on MuSiQue's
// sample.
func noThought(ctx context.Context, _ *agent.Memory) (agent.Move, error) {
	return agent.Move{}, ctx.Err()
}
