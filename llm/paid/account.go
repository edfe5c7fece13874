// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/llm"
)

// Account is what a [Ledger] adds up to. Equal records give equal accounts,
// whatever their order.
type Account struct {
	Currency string `json:"currency,omitempty"`
	// AsOf is the oldest day among the prices used.
	AsOf  string `json:"as_of,omitempty"`
	Total Line   `json:"total"`
	// By stage, question and model, each sorted by name; calls without a
	// stage or question stand under "".
	Stages    []Line `json:"stages"`
	Questions []Line `json:"questions"`
	Models    []Line `json:"models"`
	// Unknown are the calls that may have cost more than their usage says:
	// those with attempts that ended without a word from the provider, and
	// those the program did not live to see the end of (or are under way).
	Unknown []Entry `json:"unknown,omitempty"`
}

// Line is one sum.
type Line struct {
	Name   string    `json:"name"`
	Calls  int       `json:"calls"` // as made by the program, with all their attempts
	Failed int       `json:"failed,omitempty"`
	Usage  llm.Usage `json:"usage"`
	// Unknown is the number of attempts that may have been billed and are not
	// in Usage.
	Unknown int  `json:"unknown,omitempty"`
	Cost    Cost `json:"cost"`
	// Most is Usage with every unknown attempt at the most it can have taken,
	// and replies without figures at the most of theirs: no bill is larger. MostCost
	// is what that costs.
	Most     llm.Usage `json:"most"`
	MostCost Cost      `json:"most_cost"`
}

func (l *Line) add(t tally, cost, most Cost) {
	l.Calls += t.calls
	l.Failed += t.failed
	l.Unknown += t.unknown
	l.Usage = l.Usage.Add(t.usage)
	l.Cost = l.Cost.Add(cost)
	l.Most = l.Most.Add(t.most)
	l.MostCost = l.MostCost.Add(most)
}

// Account adds up the ledger, earlier runs included.
func (l *Ledger) Account() Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Account{Total: Line{Name: "total"}}
	if l.prices != nil {
		a.Currency = l.prices.Currency
	}
	tallies := maps.Clone(l.tallies)
	a.Unknown = slices.Clone(l.dubious)
	for _, e := range l.open {
		at := purpose{e.Stage, e.Question, e.Model}
		t := tallies[at]
		e.Unknown++ // its last attempt
		t.add(e)
		tallies[at] = t
		a.Unknown = append(a.Unknown, e)
	}
	slices.SortFunc(a.Unknown, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Stage, y.Stage), cmp.Compare(x.Question, y.Question), cmp.Compare(x.Model, y.Model),
			cmp.Compare(x.Key, y.Key), cmp.Compare(x.ID, y.ID))
	})
	stages, questions, models := map[string]*Line{}, map[string]*Line{}, map[string]*Line{}
	for at, t := range tallies { // whole numbers: the order does not matter
		cost, most := l.prices.Cost(at.model, t.usage), l.prices.Cost(at.model, t.most)
		if price, ok := l.prices.of(at.model); ok && (a.AsOf == "" || price.AsOf < a.AsOf) {
			a.AsOf = price.AsOf
		}
		a.Total.add(t, cost, most)
		line(stages, at.stage).add(t, cost, most)
		line(questions, at.question).add(t, cost, most)
		line(models, at.model).add(t, cost, most)
	}
	a.Stages, a.Questions, a.Models = sortedLines(stages), sortedLines(questions), sortedLines(models)
	return a
}

func line(lines map[string]*Line, name string) *Line {
	if lines[name] == nil {
		lines[name] = &Line{Name: name}
	}
	return lines[name]
}

func sortedLines(lines map[string]*Line) []Line {
	out := make([]Line, 0, len(lines))
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		out = append(out, *lines[name])
	}
	return out
}

// Estimate is what a run is expected to take, before it is started. The zero
// value is ready; a program fills it stage by stage.
type Estimate struct {
	Stages []Expected `json:"stages"`
}

// Expected is the expectation for one stage and model.
type Expected struct {
	Stage string    `json:"stage"`
	Model string    `json:"model"`
	Usage llm.Usage `json:"usage"`
}

// Add expects more of a stage and model. Lines stay in the order in which
// they were first added.
func (e *Estimate) Add(stage, model string, u llm.Usage) {
	u.Estimated = true
	for i := range e.Stages {
		if s := &e.Stages[i]; s.Stage == stage && s.Model == model {
			s.Usage = s.Usage.Add(u)
			return
		}
	}
	e.Stages = append(e.Stages, Expected{Stage: stage, Model: model, Usage: u})
}

// Total is the sum over all stages.
func (e *Estimate) Total() llm.Usage {
	var sum llm.Usage
	for _, s := range e.Stages {
		sum = sum.Add(s.Usage)
	}
	return sum
}

// Cost is what the run would cost. prices may be nil.
func (e *Estimate) Cost(prices *Prices) Cost {
	var sum Cost
	for _, s := range e.Stages {
		sum = sum.Add(prices.Cost(s.Model, s.Usage))
	}
	return sum
}
