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

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// SearchOptions are the options of [Search].
type SearchOptions struct {
	ToolOptions
	// Turns is the most moves, Calls the most concurrent calls of tools in a move; 0 means [DefaultTurns] and
	// [DefaultCalls].
	Turns, Calls int
	// Condense, if set, summarizes a turn's results before the next: the refinement of Search-o1 (section 3.3).
	Condense llm.Model
}

// Search returns a retriever that searches in turns, by any retriever and in raw pages, until next has an
// answer or a limit is reached: the turns, the tokens read in all (Question.Tokens, if set), or two turns
// without anything new. Calls in a turn run concurrently; calls beyond the limit are dropped, which a step
// records. A repeated call returns its earlier result. The evidence is the cited part of what was read, or all
// of it without citations; the steps record everything, and the last one has the reason for the end. If the
// first reply cannot be used, one search for the question replaces it.
//
// Do We Still Need GraphRAG (arXiv 2604.09666) gives retrievers to such an agent as tools, and Search-o1 (arXiv
// 2501.05366) condenses what the agent reads.
func Search(next Next, o SearchOptions) (graphrag.Retriever, error) {
	checks := opt.Checks{Of: "agent"}
	checks.Want(next != nil, "Next", "missing", "a function that decides what to do")
	opt.Min(&checks, "Turns", o.Turns, 0)
	opt.Min(&checks, "Calls", o.Calls, 0)
	_, err := NewTools(graphrag.Question{}, o.ToolOptions)
	if err = errors.Join(checks.Err(), err); err != nil {
		return nil, err
	}
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		if q.Want() == 0 && q.Tokens == 0 {
			return graphrag.Nothing(), ctx.Err()
		}
		tools, err := NewTools(q, o.ToolOptions)
		if err != nil {
			return graphrag.Found{}, err
		}
		s := &searching{tools: tools, by: o.Condense}
		s.loop = loop{kind: "turn", stale: 2, end: s.end, do: s.do}
		s.Memory = Memory{Question: q, Found: graphrag.Nothing(), Left: tools.Left(), Ahead: cmp.Or(o.Turns, DefaultTurns), Tools: tools.Names(), Calls: cmp.Or(o.Calls, DefaultCalls)}
		stop, err := s.run(ctx, next)
		if err == nil && stop == stopUnread && len(s.Turns) == 0 && o.Retriever != nil { // one search is better than no evidence
			_, err = s.do(ctx, Move{Calls: []Call{{Tool: ToolSearch, Query: q.Text}}})
		}
		out := tools.all(s.cited)
		if out.Declined = stop == stopRefused; (out.Declined || stop == stopGaveUp) && q.Reads() > 0 { // only the best passages are evidence without an answer
			out.Evidence = out.Evidence[:min(q.Reads(), len(out.Evidence))]
		}
		out.Steps = s.stopped(stop)
		return out, cmp.Or(err, ctx.Err())
	}), nil
}

// searching is the state of a search for one question.
type searching struct {
	loop
	tools *Tools
	by    llm.Model // model that condenses results; may be nil
	cited []graphrag.Hit
}

func (s *searching) end(m Move) string {
	switch {
	case m.Answered:
		var unread []int
		s.cited, unread = s.tools.Cited(m.IDs)
		step := graphrag.Step{Kind: ToolAnswer, Query: clip(clean(m.Answer)), Found: chunkIDs(s.cited)}
		if len(unread) > 0 {
			step.Found = append(step.Found, "cited, and never read: "+numbered(unread[:min(len(unread), 10)]))
		}
		s.steps = append(s.steps, step)
		return stopAnswered
	case len(m.Calls) == 0 && m.Refused:
		return stopRefused
	case len(m.Calls) == 0:
		return stopGaveUp
	case s.Left == 0:
		return stopSpent
	case s.Last():
		return stopSteps
	}
	return ""
}

// do runs the calls of a move.
func (s *searching) do(ctx context.Context, m Move) (news bool, err error) {
	if n := len(m.Calls); n > s.Calls {
		m.Calls = m.Calls[:s.Calls]
		s.steps = append(s.steps, graphrag.Step{Kind: "limit", Found: []string{fmt.Sprintf("%d calls at once, the first %d are made", n, s.Calls)}})
	}
	t := Turn{Move: m}
	s.tools.ahead = s.Ahead
	if t.Results, err = s.tools.Do(ctx, m.Calls...); err != nil {
		return false, err
	}
	for _, r := range t.Results {
		hits, _ := s.tools.Cited(r.Numbers)
		step := graphrag.Step{Kind: r.Tool, Query: r.about(), Found: chunkIDs(hits), Tokens: r.Tokens}
		if len(r.Data) == 0 {
			step.Found = []string{r.Note}
		}
		s.steps = append(append(s.steps, step), r.found.Steps...)
		news = news || r.Tokens > 0
	}
	if s.by != nil && news {
		if t.Condensed, err = s.condense(ctx, s.by, t.Results); err != nil {
			return false, fmt.Errorf("agent: condensing turn %d: %w", len(s.Turns)+1, err)
		}
	}
	t.Left = s.tools.Left()
	s.Turns, s.Left, s.Found = append(s.Turns, t), t.Left, s.tools.all(nil)
	return news, nil
}

