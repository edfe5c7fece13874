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

// Move is what an agent does in a turn: calls of tools, or the end. Without either it gives up.
type Move struct {
	Thought string
	Calls   []Call
	// Done ends the search; Answer is what was found, IDs the numbers of what it rests on.
	Done   bool
	Answer string
	IDs    []int
}

// Round is a move and what its calls brought.
type Round struct {
	Move
	Results []Result
	// Condensed, if not "", is shown in place of the results.
	Condensed string
}

// Trail is the state of a search.
type Trail struct {
	Question graphrag.Question
	Rounds   []Round
	// Tools are the names of the tools, Left the tokens that may still be read, Turns the
	// turns that are left, with this one; Calls may be made side by side.
	Tools              []string
	Left, Turns, Calls int
	// Found is what was read so far.
	Found graphrag.Found
}

// Last tells whether nothing more can be read: the move has to be the end.
func (t *Trail) Last() bool { return t.Turns <= 1 || t.Left <= 0 }

// Next decides on a move. An error that wraps [ErrSpent], and one of a single reply
// ([llm.OfOneReply]), ends the search and keeps its results; any other error fails the
// question.
type Next func(ctx context.Context, t *Trail) (Move, error)

// SearchOptions are the options of [Search].
type SearchOptions struct {
	ToolOptions
	// Turns is the largest number of moves, Calls that of calls side by side; 0 means
	// [DefaultTurns] and [DefaultCalls].
	Turns, Calls int
	// Condense, if set, shortens what a turn brought before the next one, see [CondenseByModel].
	Condense func(ctx context.Context, t *Trail, r []Result) (string, error)
}

// DefaultTurns and DefaultCalls bound an agent: chains of facts in the data sets have up to
// four steps, and a step that finds nothing is searched for in other words once.
const (
	DefaultTurns = 8
	DefaultCalls = 4
)

// Search returns a retriever that searches again and again, over any retriever and over raw
// pages, until next has an answer or a limit is met: the turns, the tokens read in all
// (Question.Tokens, if set), or two turns without anything new. Calls of a turn run side by
// side; those beyond the limit are dropped, and said to be. A call that was made before is
// answered from what it found. The evidence is what was read and cited, or without a
// citation all that was read; whatever was done stands in the steps, of which the last has
// the reason for the end. Where the first reply cannot be used, one search for the question
// takes its place.
//
// Do We Still Need GraphRAG (arXiv 2604.09666) puts retrievers into the hands of such an
// agent, Search-o1 (arXiv 2501.05366) condenses what it reads.
func Search(next Next, o SearchOptions) (graphrag.Retriever, error) {
	var problems []error
	if next == nil {
		problems = append(problems, errors.New("agent: Next is missing: it decides what to do"))
	}
	if o.Turns < 0 || o.Calls < 0 {
		problems = append(problems, fmt.Errorf("agent: %d turns and %d calls, want 0 or more", o.Turns, o.Calls))
	}
	if _, err := NewTools(graphrag.Question{}, o.ToolOptions); err != nil {
		problems = append(problems, err)
	}
	if o.Turns == 0 {
		o.Turns = DefaultTurns
	}
	if o.Calls == 0 {
		o.Calls = DefaultCalls
	}
	return &searching{next, o}, errors.Join(problems...)
}

type searching struct {
	next Next
	o    SearchOptions
}

// The reasons for the end of a search with tools beside those of [Reflecting].
const (
	stopTurns  = "the last turn is done"
	stopUnread = "the reply could not be used"
)

// stepStop is the kind of the last step of a search, with the reason for its end.
const stepStop = "stop"

func (s *searching) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if q.Want() == 0 && q.Tokens == 0 {
		return graphrag.Nothing(), ctx.Err()
	}
	tools, err := NewTools(q, s.o.ToolOptions)
	if err != nil {
		return graphrag.Found{}, err
	}
	w := &walk{searching: s, tools: tools, stop: stopTurns}
	w.Trail = Trail{Question: q, Tools: tools.Names(), Turns: s.o.Turns, Calls: s.o.Calls, Found: graphrag.Nothing()}
	for done := false; !done && w.Turns > 0; w.Turns-- {
		w.Left = tools.Left()
		if done, err = w.turn(ctx); err != nil {
			return graphrag.Found{}, err
		}
	}
	if w.stop == stopTurns && tools.Left() <= 0 {
		w.stop = stopSpent
	}
	if w.stop == stopUnread && len(w.Rounds) == 0 && s.o.Retriever != nil { // read what one search finds, rather than nothing
		if _, err := w.carryOut(ctx, Move{Calls: []Call{{Tool: ToolSearch, Query: q.Text}}}); err != nil {
			return graphrag.Found{}, err
		}
	}
	out := tools.all(w.cited)
	out.Steps = append(w.steps, graphrag.Step{Kind: stepStop, Found: []string{w.stop}})
	return out, ctx.Err()
}

