// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
)

// Stages of the calls that move a search with tools, and condense what it read.
const (
	StageSearch   = "search"
	StageCondense = "condense"
)

// written is a move as a model writes it.
type written Move

// Check implements what llm.Decode asks of replies. An empty list of calls without an answer gives up.
func (r written) Check() error {
	if r.Calls == nil && clean(r.Answer) == "" {
		return errors.New(`neither "calls" nor an "answer": one of them is needed`)
	}
	return nil
}

// NextByModel has a model decide for [Search]: one JSON object a turn, or native calls of tools
// where the model makes such ([llm.Request].Tools), in one conversation whose beginning stays
// the same, so that a provider can keep it. A reply that cannot be used is asked for once more.
func NextByModel(m llm.Model) (Next, error) {
	if m == nil {
		return nil, errors.New("agent: the model that searches is missing")
	}
	return func(ctx context.Context, memory *Memory) (Move, error) {
		req, err := memory.request(ctx)
		if err != nil {
			return Move{}, err
		}
		r, _, err := llm.Decode[written](ctx, calling{m}, req)
		if err != nil {
			return Move{}, err
		}
		move := Move(r)
		move.Thought = clip(clean(r.Thought))
		move.Calls = slices.DeleteFunc(r.Calls, func(c Call) bool { // the end may be written as a call
			end := tidy(c).Tool == ToolAnswer
			if end && move.Answer == "" {
				move.Answer, move.IDs = c.Answer, c.IDs
			}
			return end
		})
		move.Refused = len(move.IDs) == 0 && len(move.Calls) == 0 && reader.IsRefusal(memory.Question.Text, cmp.Or(clean(move.Answer), move.Thought))
		move.Answered = len(move.Calls) == 0 && clean(move.Answer) != "" && !move.Refused
		return move, nil
	}, nil
}

// request is the conversation so far.
func (m *Memory) request(ctx context.Context) (llm.Request, error) {
	has := func(tool string) bool { return slices.Contains(m.Tools, tool) }
	tokens := m.Left
	for _, t := range m.Turns {
		for _, r := range t.Results {
			tokens += r.Tokens
		}
	}
	values := map[string]any{"Tokens": tokens, "Search": has(ToolSearch), "Pages": has(ToolRead), "Calls": m.Calls, "Turns": m.Ahead + len(m.Turns)}
	req, err := prompts.Request(ctx, StageSearch, "search", values, llm.Data{Label: "question", Text: llm.Printable(strings.TrimSpace(m.Question.Text))})
	if err != nil {
		return req, err
	}
	req.Question, req.Tools = m.Question.ID, definitions(m.Tools)
	for i, t := range m.Turns {
		said, err := json.Marshal(Move{Thought: t.Thought, Calls: t.Calls})
		if err != nil {
			return req, err
		}
		left := fmt.Sprintf("%d tokens of results are left.", t.Left)
		if t.Left == 0 || i == len(m.Turns)-1 && m.Last() {
			left = "This is the last turn: end with what you know."
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: string(said)}, llm.Message{Role: llm.User, Text: show(t.Results, t.Condensed) + "\n\n" + left})
	}
	return req, nil
}

// Text is the text of results for a model: the notes, and then their texts between marks.
func Text(results ...Result) string { return show(results, "") }

// show is [Text] with something shorter in place of the texts, if there is any.
func show(results []Result, condensed string) string {
	parts := make([]string, len(results))
	var data []llm.Data
	for i, r := range results {
		parts[i] = fmt.Sprintf("Call %d: %s.", i+1, oneLine(clip(r.Note)))
		data = append(data, r.Data...)
	}
	if condensed != "" {
		data = []llm.Data{{Label: "results in short", Text: condensed}}
	}
	return strings.TrimSpace(strings.Join(parts, "\n") + "\n\n" + llm.Fenced(data...))
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

// condense has a model keep of the results of a turn what helps to answer the question, with the
// numbers of the passages. After an unusable reply or a refusal the results are shown as they are.
func (m *Memory) condense(ctx context.Context, model llm.Model, results []Result) (string, error) {
	data := []llm.Data{{Label: "question", Text: llm.Printable(m.Question.Text)}}
	for _, r := range results {
		data = append(data, r.Data...)
	}
	req, err := prompts.Request(ctx, StageCondense, "condense", nil, data...)
	if err != nil {
		return "", err
	}
	req.Question = m.Question.ID
	reply, err := model.Generate(ctx, req)
	return llm.Printable(strings.TrimSpace(reply.Text)), llm.Fatal(err)
}
