// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
)

// newUnitCost divides a usage; nil where there is nothing to divide by.
func newUnitCost(u graphrag.Usage, units float64) *UnitCost {
	if units == 0 {
		return nil
	}
	per := func(n int) float64 { return float64(n) / units }
	return &UnitCost{per(u.Calls), per(u.PromptTokens), per(u.CompletionTokens), per(u.EmbeddedTokens)}
}

// indexed sums the indexes of all domains.
func (s System) indexed() Index {
	var sum Index
	for _, d := range s.Domains {
		sum.Chunks += d.Index.Chunks
		sum.Bytes += d.Index.Bytes
		sum.Usage = sum.Usage.Add(d.Index.Usage)
		if d.Index.Seconds != nil {
			sum.Seconds = ref(*d.Index.Seconds + deref(sum.Seconds))
		}
	}
	return sum
}

// cost relates the usages to the work; nil for a system that was not run.
func (s System) cost() *Cost {
	if s.NotApplicable != "" {
		return nil
	}
	index, questions := s.indexed(), float64(s.Overall.Types[benchmark.All].N)
	if s.foreign {
		return &Cost{JudgePerQuestion: newUnitCost(s.JudgeUsage, questions)}
	}
	return &Cost{
		IndexPerMB:        newUnitCost(index.Usage, float64(index.Bytes)/1e6),
		AnswerPerQuestion: newUnitCost(s.AnswerUsage, questions),
		JudgePerQuestion:  newUnitCost(s.JudgeUsage, questions),
	}
}

func (r *Report) costTable() Table {
	t := Table{
		Title: "Cost",
		Groups: []ColumnGroup{
			{"Index", []string{"MB", "Chunks", "LLM calls", "Tokens", "Embedded", "Seconds"}, true},
			{"Answers", []string{"LLM calls", "Tokens", "p50 ms", "p99 ms"}, true},
			{"Judge", []string{"LLM calls", "Tokens"}, true},
			{"Process", []string{"Peak MiB"}, false},
		},
		Notes: []string{"Totals of the run. Tokens are prompt and completion together."},
	}
	for _, s := range r.Systems {
		if s.NotApplicable != "" {
			t.addTexts(s.name())
			continue
		}
		index := s.indexed()
		tokens := func(u graphrag.Usage) string { return count(u.PromptTokens + u.CompletionTokens) }
		texts := []string{
			megabytes(index.Bytes), count(index.Chunks), count(index.Calls), tokens(index.Usage),
			count(index.EmbeddedTokens), decimal(index.Seconds, 1),
			count(s.AnswerUsage.Calls), tokens(s.AnswerUsage), decimal(s.QueryMsP50, 1), decimal(s.QueryMsP99, 1),
			count(s.JudgeUsage.Calls), tokens(s.JudgeUsage), decimal(s.PeakRSSMB, 0),
		}
		if s.foreign {
			for i := range texts[:10] {
				texts[i] = notApplicable
			}
		}
		t.addTexts(s.name(), texts...)
	}
	return t
}

// unitCostTable is empty when no model was called.
func (r *Report) unitCostTable() Table {
	columns := []string{"Calls", "Prompt", "Completion", "Embedded"}
	t := Table{
		Title: "Cost of a megabyte and of a question",
		Groups: []ColumnGroup{
			{"Index, per MB", columns, true}, {"Answer, per question", columns, true}, {"Judge, per question", columns[:3], true},
		},
		Notes: []string{"Calls of language models; prompt, completion and embedded tokens. A megabyte is a million bytes of documents."},
	}
	called := false
	for _, s := range r.Systems {
		if s.Cost == nil {
			t.addTexts(s.name())
			continue
		}
		var texts []string
		for i, u := range []*UnitCost{s.Cost.IndexPerMB, s.Cost.AnswerPerQuestion, s.Cost.JudgePerQuestion} {
			width := len(columns) - i/2 // a judge embeds nothing
			if u == nil {
				texts = append(texts, slices.Repeat([]string{notApplicable}, width)...)
				continue
			}
			called = called || *u != UnitCost{}
			figures := []string{decimal(&u.Calls, 2), decimal(&u.PromptTokens, 0), decimal(&u.CompletionTokens, 0), decimal(&u.EmbeddedTokens, 0)}
			texts = append(texts, figures[:width]...)
		}
		t.addTexts(s.name(), texts...)
	}
	if !called {
		return Table{}
	}
	return t
}