// Move is the next action: a search, calls of tools, or the end. Without any of these, the search gives up.
type Move struct {
	// Thought is shown to later moves.
	Thought string `json:"thought"`
	// Query is the next search of [Reflecting], Calls are the next calls of [Search].
	Query string `json:"-"`
	Calls []Call `json:"calls,omitempty"`
	// Answered ends the search: the material answers the question with Answer, from the sources numbered IDs.
	Answered bool   `json:"-"`
	Answer   string `json:"answer,omitempty"`
	IDs      []int  `json:"ids,omitempty"`
	// Refused says that the material contains no answer.
	Refused bool `json:"-"`
	// Tokens is the number of tokens spent on the decision.
	Tokens int `json:"-"`
}

// Turn is a move with its results.
type Turn struct {
	Move
	// Results are the results of the calls; Left is the number of tokens that may still be read after them;
	// Condensed, if not "", replaces the results in later prompts.
	Results   []Result
	Left      int
	Condensed string
}

// Memory is the state of a search for one question, as Next sees it.
type Memory struct {
	Question graphrag.Question
	// Turns are the turns so far. In [Reflecting] the first one is the question.
	Turns []Turn
	// Found is the merged result of all turns.
	Found graphrag.Found
	// Left is the rest of the token budget, for reflections or for reading with tools; -1 means no budget.
	// Ahead is the number of turns left, including this one.
	Left, Ahead int
	// Tools are the names of the tools; Calls is the most concurrent calls.
	Tools []string
	Calls int
}

// Last reports whether nothing more can be read with tools, so that the move has to end the search.
func (m *Memory) Last() bool { return m.Ahead <= 1 || m.Left == 0 }

// Next decides on a move. An error that wraps [ErrSpent], or an error of a single reply ([llm.OfOneReply]),
// ends the search and keeps its results; any other error fails the question.
type Next func(ctx context.Context, m *Memory) (Move, error)

// ErrSpent reports that a decision might exceed the budget.
var ErrSpent = errors.New("the budget for reflection is spent")

// Reasons for the end of a search, recorded in its last step.
const (
	stopAnswered = "answered"
	stopGaveUp   = "no further query"
	stopRefused  = "the material has no answer"
	stopRepeated = "the query was searched for before"
	stopNothing  = "nothing new was found"
	stopSteps    = "the last step is done"
	stopSpent    = "the budget is spent"
	stopUnread   = "the reply could not be used"
)

// loop is the common part of all searches in turns: each turn asks for a move, executes it and records the
// result, until there is a reason to stop.
type loop struct {
	Memory
	steps []graphrag.Step
	// kind is the name of a turn in traces, steps and errors; stale is the number of successive turns without
	// anything new that end the search, 0 for no limit.
	kind  string
	stale int
	// end returns the reason why a move ends the search, "" if it does not; do executes the move.
	end func(Move) string
	do  func(context.Context, Move) (news bool, err error)
}

// run runs the turns and returns the reason for the end.
func (l *loop) run(ctx context.Context, next Next) (stop string, err error) {
	for old := 0; l.Ahead > 0; l.Ahead-- {
		m, err := trace.Do(ctx, l.kind, func(ctx context.Context) (Move, error) { return next(ctx, &l.Memory) })
		switch {
		case errors.Is(err, ErrSpent):
			return stopSpent, nil
		case err != nil && llm.OfOneReply(err):
			return stopUnread, nil
		case err != nil:
			return "", fmt.Errorf("agent: %s %d: %w", l.kind, len(l.Turns)+1, err)
		}
		m.Query = clip(m.Query)
		step := graphrag.Step{Kind: l.kind, Query: m.Query}
		if m.Thought != "" {
			step.Found = []string{m.Thought}
		}
		l.steps = append(l.steps, step)
		if stop := l.end(m); stop != "" {
			return stop, nil
		}
		news, err := l.do(ctx, m)
		if err != nil {
			return "", err
		}
		if old++; news {
			old = 0
		}
		if old > 0 && old == l.stale {
			return stopNothing, nil
		}
	}
	return stopSteps, nil
}

// stopped returns the steps, and one more with the reason for the end.
func (l *loop) stopped(stop string) []graphrag.Step {
	return append(l.steps, graphrag.Step{Kind: "stop", Found: []string{stop}})
}

