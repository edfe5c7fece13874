// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

// SearchOptions are the options of [Search].
type SearchOptions struct {
	ToolOptions
	// Turns is the largest number of moves, Calls the largest number of calls side by side; 0 means
	// [DefaultTurns] and [DefaultCalls].
	Turns, Calls int
	// Condense, if set, shortens what a turn brought before the next one: the refinement of
	// Search-o1 (section 3.3).
	Condense llm.Model
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
// citation all that was read; the steps have all that was done, of which the last has
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
		if err == nil && stop == stopUnread && len(s.Turns) == 0 && o.Retriever != nil { // read what one search finds, rather than nothing
			_, err = s.do(ctx, Move{Calls: []Call{{Tool: ToolSearch, Query: q.Text}}})
		}
		out := tools.all(s.cited)
		if out.Declined = stop == stopRefused; (out.Declined || stop == stopGaveUp) && q.Reads() > 0 { // the closest passages
			out.Evidence = out.Evidence[:min(q.Reads(), len(out.Evidence))]
		}
		out.Steps = s.stopped(stop)
		return out, cmp.Or(err, ctx.Err())
	}), errors.Join(problems...)
}

// searching is the search for a question.
type searching struct {
	loop
	tools *Tools
	by    llm.Model // condenses
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

// do makes the calls of a move.
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
