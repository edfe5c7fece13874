// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/judge"
)

// Refusals counts right and wrong answers and refusals: a function of what is
// recorded. A refusal is wrong when the system had read enough of the gold to answer,
// see [Held], and right when it had not, or when the question is [Item.Unanswerable].
// What failed or could not be judged is unscored, and so is a refusal of which nobody
// knows what was read.
func Refusals(results ...Result) judge.Refusals {
	var out judge.Refusals
	for _, r := range results {
		verdicts := r.Judgment.Verdicts()
		if r.Skipped || r.Answer.Searched || len(verdicts) == 0 {
			continue
		}
		held, known := Held(r.Item, r.Answer)
		switch v := verdicts[0]; {
		case r.Answer.Error != "" || r.Answer.Refused && !known:
			out.Unscored++
		default:
			out.Add(r.Answer.Refused, held, v)
		}
	}
	return out
}

// Held tells whether what an answer was made of held enough of the gold to answer:
// pages of all units of a question that is right or wrong, a page of any unit of one
// that is judged by statements, since a part of its answer is better than none. Read
// is the source text of the prompt; of a system that reads none, the pages behind what
// it reads. known is false of questions without gold pages, and of answers that were
// made elsewhere of nobody knows what.
func Held(it Item, a record.Answer) (held, known bool) {
	switch {
	case it.Unanswerable:
		return false, true
	case len(it.Gold) == 0 || a.Foreign && a.Ranked == nil:
		return false, false
	}
	var docs []string
	for _, e := range a.Evidence {
		docs = append(docs, e.Doc)
	}
	if len(docs) == 0 {
		for _, d := range a.Derived {
			docs = append(docs, d.Docs...)
		}
	}
	met := UnitRecall(it.Gold, docs)
	return met == 1 || met > 0 && len(it.Statements) > 0, true
}

// unanswerable is the verdict on a question that has no answer.
func unanswerable(a record.Answer) judge.Verdict {
	if a.Refused {
		return judge.Score(1, "refused, as it should be")
	}
	return judge.Score(0, "there is no answer")
}
