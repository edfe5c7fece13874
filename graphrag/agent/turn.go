// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// Stages of the calls that move a search with tools, and condense what it read.
const (
	StageSearch   = "search"
	StageCondense = "condense"
)

// reply is what a model writes in a turn.
type reply struct {
	Thought string `json:"thought"`
	Calls   []Call `json:"calls,omitempty"`
	Answer  string `json:"answer,omitempty"`
	IDs     []int  `json:"ids,omitempty"`
}

// Check implements what llm.Decode asks of replies.
func (r reply) Check() error {
	if len(r.Calls) == 0 && clean(r.Answer) == "" {
		return errors.New(`neither "calls" nor an "answer": one of them is needed`)
	}
	return nil
}

// NextByModel has a model decide: one JSON object a turn, or native calls of tools where the
// model makes such ([llm.Request].Tools), in one conversation whose beginning stays the same,
// so that a provider can keep it. A reply that cannot be used is asked for once more.
func NextByModel(m llm.Model) (Next, error) {
	if m == nil {
		return nil, errors.New("agent: the model that searches is missing")
	}
	return func(ctx context.Context, t *Trail) (Move, error) {
		req, err := t.request(ctx)
		if err != nil {
			return Move{}, err
		}
		r, _, err := llm.Decode[reply](ctx, m, req)
		if err != nil {
			return Move{}, err
		}
		calls := r.Calls[:0]
		for _, c := range r.Calls { // the end may be written as a call
			if tidy(c).Tool != ToolAnswer {
				calls = append(calls, c)
			} else if r.Answer == "" {
				r.Answer, r.IDs = c.Answer, c.IDs
			}
		}
		return Move{Thought: r.Thought, Calls: calls, Done: len(calls) == 0, Answer: r.Answer, IDs: r.IDs}, nil
	}, nil
}

// request is the conversation so far.
func (t *Trail) request(ctx context.Context) (llm.Request, error) {
	has := func(tool string) bool { return slices.Contains(t.Tools, tool) }
	values := map[string]any{"Search": has(ToolSearch), "Pages": has(ToolRead), "Calls": t.Calls, "Turns": t.Turns + len(t.Rounds)}
	req, err := prompts.Request(ctx, StageSearch, "search", values, llm.Data{Label: "question", Text: llm.Printable(strings.TrimSpace(t.Question.Text))})
	if err != nil {
		return req, err
	}
	req.Question, req.Tools = t.Question.ID, definitions(t.Tools)
	left := t.Left
	for i := len(t.Rounds) - 1; i >= 0; i-- { // what was left before each round
		for _, r := range t.Rounds[i].Results {
			left += r.Tokens
		}
	}
	for i, round := range t.Rounds {
		said, err := json.Marshal(reply{Thought: round.Thought, Calls: round.Calls})
		if err != nil {
			return req, err
		}
		for _, r := range round.Results {
			left -= r.Tokens
		}
		shown := round.text()
		if left <= 0 || i == len(t.Rounds)-1 && t.Last() {
			shown += "\n\nThis is the last turn: end with what you know."
		} else {
			shown += fmt.Sprintf("\n\n%d tokens of results are left.", left)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: string(said)}, llm.Message{Role: llm.User, Text: shown})
	}
	return req, nil
}

// text is what a model sees of a round.
func (r Round) text() string {
	if r.Condensed != "" {
		return notes(r.Results) + "\n\n" + fenced([]llm.Data{{Label: "results in short", Text: r.Condensed}})
	}
	return Text(r.Results...)
}

// Text is what a model is shown of results: what is said about them, and then their texts
// between marks.
func Text(results ...Result) string {
	var data []llm.Data
	for _, r := range results {
		data = append(data, r.Data...)
	}
	if len(data) == 0 {
		return notes(results)
	}
	return notes(results) + "\n\n" + fenced(data)
}

// notes are what is said about results, a line each.
func notes(results []Result) string {
	lines := make([]string, len(results))
	for i, r := range results {
		lines[i] = fmt.Sprintf("Call %d: %s.", i+1, oneLine(clip(r.Note)))
	}
	return strings.Join(lines, "\n")
}

// fenced puts texts between marks that none of them can have.
func fenced(data []llm.Data) string {
	texts, pieces := make([]string, len(data)), make([]string, len(data))
	for i, d := range data {
		texts[i] = d.Text
	}
	fence := llm.NewFence(texts...)
	for i, d := range data {
		pieces[i] = fence.Wrap(d.Label, d.Text)
	}
	return strings.Join(pieces, "\n\n")
}

// definitions describe tools to models that call them natively.
func definitions(names []string) (out []llm.Tool) {
	properties := map[string]string{
		ToolSearch: `"query":{"type":"string"}`, ToolFind: `"pattern":{"type":"string"}`,
		ToolRead:   `"source":{"type":"string"},"from":{"type":"integer"}`,
		ToolAnswer: `"answer":{"type":"string"},"ids":{"type":"array","items":{"type":"integer"}}`,
	}
	for _, name := range names {
		out = append(out, llm.Tool{Name: name, Description: Describe(name),
			Parameters: json.RawMessage(`{"type":"object","properties":{` + properties[name] + `}}`)})
	}
	return out
}

// Describe says in a sentence or two what a tool does and takes, "" of other names.
func Describe(tool string) string {
	return map[string]string{
		ToolSearch: `Finds passages that are like a query ("query"), numbered.`,
		ToolFind:   `Finds the lines of the pages that match a regular expression ("pattern"; RE2, case ignored), numbered, and says how many there are.`,
		ToolRead:   `Reads a passage ("from", a number) of a page ("source", as results name it) with its neighbours.`,
		ToolAnswer: `Ends with the answer ("answer") and the numbers of the passages or lines that it rests on ("ids").`,
	}[tool]
}

// CondenseByModel has a model keep of the results of a turn what helps to answer the question,
// with the numbers of the passages: the refinement of Search-o1 (arXiv 2501.05366, section
// 3.3). After an unusable reply or a refusal the results are shown as they are.
func CondenseByModel(m llm.Model) func(ctx context.Context, t *Trail, r []Result) (string, error) {
	return func(ctx context.Context, t *Trail, r []Result) (string, error) {
		data := []llm.Data{{Label: "question", Text: llm.Printable(t.Question.Text)}}
		for _, res := range r {
			data = append(data, res.Data...)
		}
		req, err := prompts.Request(ctx, StageCondense, "condense", nil, data...)
		if err != nil {
			return "", err
		}
		req.Question = t.Question.ID
		reply, err := m.Generate(ctx, req)
		return llm.Printable(strings.TrimSpace(reply.Text)), llm.Fatal(err)
	}
}
