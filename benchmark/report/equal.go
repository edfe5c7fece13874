// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// EvidenceAt is the evidence recall of a context that is cut to a budget of
// tokens: the share of gold units met by the source text that is left. The cut
// shrinks source text and derived text alike; the source text keeps its first
// pieces, and a piece at the edge counts by its share within.
func EvidenceAt(gold []benchmark.Unit, a record.Answer, budget float64) float64 {
	room := float64(a.SourceTokens())
	if whole := float64(a.ContextTokens()); budget < whole {
		room *= budget / whole
	}
	var sum float64
	for _, unit := range gold {
		start := 0.0
		for _, piece := range a.Evidence {
			length := float64(piece.Tokens)
			if benchmark.UnitRecall([]benchmark.Unit{unit}, []string{piece.Doc}) == 1 {
				switch {
				case room >= start+length:
					sum++
				case room > start:
					sum += (room - start) / length
				}
				break
			}
			start += length
		}
	}
	return sum / float64(max(len(gold), 1))
}

// equalContext compares every system that does more than rank chunks with
// every flat one.
func equalContext(run *benchmark.Run, systems []benchmark.SystemRun) ([]ContextPair, error) {
	var flat, others []benchmark.SystemRun
	for _, s := range systems {
		switch found, derived := nature(s); {
		case found && derived:
			others = append(others, s)
		case found:
			flat = append(flat, s)
		}
	}
	var out []ContextPair
	for _, kind := range run.Dataset.Types {
		for _, a := range flat {
			for _, b := range others {
				if !kind.Several {
					continue
				}
				p, err := contextPair(kind.Key, a, b)
				if errors.Is(err, stats.ErrTooFew) {
					continue
				}
				if err != nil {
					return nil, fmt.Errorf("report: comparing %s and %s at equal context: %w", a.Name, b.Name, err)
				}
				out = append(out, p)
			}
		}
	}
	err := holm(out, func(p *ContextPair) *Pair { return &p.Pair })
	for i, p := range out {
		out[i].Separable = p.P != nil && *p.PHolm < .05 && (*p.Low > 0 || *p.High < 0)
	}
	return out, err
}

// nature tells whether a system showed text of the sources, and whether it is no flat
// one: it indexes entities or puts derived text into a prompt.
func nature(s benchmark.SystemRun) (found, derived bool) {
	for _, d := range s.Domains {
		derived = derived || d.Index.Stats.Entities > 0
		for _, r := range d.Results {
			found = found || r.Evidence.PromptRecall != nil && !r.Answer.Uncounted && r.Answer.SourceTokens() > 0
			derived = derived || r.Answer.ContextTokens() > r.Answer.SourceTokens()
		}
	}
	return found, derived
}

func contextPair(kind string, a, b benchmark.SystemRun) (ContextPair, error) {
	var questions [][2]benchmark.Result
	var lengthA, lengthB float64
	for d := range a.Domains {
		for i, r := range a.Domains[d].Results {
			if r.Item.Type == kind && len(r.Item.Gold) > 0 {
				other := b.Domains[d].Results[i]
				questions = append(questions, [2]benchmark.Result{r, other})
				lengthA += float64(r.Answer.ContextTokens())
				lengthB += float64(other.Answer.ContextTokens())
			}
		}
	}
	budget := min(lengthA, lengthB) / math.Max(float64(len(questions)), 1)
	var samples [2]sample
	for _, q := range questions {
		for i, r := range q {
			samples[i].add(ref(EvidenceAt(r.Item.Gold, r.Answer, budget)), source(r))
		}
	}
	c, err := stats.Compare(samples[0].values, samples[1].values, stats.Number(samples[0].sources), stats.Options{})
	return ContextPair{
		Pair: newPair(a.Name, b.Name, "evidence_recall", c), Type: kind,
		ContextTokens: budget, MeanA: c.MeanA, MeanB: c.MeanB,
	}, err
}

func (r *Report) equalContextTable() Table {
	several := benchmark.Type{}
	for _, kind := range r.types {
		if kind.Several {
			several = kind
		}
	}
	t := Table{
		Title:      sentence(several.Title) + " evidence at equal context",
		RowHeading: "Against a flat system",
		Groups: []ColumnGroup{
			{"", []string{"Questions", "Tokens"}, false},
			{"Evidence recall", []string{"Flat", "Other", "Points", "95 % interval"}, true},
			{"", []string{"Detectable", "p", "p (Holm)", "Verdict"}, false},
		},
		Notes: []string{"Evidence recall of " + several.Plural + " within as many tokens of the final prompt as the shorter of the two contexts has on average; " +
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
		case p.P == nil:
			verdict = "–"
		}
		texts := []string{count(p.N), decimal(&p.ContextTokens, 0), percent(&p.MeanA), percent(&p.MeanB)}
		t.addTexts(p.B+" − "+p.A, append(append(texts, p.texts()...), verdict)...)
	}
	return t
}
