// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
)

// Move is the next action: a search, calls of tools, or the end. Without any of these
// there is no more to look for.
type Move struct {
	// Thought is shown to later moves.
	Thought string `json:"thought"`
	// Query is the next search of [Reflecting], Calls are the next calls of [Search].
	Query string `json:"-"`
	Calls []Call `json:"calls,omitempty"`
	// Answered ends the search: what was found answers the question. Answer says how, and IDs
	// are the numbers of what it rests on.
	Answered bool   `json:"-"`
	Answer   string `json:"answer,omitempty"`
	IDs      []int  `json:"ids,omitempty"`
	// Refused says that the material has no answer.
	Refused bool `json:"-"`
	// Tokens is the cost of the decision.
	Tokens int `json:"-"`
}

// Turn is a move with its results.
type Turn struct {
	Move
	// Results are the results of the calls, Left the tokens that could be read after them;
	// Condensed, if not "", is shown in place of the results.
	Results   []Result
	Left      int
	Condensed string
}

// Memory is the state of the search for a question.
type Memory struct {
	Question graphrag.Question
	// Turns are the turns so far. The first one of [Reflecting] is the question.
	Turns []Turn
	// Found is the result of all of them.
	Found graphrag.Found
	// Left is the rest of the budget in tokens: of reflections, or of what is read with tools;
	// -1 without one. Ahead are the turns that are left, with this one.
	Left, Ahead int
	// Tools are the names of the tools, of which at most Calls may be called side by side.
	Tools []string
	Calls int
}

// Last reports whether nothing more can be read with tools: the move has to be the end.
func (m *Memory) Last() bool { return m.Ahead <= 1 || m.Left == 0 }

// Next decides on a move. An error that wraps [ErrSpent], and one of a single reply
// ([llm.OfOneReply]), ends the search and keeps its results; any other error fails the
// question.
type Next func(ctx context.Context, m *Memory) (Move, error)

// ErrSpent reports that a decision might exceed the budget.
var ErrSpent = errors.New("the budget for reflection is spent")

// The reasons for the end of a search, as in its last step.
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

// loop is the common part of all searches by turns: in each turn a decision is asked for, what to
// do, that is done, and what it brought is taken in, until there is a reason to stop.
type loop struct {
	Memory
	steps []graphrag.Step
	// kind is the name of a turn in traces, steps and errors; stale is how many turns
	// without anything new end the search, 0 none.
	kind  string
	stale int
	// end is the reason why a move ends the search, "" if it does not, and do carries it out.
	end func(Move) string
	do  func(context.Context, Move) (news bool, err error)
}

// run returns the reason for the end.
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

// stopped are the steps, with the reason for the end.
func (l *loop) stopped(stop string) []graphrag.Step {
	return append(l.steps, graphrag.Step{Kind: "stop", Found: []string{stop}})
}
