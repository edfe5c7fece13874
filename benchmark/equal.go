// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// TokenSpan is a part of a context, in tokens: where it begins and ends.
type TokenSpan [2]int

// firstMet lists, for each gold unit that the evidence meets, the span of the
// first piece that meets it. ends are the tokens up to the end of each piece.
func firstMet(gold []Unit, evidence []graphrag.Hit, ends []int) []TokenSpan {
	var met []TokenSpan
	for _, unit := range gold {
		start := 0
		for i, h := range evidence {
			if UnitRecall([]Unit{unit}, []string{h.Chunk.Doc}) == 1 {
				met = append(met, TokenSpan{start, ends[i]})
				break
			}
			start = ends[i]
		}
	}
	return met
}

// EvidenceAt is the evidence recall of a context that is cut to a budget of
// tokens: the share of gold units met by the source text that is left. The cut
// shrinks source text and derived text alike; the source text keeps its first
// pieces, and a piece at the edge counts by its share within.
func (a AnswerRecord) EvidenceAt(units int, budget float64) float64 {
	room := float64(a.ContextTokens - a.DerivedTokens)
	if whole := float64(a.ContextTokens); budget < whole {
		room *= budget / whole
	}
	var sum float64
	for _, m := range a.Met {
		start, length := float64(m[0]), float64(m[1]-m[0])
		switch {
		case room >= start+length:
			sum++
		case room > start:
			sum += (room - start) / length
		}
	}
	return sum / float64(max(units, 1))
}

// ContextPair compares a flat system A with another, B, by evidence recall at
// equal context tokens.
type ContextPair struct {
	PairReport
	Type graphrag.QuestionType `json:"type"`
	// ContextTokens is the budget both are given: the smaller of their mean
	// contexts. MeanA and MeanB are the recalls within it, see
	// [AnswerRecord.EvidenceAt].
	ContextTokens float64 `json:"context_tokens"`
	MeanA         float64 `json:"mean_a"`
	MeanB         float64 `json:"mean_b"`
	// Separable tells that the interval is on one side of 0 and PHolm, over
	// all pairs of this kind, below 0.05.
	Separable bool `json:"separable"`
}

// equalContext compares every system that does more than rank chunks with
// every flat one.
func (s *state) equalContext() ([]ContextPair, error) {
	var flat, others []string
	for _, e := range s.Systems {
		switch found, derived := s.nature(e); {
		case found && derived:
			others = append(others, e.Name)
		case found:
			flat = append(flat, e.Name)
		}
	}
	var out []ContextPair
	for _, a := range flat {
		for _, b := range others {
			p, err := s.contextPair(a, b)
			if errors.Is(err, stats.ErrTooFew) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("benchmark: comparing %s and %s at equal context: %w", a, b, err)
			}
			out = append(out, p)
		}
	}
	p := make([]float64, len(out))
	for i := range out {
		p[i] = out[i].P
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return nil, fmt.Errorf("benchmark: correcting p-values: %w", err)
	}
	for i := range out {
		out[i].PHolm = corrected[i]
		out[i].Separable = corrected[i] < stats.DefaultAlpha && (out[i].Low > 0 || out[i].High < 0)
	}
	return out, nil
}

// nature tells whether a system showed evidence, and whether it is more than a
// flat one: it indexes entities or puts derived text into a prompt.
func (s *state) nature(e Entry) (found, derived bool) {
	for _, d := range s.Dataset.Domains {
		derived = derived || s.log.indexes[cell{e.Name, d.Name}].Stats.Entities > 0
		for _, it := range s.items[d.Name] {
			a := s.log.answers[s.place(e, d, it)]
			found = found || a.Metrics.PromptRecall != nil
			derived = derived || a.DerivedTokens > 0
		}
	}
	return found, derived
}

func (s *state) contextPair(a, b string) (ContextPair, error) {
	type question struct {
		units  int
		source string
		a, b   AnswerRecord
	}
	var questions []question
	var lengthA, lengthB float64
	for _, d := range s.Dataset.Domains {
		for _, it := range s.items[d.Name] {
			if it.Question.Type != graphrag.MultiFact || len(it.Gold) == 0 {
				continue
			}
			q := question{len(it.Gold), source(d.Name, it),
				s.log.answers[s.place(Entry{Name: a}, d, it)], s.log.answers[s.place(Entry{Name: b}, d, it)]}
			questions = append(questions, q)
			lengthA += float64(q.a.ContextTokens)
			lengthB += float64(q.b.ContextTokens)
		}
	}
	budget := min(lengthA, lengthB) / math.Max(float64(len(questions)), 1)
	var left, right sample
	for _, q := range questions {
		left.add(ref(q.a.EvidenceAt(q.units, budget)), q.source)
		right.add(ref(q.b.EvidenceAt(q.units, budget)), q.source)
	}
	c, err := stats.Compare(left.values, right.values, stats.Number(left.sources), stats.Options{})
	return ContextPair{
		PairReport: newPairReport(a, b, "evidence_recall", c), Type: graphrag.MultiFact,
		ContextTokens: budget, MeanA: c.MeanA, MeanB: c.MeanB,
	}, err
}

func (r *Report) equalContextTable() Table {
	t := Table{
		Title:      "Multi-fact evidence at equal context",
		RowHeading: "Against a flat system",
		Groups: []ColumnGroup{
			{"", []string{"Questions", "Tokens"}, false},
			{"Evidence recall", []string{"Flat", "Other", "Points", "95 % interval"}, true},
			{"", []string{"Detectable", "p", "p (Holm)", "Verdict"}, false},
		},
		Notes: []string{"Evidence recall of multi-fact questions within as many tokens of the final prompt as the shorter of the two contexts has on average; " +
			"the longer one is shrunk evenly, so facts and reports keep their share of it and find nothing; a chunk at the edge counts by its share. Paired over the same questions, by source page. " +
			"Not separable: the interval holds 0, or p (Holm) is 0.05 or more."},
	}
	for _, p := range r.EqualContext {
		verdict := "not separable"
		switch {
		case p.Separable && p.Difference > 0:
			verdict = "more than flat"
		case p.Separable:
			verdict = "less than flat"
		}
		t.addTexts(p.B+" − "+p.A, append([]string{
			count(p.N), decimal(&p.ContextTokens, 0), percent(&p.MeanA), percent(&p.MeanB),
			points(p.Difference), points(p.Low) + " to " + points(p.High), points(p.Detectable),
		}, pValue(p.P), pValue(p.PHolm), verdict)...)
	}
	return t
}
