// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

// refusalTable tells, over all questions, answers from refusals and the right ones
// from the wrong ones. It is there where a system has refused, or should.
func (r *Report) refusalTable() Table {
	t := Table{
		Title:  r.label.title("Answers and refusals"),
		Groups: []ColumnGroup{{"Answered", []string{"Right", "Wrong"}, true}, {"Refused", []string{"Rightly", "Wrongly"}, true}, {"", []string{"Unscored"}, false}},
		Notes: []string{
			"Questions. A refusal is wrong when the system had read pages of all the gold of a fact, or of any of the gold of a summary; " +
				"else, and where a question has no answer, it is right. An answer is right at accuracy or recall 1.",
		},
	}
	refused := r.Config["mode"] == string(reader.Reject)
	for _, s := range r.Systems {
		v := s.Overall.Types[benchmark.All].Verdicts()
		if v == nil {
			t.addTexts(s.name())
			continue
		}
		n := v.Refusals
		refused = refused || n.RefusedRightly+n.RefusedWrongly > 0
		t.addTexts(s.name(), count(n.AnsweredRight), count(n.AnsweredWrong), count(n.RefusedRightly), count(n.RefusedWrongly), count(n.Unscored))
	}
	if !refused {
		return Table{}
	}
	return t
}
