// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"fmt"
	"strconv"
)

// Kind is what a measure computes from a ranking.
type Kind uint8

// The kinds of measures; R is the number of relevant documents of the query.
const (
	Recall    Kind = iota // relevant among the first k ÷ R
	Precision             // relevant among the first k ÷ k
	AP                    // sum of the precision at each relevant hit ÷ R (average precision)
	RR                    // 1 ÷ rank of the first relevant hit (reciprocal rank)
	NDCG                  // discounted cumulative gain ÷ that of the ideal ranking
	Success               // 1 if any of the first k is relevant
	// RCap is relevant among the first k ÷ min(k, R): BEIR's R_cap@k
	// (arXiv 2104.08663). It is not recall.
	RCap
)

// kinds is indexed by Kind and never changed.
var kinds = [...]struct {
	name      string
	needsK    bool // makes no sense without a cut
	usesLevel bool
}{
	Recall:    {"recall", false, true},
	Precision: {"P", true, true},
	AP:        {"AP", false, true},
	RR:        {"RR", false, true},
	NDCG:      {"nDCG", false, false},
	Success:   {"success", true, true},
	RCap:      {"R_cap", true, true},
}

// Measure is a kind with its settings.
type Measure struct {
	Kind Kind
	// K cuts the ranking: only the first K hits count. 0 is no cut, which
	// Precision, Success and RCap do not have.
	K int
	// Level is the lowest level that is relevant; 0 means 1. NDCG takes
	// levels as gains and has none.
	Level int32
}

// String is the name of the measure, such as "recall@5", "AP" or
// "P(rel=2)@10", in the notation of ir_measures.
func (m Measure) String() string {
	if int(m.Kind) >= len(kinds) {
		return "measure(" + strconv.Itoa(int(m.Kind)) + ")"
	}
	name := kinds[m.Kind].name
	if m.Level > 1 {
		name += "(rel=" + strconv.Itoa(int(m.Level)) + ")"
	}
	if m.K > 0 {
		name += "@" + strconv.Itoa(m.K)
	}
	return name
}

func (m Measure) check() error {
	switch {
	case int(m.Kind) >= len(kinds):
		return fmt.Errorf("rank: measure %v: no such kind", m)
	case m.K < 0 || m.K == 0 && kinds[m.Kind].needsK:
		return fmt.Errorf("rank: measure %v: cut %d: want 1 or more", m, m.K)
	case m.Level < 0 || m.Level > 1 && !kinds[m.Kind].usesLevel:
		return fmt.Errorf("rank: measure %v: level %d: want 1 or more, and none for nDCG", m, m.Level)
	}
	return nil
}

// topic is one query as measures see it.
type topic struct {
	gains     []int32   // levels of the hits, best hit first
	levels    []int32   // of all relevant documents, highest first
	discounts []float64 // log2(rank+1), rank from 1, as many as gains or levels
}

// of computes the measure for one query.
func (m Measure) of(t topic) float64 {
	gains := t.gains
	if m.K > 0 && m.K < len(gains) {
		gains = gains[:m.K]
	}
	if m.Kind == NDCG {
		ideal := t.levels
		if m.K > 0 && m.K < len(ideal) {
			ideal = ideal[:m.K]
		}
		return ratio(dcg(gains, t.discounts), dcg(ideal, t.discounts))
	}
	lowest := max(1, m.Level)
	relevant := 0
	for relevant < len(t.levels) && t.levels[relevant] >= lowest {
		relevant++
	}
	found, first, precisions := 0, 0, 0.0
	for i, g := range gains {
		if g >= lowest {
			found++
			precisions += float64(found) / float64(i+1)
			if found == 1 {
				first = i + 1
			}
		}
	}
	switch m.Kind {
	case Recall:
		return ratio(float64(found), float64(relevant))
	case Precision:
		return float64(found) / float64(m.K)
	case AP:
		return ratio(precisions, float64(relevant))
	case RR:
		return ratio(1, float64(first))
	case Success:
		return float64(min(1, found))
	default: // RCap
		return ratio(float64(found), float64(min(m.K, relevant)))
	}
}

func dcg(gains []int32, discounts []float64) float64 {
	sum := 0.0
	for i, g := range gains {
		if g > 0 {
			sum += float64(g) / discounts[i]
		}
	}
	return sum
}

// ratio is a ÷ b, and 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// HippoRecall is the recall of HippoRAG's evaluation (arXiv 2405.14831;
// retrieval_eval.py): of the different gold documents, the share that is among
// the first k retrieved. Unlike [Recall] it takes lists in which a document
// may stand twice, taking two places, and it knows no levels. It is 0 when
// there is no gold document or k is not positive.
func HippoRecall(ranked, gold []string, k int) float64 {
	found := make(map[string]bool, len(gold))
	for _, d := range gold {
		found[d] = false
	}
	hits := 0
	for _, d := range ranked[:max(0, min(k, len(ranked)))] {
		if already, isGold := found[d]; isGold && !already {
			found[d] = true
			hits++
		}
	}
	return ratio(float64(hits), float64(len(found)))
}
