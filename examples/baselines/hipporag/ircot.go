// SPDX-License-Identifier: Apache-2.0

package hipporag

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// NameIRCoT is the name of [NewIRCoT]'s system in reports.
const NameIRCoT = "hipporag-ircot"

// InfoIRCoT describes the system of [NewIRCoT].
var InfoIRCoT = kit.InfoOf(kit.Info{
	Name: NameIRCoT, Source: "Trivedi and others 2023", Paper: "arXiv 2212.10509, around `hipporag`",
	Costs: "2 a chunk; up to 7 to search", Calls: kit.Calls{Chunk: 2, Question: 2 + 2}, // two thoughts; names of the question and the first thought
}, IRCoTOptions{}, NewIRCoT)

// DefaultSteps is HippoRAG's setting for MuSiQue, whose longest chain has as many facts; for HotpotQA and 2Wiki
// it is 2. DefaultPassages is the number of passages of a step that are merged and shown to the model.
const (
	DefaultSteps    = 4
	DefaultPassages = 10
)

// IRCoTOptions are the options of [NewIRCoT]. The zero value is the default recipe.
type IRCoTOptions struct {
	Options
	// Steps is the largest number of retrievals, Passages the least number of chunks that a retrieval returns;
	// 0 means the default of each.
	Steps, Passages int `source:"HippoRAG, for MuSiQue"`
}

// Defaults returns the options with zero values replaced by their defaults.
func (o IRCoTOptions) Defaults() IRCoTOptions {
	o.Steps, o.Passages = cmp.Or(o.Steps, DefaultSteps), cmp.Or(o.Passages, DefaultPassages)
	return o
}

// NewIRCoT returns HippoRAG with iterative retrieval: a model writes the next thought towards the answer, which is
// the next query, and so on (Trivedi and others, arXiv 2212.10509, ACL 2023), around HippoRAG as in Gutiérrez and
// others (section 4). A chunk has its best score over the steps, scaled to 1 for the best of each step, ties by the
// earlier step. The search ends when a thought contains the answer, is empty or repeated, or after Steps.
//
// Where this differs from HippoRAG's code: a model that fails ends the search, while the code continues with an empty
// thought; the code's prompt has an example of the data set, ours none; the passages in a prompt are bounded in tokens.
//
// A question takes a call for each thought and one for the names in it. Offline there are no thoughts: one step.
func NewIRCoT(k kit.Kit, o IRCoTOptions) (*kit.System, error) {
	f := Frame(k, o.Options)
	f.Name = NameIRCoT
	return kit.New(Around(f, o.Steps, o.Passages))
}

// Around puts iterative retrieval around the retriever of any system; 0 means the default of each number.
func Around(f kit.Frame, steps, passages int) kit.Frame {
	var c kit.Checks
	c.Min("Steps", float64(steps), 0)
	c.Min("Passages", float64(passages), 0)
	c.Add(f.Problems)
	f.Problems = c.Err()
	steps, passages = cmp.Or(steps, DefaultSteps), cmp.Or(passages, DefaultPassages)
	inside := f.Builder()
	f.Build = func(ctx context.Context, corpus *kit.Corpus) (graphrag.Retriever, error) {
		inner, err := inside(ctx, corpus)
		if err != nil {
			return nil, err
		}
		scaled := graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			found, err := inner.Retrieve(ctx, q)
			return scale(found), err
		})
		var r graphrag.Retriever = graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			found, err := scaled(ctx, q)
			found.Steps = append([]graphrag.Step{{Kind: "search", Query: q.Text}}, found.Steps...)
			return found, err
		})
		if steps > 1 {
			next := kit.Step(f.Kit.AnswerModel, byModel(f.Kit, passages), noThought)
			r, err = agent.Reflecting(r, scaled, next, agent.Options{Steps: steps - 1, GoOn: true,
				Merge: func(_ context.Context, all []graphrag.Found, want int) (graphrag.Found, error) {
					return retrieve.Highest(all, want)
				}})
		}
		return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			q.Depth = max(q.Depth, passages)
			return r.Retrieve(ctx, q)
		}), err
	}
	return f
}

// scale divides the scores of a step by the best, to compare steps with PageRank and steps without.
func scale(found graphrag.Found) graphrag.Found {
	if len(found.Ranked) == 0 || found.Ranked[0].Score <= 0 {
		return found
	}
	found.Ranked = slices.Clone(found.Ranked)
	top := found.Ranked[0].Score
	for i := range found.Ranked {
		found.Ranked[i].Score /= top
	}
	return found
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("ircot", promptFiles)

// StageThought names the calls for the next thought in usage figures.
const StageThought = "next thought"

// A thought that contains the answer says so in a sentence; "So the answer is not in the passages" is no
// answer. Models repeat the label at the end of the prompt.
var (
	final    = regexp.MustCompile(`(?i)(^|[.!?:;,]\s)(and )?so,? the answer is\b:?\s*(\S+)`)
	noAnswer = regexp.MustCompile(`(?i)^(not|unknown|unclear|unavailable|still|nowhere|missing)\b`)
	label    = regexp.MustCompile(`(?i)^(next )?thought( \d+)?:\s*`)
)

// byModel asks the model for a thought, which is the next query. An empty or failed reply ends the search.
func byModel(k kit.Kit, passages int) func(llm.Model) agent.Next {
	const shownTokens = 7000 // tokens of passages in a prompt; IRCoT shows 15 paragraphs of 350 words
	return func(model llm.Model) agent.Next {
		return func(ctx context.Context, m *agent.Memory) (agent.Move, error) {
			var data []prompts.Data
			shown := m.Found.Ranked[:min(passages, len(m.Found.Ranked))]
			for i, h := range tokens.Within(shown, shownTokens, func(h graphrag.Hit) int { return k.Count(h.Chunk.Prompt()) }) {
				data = append(data, prompts.Data{Label: fmt.Sprintf("passage %d", i+1), Text: prompts.Printable(h.Chunk.Prompt())})
			}
			var thoughts []string
			for _, t := range m.Turns[1:] {
				thoughts = append(thoughts, t.Query)
			}
			if thoughts != nil {
				data = append(data, prompts.Data{Label: "thoughts", Rows: thoughts, First: 1})
			}
			req, err := templates.Request(ctx, StageThought, "thought", map[string]any{"Question": strings.TrimSpace(prompts.Printable(m.Question.Text))}, data...)
			if err != nil {
				return agent.Move{}, err
			}
			req.Question = m.Question.ID
			reply, err := model.Generate(ctx, req)
			thought := label.ReplaceAllString(strings.Join(strings.Fields(prompts.Printable(reply.Text)), " "), "")
			if answer := final.FindStringSubmatch(thought); err != nil || answer != nil && !noAnswer.MatchString(answer[3]) {
				return agent.Move{}, llm.Fatal(err)
			}
			spans := text.Sentences(thought)
			if len(spans) == 0 {
				return agent.Move{}, nil
			}
			return agent.Move{Query: thought[spans[0].Start:spans[0].End]}, nil // only the first sentence (IRCoT, section 3.1)
		}
	}
}

// noThought ends the search after one step, without a model. Rules for the next query (the sentence or passage
// most similar to the question, or its title) lose 2 to 11 points of recall at 5 on MuSiQue's sample.
func noThought(ctx context.Context, _ *agent.Memory) (agent.Move, error) {
	return agent.Move{}, ctx.Err()
}
