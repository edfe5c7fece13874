// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
)

// The steps after indexing.
const (
	stageAnswer = "answer"
	stageJudge  = "judge"
)

// health counts what failed, and decides whether the system can be compared.
func (s *System) health(run *benchmark.Run, of benchmark.SystemRun) {
	if of.NotApplicable != "" {
		return
	}
	doubt := func(format string, args ...any) {
		s.NotCompared = append(s.NotCompared, fmt.Sprintf(format, args...))
	}
	var panics []string
	answers, judging := graphrag.Stage{Name: stageAnswer}, graphrag.Stage{Name: stageJudge}
	for i, d := range of.Domains {
		name, index := run.Dataset.Domains[i].Name, d.Index
		if index.Error != "" {
			doubt("no index of %s: %s", name, index.Error)
		}
		if index.Graph && index.Stats.Chunks > 0 && index.Stats.Entities == 0 {
			doubt("the graph of %s is empty: %s, no entity", name, plural(index.Stats.Chunks, "chunk"))
		}
		for _, g := range index.Stats.Stages {
			s.add(g)
		}
		for _, r := range d.Results {
			if r.Skipped {
				s.partial = true
				continue
			}
			answers = sum(answers, answered(r))
			if strings.HasPrefix(r.Answer.Error, "panic:") {
				panics = append(panics, fmt.Sprintf("question %s: %s", r.Answer.ID, r.Answer.Error))
			}
			if r.Answer.Error == "" {
				judging = sum(judging, judged(r))
			}
		}
	}
	if n := len(panics); n > 0 {
		doubt("%s, the first at %s", plural(n, "panic"), panics[0])
	}
	s.add(answers)
	s.add(judging)
	for _, g := range s.Stages {
		if float64(g.Failed) > run.MaxFailed*float64(g.Asked) {
			doubt("%s: %s of %s failed", g.Name, count(g.Failed), count(g.Asked))
		}
	}
}

// add counts a step in the row of its name.
func (s *System) add(g graphrag.Stage) {
	i := slices.IndexFunc(s.Stages, func(have graphrag.Stage) bool { return have.Name == g.Name })
	if i < 0 {
		s.Stages = append(s.Stages, g)
		return
	}
	s.Stages[i] = sum(s.Stages[i], g)
}

func sum(a, b graphrag.Stage) graphrag.Stage {
	a.Asked += b.Asked
	a.Failed += b.Failed
	a.Refused += b.Refused
	a.Repaired += b.Repaired
	return a
}

// answered is one question as a piece of work.
func answered(r benchmark.Result) graphrag.Stage {
	g := graphrag.Stage{Asked: 1}
	if r.Answer.Error != "" {
		g.Failed = 1
	}
	if cause := llm.Kind(r.Answer.Error); cause == llm.ErrRefused || cause == llm.ErrFiltered {
		g.Refused = 1
	}
	return g
}

// judged is one judgment as a piece of work. One whose judge counts a failed call as
// a score of 0 has failed as well.
func judged(r benchmark.Result) graphrag.Stage {
	g := graphrag.Stage{Asked: 1}
	var p judge.Protocol
	switch j := r.Judgment; {
	case j.Fact != nil:
		p = j.Fact.Protocol
	case j.Summary != nil:
		p = j.Summary.Protocol
	}
	for _, v := range r.Judgment.Verdicts() {
		cause := llm.Kind(v.Cause())
		if v.State == judge.Unscored {
			g.Failed = 1
			if cause == llm.ErrRefused || cause == llm.ErrFiltered {
				g.Refused = 1
			}
		}
	}
	if p.Failures > 0 {
		g.Failed = 1
	}
	return g
}

// mark stands behind the name of a system that is not compared.
const mark = " †"

// name is the system's with its other names, marked if it is not compared, and with
// the number of its questions if that is not all.
func (s System) name() string {
	name := strings.Join(append([]string{s.System}, s.Also...), " = ")
	switch {
	case s.partial:
		return fmt.Sprintf("%s (n = %d)", name, s.Overall.Types[benchmark.All].N)
	case len(s.NotCompared) > 0:
		return name + mark
	}
	return name
}

// compared tells whether the system's figures may be set beside those of others.
func (s System) compared() bool {
	return s.NotApplicable == "" && len(s.NotCompared) == 0 && !s.partial
}

// row sets the cells apart that are not compared: all of a system that has
// failed or was not asked everything, and the ranking of one that ranks what is behind its reports.
func (s System) row(cells []measured) []measured {
	for i, c := range cells {
		cells[i].unmarked = c.unmarked || !s.compared() || s.provenance && c.ranked
	}
	return cells
}

// provenance tells whether a system ranks what is behind the texts it reads, and
// reads no chunk: such a ranking says what the texts were made from, not what was
// found.
func provenance(of benchmark.SystemRun) bool {
	found := false
	for _, d := range of.Domains {
		for _, r := range d.Results {
			if len(r.Answer.Evidence) > 0 {
				return false
			}
			found = found || len(r.Answer.Derived) > 0 && len(r.Answer.Ranked) > 0
		}
	}
	return found
}

// failureTable has a row for each step of a system at which something failed.
func (r *Report) failureTable() Table {
	t := Table{
		Title:  "What failed",
		Groups: []ColumnGroup{{"", []string{"Step", "Pieces", "Failed", "%", "Of these refused", "Mended"}, false}},
	}
	for _, s := range r.Systems {
		for _, g := range s.Stages {
			if g.Failed > 0 || g.Repaired > 0 {
				share := float64(g.Failed) / float64(max(g.Asked, 1))
				t.addTexts(s.name(), g.Name, count(g.Asked), count(g.Failed), percent(&share), count(g.Refused), count(g.Repaired))
			}
		}
		if len(s.NotCompared) > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s%s is not compared: %s.", s.System, mark, strings.Join(s.NotCompared, "; ")))
		}
	}
	if len(t.Rows) == 0 && len(t.Notes) > 0 {
		t.addTexts("–")
	}
	return t
}
