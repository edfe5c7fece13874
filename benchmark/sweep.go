// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"io"

	"github.com/wildgraph/wildgraph/graphrag"
)

// SweepName is the file in the report folder with the answers of the sweep, in
// the form of judgments.jsonl.
const SweepName = "sweep.jsonl"

// SweepPoint holds the summary questions of all domains at one top-k
// (WildGraphBench, Figure 5). At the top-k of the run it repeats the run's own
// figures.
type SweepPoint struct {
	TypeReport
	AnswerUsage graphrag.Usage `json:"answer_usage"`
	JudgeUsage  graphrag.Usage `json:"judge_usage"`
}

// asks returns the item as it is asked with k chunks.
func (s *state) asks(it Item, k int) Item {
	it.Question.K = k
	it.Question.Depth = max(s.opts.Depth, k)
	return it
}

// place names the question put to a system, with the top-k it is asked with.
func (s *state) place(e Entry, d Domain, it Item) place {
	p := place{system: e.Name, domain: d.Name, id: it.Question.ID}
	if it.Question.K != s.topK(it.Question.Type) {
		p.sweep = it.Question.K
	}
	return p
}

// swept are the summary questions of a domain at every other top-k of the
// sweep, as they are put to a system. A system that does not depend on it has
// none.
func (s *state) swept(e Entry, d Domain) []Item {
	if e.Fixed || e.NotApplicable != "" {
		return nil
	}
	var out []Item
	for _, k := range s.opts.SweepTopK {
		for _, it := range s.items[d.Name] {
			if it.Question.Type == graphrag.Summary && k != s.opts.TopKSummary {
				out = append(out, s.asks(it, k))
			}
		}
	}
	return out
}

// sweep gathers the points of a system.
func (s *state) sweep(e Entry) []SweepPoint {
	if e.Fixed || e.NotApplicable != "" {
		return nil
	}
	var out []SweepPoint
	for _, k := range s.opts.SweepTopK {
		t := s.newTally(e)
		t.topK = func(graphrag.QuestionType) int { return k }
		var point SweepPoint
		for _, d := range s.Dataset.Domains {
			for _, it := range s.items[d.Name] {
				if it.Question.Type != graphrag.Summary {
					continue
				}
				p := s.place(e, d, s.asks(it, k))
				a, j := s.log.answers[p], s.log.judgments[p]
				t.add(d.Name, it, a, j)
				point.AnswerUsage = point.AnswerUsage.Add(a.Usage)
				point.JudgeUsage = point.JudgeUsage.Add(judgeUsage(j))
			}
		}
		if point.TypeReport = t.types()[graphrag.Summary]; point.N > 0 {
			out = append(out, point)
		}
	}
	return out
}

// writeSweep writes the answers that are not in judgments.jsonl.
func (s *state) writeSweep(w io.Writer) error {
	enc := lines(w)
	for _, e := range s.Systems {
		for _, d := range s.Dataset.Domains {
			for _, it := range s.swept(e, d) {
				p := s.place(e, d, it)
				if a, ok := s.log.answers[p]; ok {
					if err := enc.Encode(newJudgedAnswer(it, a, s.log.judgments[p])); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// sweepTable shows a row for each system and k, and marks the best k of each.
func (r *Report) sweepTable() Table {
	t := Table{
		Title: r.label("Summaries over top-k"),
		Groups: []ColumnGroup{
			{"Summary", []string{"Mean F1", "F1 of means", "Recall", "Precision"}, true},
			{"Final prompt", []string{"Context tokens", "Evidence recall", "Provenance recall"}, false},
		},
		Notes: []string{"Percent, over all summary questions of the run; the best k of each system is marked. " +
			"Figure 5 of the paper draws F1 over k for HippoRAG 2 on one domain: it rises to k = 8 and falls to k = 12."},
	}
	if r.Kit == OfflineKit {
		t.Notes = append(t.Notes, offlineNote)
	}
	prefix := ""
	if r.Kit == OfflineKit {
		prefix = "Lexical "
	}
	f1 := plot{Title: prefix + "F1 of summaries, mean of questions (%)", X: "top-k"}
	recall := plot{Title: prefix + "recall of summaries (%)", X: "top-k"}
	for _, s := range r.Systems {
		var names []string
		var rows [][]measured
		for _, p := range s.Sweep {
			of := Types{graphrag.Summary: p.TypeReport}
			figure := func(key string, value func(*Judged) *float64) measured {
				return of.judged(graphrag.Summary, key, value)
			}
			row := []measured{
				figure("f1_mean_of_questions", func(j *Judged) *float64 { return j.F1MeanOfQuestions }),
				figure("f1_of_means", func(j *Judged) *float64 { return j.F1OfMeans }),
				figure("recall", func(j *Judged) *float64 { return j.Recall }),
				figure("precision", func(j *Judged) *float64 { return j.Precision }),
				{value: p.ContextTokens, size: true},
				p.evidence("evidence_recall", p.PromptRecall), p.provenance(),
			}
			names = append(names, fmt.Sprintf("%s, k = %d", s.System, p.K))
			rows = append(rows, row)
			f1.add(s.System, p.K, row[0])
			recall.add(s.System, p.K, row[2])
		}
		t.fill(names, rows)
	}
	t.plots = []plot{f1, recall}
	return t
}
