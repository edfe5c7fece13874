// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/judge"
)

// JudgmentsName is the file in the report folder with a [Judgment] a line.
const JudgmentsName = "judgments.jsonl"

// Judgment is a line of the file [JudgmentsName]: everything about one answer.
type Judgment struct {
	System string `json:"system"`
	Domain string `json:"domain"`
	ID     string `json:"id"`
	// Sweep is the top-k of an answer of the sweep.
	Sweep      int                    `json:"sweep,omitempty"`
	Judge      string                 `json:"judge"`
	Fact       *judge.FactJudgment    `json:"fact,omitempty"`
	Summary    *judge.SummaryJudgment `json:"summary,omitempty"`
	Type       string                 `json:"type"`
	Question   string                 `json:"question"`
	Reference  string                 `json:"reference,omitempty"`
	Statements []string               `json:"gold_statements,omitempty"`
	Answer     string                 `json:"answer"`
	Refused    bool                   `json:"refused,omitempty"`
	Error      string                 `json:"error,omitempty"`
	Detail     string                 `json:"detail,omitempty"`
	Metrics    benchmark.Evidence     `json:"metrics"`
	Ranked     []record.Ranked        `json:"ranked,omitempty"`
	// Gold are the units of evidence, see [benchmark.Item].
	Gold []benchmark.Unit `json:"gold,omitempty"`
}

func newJudgment(r benchmark.Result) Judgment {
	a, j := r.Answer, r.Judgment
	return Judgment{
		System: a.System, Domain: a.Domain, ID: a.ID, Judge: j.Judge, Fact: j.Fact, Summary: j.Summary,
		Type: r.Item.Type, Question: a.Question, Reference: r.Item.Reference, Statements: r.Item.Statements,
		Answer: a.Text, Refused: a.Refused, Error: a.Error, Detail: cmp.Or(a.Detail, j.Detail), Metrics: r.Evidence, Ranked: a.Ranked, Gold: r.Item.Gold,
	}
}

// ReadJudgments reads the judgments of a finished run, line by line. The error of a line
// that is none is the last thing that it hands out.
func ReadJudgments(r io.Reader) iter.Seq2[Judgment, error] {
	return func(yield func(Judgment, error) bool) {
		dec := json.NewDecoder(r)
		for n := 1; ; n++ {
			var j Judgment
			err := dec.Decode(&j)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(j, fmt.Errorf("report: judgment %d: %w", n, err))
				return
			case j.System == "" || j.ID == "" || j.Domain == "":
				yield(j, fmt.Errorf("report: judgment %d names no system, domain or question", n))
				return
			case !yield(j, nil):
				return
			}
		}
	}
}