// walk is a search under way.
type walk struct {
	*searching
	Trail
	tools *Tools
	steps []graphrag.Step
	cited []graphrag.Hit
	stop  string // the reason for the end
	stale int    // turns without anything new
}

// turn makes the next move, and tells whether it was the last.
func (w *walk) turn(ctx context.Context) (done bool, err error) {
	m, err := trace.Do(ctx, "turn", func(ctx context.Context) (Move, error) { return w.next(ctx, &w.Trail) })
	if reason := ending(err); reason != "" {
		w.stop = reason
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("agent: turn %d: %w", len(w.Rounds)+1, err)
	}
	m.Thought = clip(clean(m.Thought))
	turn := graphrag.Step{Kind: "turn"}
	if m.Thought != "" {
		turn.Found = []string{m.Thought}
	}
	w.steps = append(w.steps, turn)
	switch {
	case m.Done:
		var unread []int
		w.cited, unread = w.tools.Cited(m.IDs)
		w.steps, w.stop = append(w.steps, answered(m, w.cited, unread)), stopAnswered
		return true, nil
	case len(m.Calls) == 0:
		w.stop = stopGaveUp
		return true, nil
	case w.Last():
		return true, nil
	}
	round, err := w.carryOut(ctx, m)
	if err != nil {
		return true, err
	}
	w.Rounds, w.Found = append(w.Rounds, round), w.tools.all(nil)
	if w.stale++; round.news() {
		w.stale = 0
	}
	if w.stale == 2 {
		w.stop = stopNothing
	}
	return w.stale == 2, nil
}

// ending is the reason why an error of a reply ends a search, "" if it does not.
func ending(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrSpent):
		return stopSpent
	case llm.OfOneReply(err):
		return stopUnread
	}
	return ""
}

// answered is the step of an end.
func answered(m Move, cited []graphrag.Hit, unread []int) graphrag.Step {
	step := graphrag.Step{Kind: ToolAnswer, Query: clip(clean(m.Answer)), Found: chunkIDs(cited)}
	if len(unread) > 0 {
		step.Found = append(step.Found, fmt.Sprintf("cited, and never read: %s", numbered(unread[:min(len(unread), 10)])))
	}
	return step
}

// carryOut makes the calls of a move.
func (w *walk) carryOut(ctx context.Context, m Move) (r Round, err error) {
	if n := len(m.Calls); n > w.o.Calls {
		m.Calls = m.Calls[:w.o.Calls]
		w.steps = append(w.steps, graphrag.Step{Kind: "limit", Found: []string{fmt.Sprintf("%d calls at once, the first %d are made", n, w.o.Calls)}})
	}
	r.Move = m
	r.Calls = append([]Call{}, m.Calls...)
	if r.Results, err = w.tools.Do(ctx, r.Calls...); err != nil {
		return r, err
	}
	for _, res := range r.Results {
		step := graphrag.Step{Kind: res.Tool, Query: res.about(), Found: chunkIDs(res.found.Evidence), Tokens: res.Tokens}
		if len(res.Data) == 0 {
			step.Found = []string{res.Note}
		}
		w.steps = append(append(w.steps, step), res.found.Steps...)
	}
	if w.o.Condense != nil && r.news() {
		if r.Condensed, err = w.o.Condense(ctx, &w.Trail, r.Results); err != nil {
			return r, fmt.Errorf("agent: condensing turn %d: %w", len(w.Rounds)+1, err)
		}
	}
	return r, nil
}

// news tells whether a round brought anything new.
func (r Round) news() bool {
	for _, res := range r.Results {
		if res.Tokens > 0 {
			return true
		}
	}
	return false
}
