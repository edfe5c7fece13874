// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/judge/rank"
)

// Evidence measures what a system found, without any model. All figures are
// fractions in 0..1, undefined (nil) for questions without gold documents or
// systems that rank nothing.
//
// A ranked chunk stands for the document it was cut from. The cut at k is
// made in the list of chunks, as a top-k prompt sees it: five chunks of one
// document are one document.
type Evidence struct {
	// RecallAt2, RecallAt5 and RecallAt10 are the shares of gold units met by the
	// first k ranked chunks.
	RecallAt2  *float64 `json:"evidence_recall_at_2,omitempty"`
	RecallAt5  *float64 `json:"evidence_recall_at_5,omitempty"`
	RecallAt10 *float64 `json:"evidence_recall_at_10,omitempty"`
	// HitAt5 is 1 when any unit is met by the first five chunks, AllAt5 when
	// all are.
	HitAt5 *float64 `json:"hit_at_5,omitempty"`
	AllAt5 *float64 `json:"all_at_5,omitempty"`
	// MRR is 1/rank of the first chunk of a gold document, 0 without one.
	MRR *float64 `json:"mrr,omitempty"`
	// NDCGAt10 is the discounted cumulative gain of the documents of the first ten
	// chunks over that of the ideal ranking, where documents are graded; see package
	// judge/rank.
	NDCGAt10 *float64 `json:"ndcg_at_10,omitempty"`
	// PromptRecall is the share of gold units met by the source text that was
	// really put into the final prompt, ProvenanceRecall the same over that text
	// and the documents behind summaries and facts in the prompt.
	PromptRecall     *float64 `json:"evidence_recall,omitempty"`
	ProvenanceRecall *float64 `json:"provenance_recall,omitempty"`
	// Found is the share of the gold statements that are found, see [Words.Found].
	Found *float64 `json:"statement_coverage,omitempty"`
}

// Measure compares the ranked chunks and the prompt of an answer with the gold
// of its question. What the evidence held of statements is what was recorded.
func Measure(it Item, a record.Answer) Evidence {
	var e Evidence
	if a.Gold == it.digest() {
		e.Found = a.Found
	}
	if len(it.Gold) == 0 {
		return e
	}
	searched := a.Ranked != nil // and perhaps found nothing, which is a recall of 0
	if searched {
		ranked := make([]string, len(a.Ranked))
		for i, r := range a.Ranked {
			ranked[i] = r.Doc
		}
		e.RecallAt2 = ref(UnitRecall(it.Gold, ranked[:min(2, len(ranked))]))
		e.RecallAt5 = ref(UnitRecall(it.Gold, ranked[:min(5, len(ranked))]))
		e.RecallAt10 = ref(UnitRecall(it.Gold, ranked[:min(10, len(ranked))]))
		e.HitAt5 = ref(indicator(*e.RecallAt5 > 0))
		e.AllAt5 = ref(indicator(*e.RecallAt5 == 1))
		e.MRR = ref(reciprocalRank(it.Gold, ranked))
		e.NDCGAt10 = gain(it.Grades, ranked[:min(10, len(ranked))])
	}
	if searched || len(a.Evidence) > 0 || len(a.Derived) > 0 {
		var docs []string
		for _, p := range a.Evidence {
			docs = append(docs, p.Doc)
		}
		e.PromptRecall = ref(UnitRecall(it.Gold, docs))
		for _, d := range a.Derived {
			docs = append(docs, d.Docs...)
		}
		e.ProvenanceRecall = ref(UnitRecall(it.Gold, docs))
	}
	return e
}

// UnitRecall is the share of units that hold at least one of docs; 0 without
// units. Where every unit is one document it is rank.HippoRecall.
func UnitRecall(gold []Unit, docs []string) float64 {
	if len(gold) == 0 {
		return 0
	}
	met := 0
	for _, u := range gold {
		if u.met(docs) {
			met++
		}
	}
	return float64(met) / float64(len(gold))
}

// met tells whether any of the documents provides the unit.
func (u Unit) met(docs []string) bool {
	return slices.ContainsFunc(docs, func(d string) bool { return slices.Contains(u, d) })
}

// reciprocalRank is 1/rank of the first of docs that is in any unit, else 0.
func reciprocalRank(gold []Unit, docs []string) float64 {
	for i, d := range docs {
		if slices.ContainsFunc(gold, func(u Unit) bool { return slices.Contains(u, d) }) {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// gain is the nDCG of documents in their order, of which each counts once; nil without
// grades.
func gain(grades map[string]int32, docs []string) *float64 {
	if grades == nil {
		return nil
	}
	var judgments []rank.Judgment
	for _, doc := range slices.Sorted(maps.Keys(grades)) {
		judgments = append(judgments, rank.Judgment{Doc: doc, Level: grades[doc]})
	}
	var distinct []string
	for _, d := range docs {
		if !slices.Contains(distinct, d) {
			distinct = append(distinct, d)
		}
	}
	var qrels rank.Qrels
	var run rank.Run
	if errors.Join(qrels.Add("", judgments), run.AddRanking("", distinct)) != nil {
		return nil // neither has a document twice
	}
	r, err := rank.Evaluate(&qrels, &run, []rank.Measure{{Kind: rank.NDCG}}, rank.Complete)
	if err != nil {
		return nil // the measure is valid
	}
	return ref(r.Mean(0))
}

func ref(f float64) *float64 { return &f }

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