// moveReply is a move in the form of a model's reply.
type moveReply Move

// Check makes replies.Decode reject a reply without calls and answer. An empty list of calls gives up.
func (r moveReply) Check() error {
	if r.Calls == nil && clean(r.Answer) == "" {
		return errors.New(`neither "calls" nor an "answer": one of them is needed`)
	}
	return nil
}

// NextByModel lets a model decide for [Search], by one JSON object per turn, or by native calls of tools if the
// model supports them ([llm.Request].Tools). All turns are one conversation with a constant prefix, which a
// provider can cache. An unusable reply is asked for once more.
func NextByModel(m llm.Model) (Next, error) {
	if m == nil {
		return nil, errors.New("agent: the model that searches is missing")
	}
	return func(ctx context.Context, memory *Memory) (Move, error) {
		req, err := memory.request(ctx)
		if err != nil {
			return Move{}, err
		}
		r, _, err := replies.Decode[moveReply](ctx, toolCaller{m}, req)
		if err != nil {
			return Move{}, err
		}
		move := Move(r)
		move.Thought = clip(clean(r.Thought))
		move.Calls = slices.DeleteFunc(r.Calls, func(c Call) bool { // the model may write the answer as a call
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

// request returns the conversation so far as a request.
func (m *Memory) request(ctx context.Context) (llm.Request, error) {
	has := func(tool string) bool { return slices.Contains(m.Tools, tool) }
	tokens := m.Left
	for _, t := range m.Turns {
		for _, r := range t.Results {
			tokens += r.Tokens
		}
	}
	values := map[string]any{"Tokens": tokens, "Search": has(ToolSearch), "Pages": has(ToolRead), "Calls": m.Calls, "Turns": m.Ahead + len(m.Turns)}
	req, err := templates.Request(ctx, StageSearch, "search", values, prompts.Data{Label: "question", Text: prompts.Printable(strings.TrimSpace(m.Question.Text))})
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

// Text returns results as text for a model: the notes, then the texts between marks.
func (t *Tools) Text(results ...Result) string { return show(results, "") }

// show is [Tools.Text] with condensed, if not "", in place of the texts.
func show(results []Result, condensed string) string {
	parts := make([]string, len(results))
	var data []prompts.Data
	for i, r := range results {
		parts[i] = fmt.Sprintf("Call %d: %s.", i+1, oneLine(clip(r.Note)))
		data = append(data, r.Data...)
	}
	if condensed != "" {
		data = []prompts.Data{{Label: "results in short", Text: condensed}}
	}
	return strings.TrimSpace(strings.Join(parts, "\n") + "\n\n" + prompts.Fenced(data...))
}

// definitions returns the definitions of tools for models with native calls.
func definitions(names []string) (out []llm.Tool) {
	properties := map[string]string{
		ToolSearch: `"query":{"type":"string"}`, ToolFind: `"pattern":{"type":"string"}`,
		ToolRead:   `"source":{"type":"string"},"from":{"type":"integer"}`,
		ToolAnswer: `"answer":{"type":"string"},"ids":{"type":"array","items":{"type":"integer"}}`,
	}
	for _, name := range names {
		out = append(out, llm.Tool{Name: name, Description: describe(name),
			Parameters: json.RawMessage(`{"type":"object","properties":{` + properties[name] + `}}`)})
	}
	return out
}

// Describe returns a description of a tool and its arguments, "" for an unknown name.
func (t *Tools) Describe(tool string) string { return describe(tool) }

func describe(tool string) string {
	return map[string]string{
		ToolSearch: `Finds passages that are like a query ("query"), numbered.`,
		ToolFind:   `Finds the lines of the pages that match a regular expression ("pattern"; RE2, case ignored), numbered, and says how many there are.`,
		ToolRead:   `Reads a passage ("from", a number) of a page ("source", as results name it) with its neighbours.`,
		ToolAnswer: `Ends with the answer ("answer") and the numbers of the passages or lines that it rests on ("ids").`,
	}[tool]
}

// condense has a model extract from the results of a turn what helps to answer the question, with the numbers
// of the passages. After an unusable reply or a refusal the results stay as they are.
func (m *Memory) condense(ctx context.Context, model llm.Model, results []Result) (string, error) {
	data := []prompts.Data{{Label: "question", Text: prompts.Printable(m.Question.Text)}}
	for _, r := range results {
		data = append(data, r.Data...)
	}
	req, err := templates.Request(ctx, StageCondense, "condense", nil, data...)
	if err != nil {
		return "", err
	}
	req.Question = m.Question.ID
	reply, err := model.Generate(ctx, req)
	return prompts.Printable(strings.TrimSpace(reply.Text)), llm.Fatal(err)
}
