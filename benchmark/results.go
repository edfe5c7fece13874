// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Tables returns the report in the form of the paper: the main results
// (Table 2), what was retrieved, the systems in pairs, the graphs (Table 4 and
// Figure 4), the sweep over top-k (Figure 5), what it cost, the question counts
// (Table 5) and the results on every domain (Tables 6–17). Fractions are in
// percent. What has no rows is left out.
func (r *Report) Tables() []Table {
	out := []Table{
		r.mainTable(), r.evidenceTable(), r.equalContextTable(), r.pairTable(),
		r.graphTable(), r.sweepTable(), r.costTable(), r.unitCostTable(), r.countTable(),
	}
	if len(r.Systems) > 0 {
		for _, d := range r.Systems[0].Domains {
			if d.Types[All].N > 0 {
				out = append(out, r.domainTable(d.Domain))
			}
		}
	}
	// The domain tables share their notes, below the last.
	if last := &out[len(out)-1]; r.questions() > 0 {
		last.Notes = append(last.Notes, r.qualityNotes("the mean of the questions' F1, as in Tables 6–17 of the paper")...)
	}
	return slices.DeleteFunc(out, func(t Table) bool { return len(t.Rows) == 0 })
}

// qualityGroups are the columns of Tables 2 and 6–17.
func qualityGroups() []ColumnGroup {
	return []ColumnGroup{
		{"Question Answering", []string{"Avg. Acc.", "Single-fact Acc.", "Multi-fact Acc."}, false},
		{"Summary", []string{"Recall", "Precision", "F1"}, true},
	}
}

const offlineNote = "Offline kit: extracted answers and a lexical judge. " +
	"These figures are not a language model's and do not compare with published ones."

func (r *Report) qualityNotes(f1 string) []string {
	notes := []string{"Percent. F1 is " + f1 + "."}
	if r.Kit == OfflineKit {
		notes = append(notes, offlineNote)
	}
	if share := r.unscored(); share > 0 {
		notes = append(notes, fmt.Sprintf("Up to %s %% of a system's questions have no score; the means are over the others.", percent(&share)))
	}
	return notes
}

// unscored is the largest share of questions without a score of any system.
func (r *Report) unscored() float64 {
	var most float64
	for _, s := range r.Systems {
		if v := s.Overall.Types[All].Verdicts(); v != nil {
			most = max(most, v.Unscored)
		}
	}
	return most
}

func (r *Report) label(title string) string {
	if r.Kit == OfflineKit {
		return title + " (offline)"
	}
	return title
}

func (r *Report) mainTable() Table {
	t := Table{
		Title:  r.label("Main results"),
		Groups: qualityGroups(),
		Notes:  r.qualityNotes("the harmonic mean of the mean recall and precision, as in Table 2 of the paper"),
	}
	var rows [][]measured
	for _, s := range r.Systems {
		f1 := s.Overall.Types.judged(graphrag.Summary, "f1_of_means", func(j *Judged) *float64 { return j.F1OfMeans })
		rows = append(rows, append(s.Overall.Types.quality(), f1))
	}
	t.fill(r.names(), rows)
	t.addPublished(r.Published.of(""), r.questions())
	return t
}

func (r *Report) names() []string {
	var names []string
	for _, s := range r.Systems {
		names = append(names, s.System)
	}
	return names
}

// questions is how many the run asks.
func (r *Report) questions() int {
	if len(r.Systems) == 0 {
		return 0
	}
	return r.Systems[0].Overall.Types[All].N
}

func (r *Report) domainTable(domain string) Table {
	t := Table{
		Title:  r.label("Domain: " + domain),
		Groups: qualityGroups(),
	}
	t.Groups = append(t.Groups, ColumnGroup{"Evidence", []string{"R@5", "R@10"}, true})
	var rows [][]measured
	asked := 0
	for _, s := range r.Systems {
		var types Types
		for _, d := range s.Domains {
			if d.Domain == domain {
				types = d.Types
			}
		}
		all := types[All]
		asked = all.N
		rows = append(rows, append(types.quality(),
			types.judged(graphrag.Summary, "f1_mean_of_questions", func(j *Judged) *float64 { return j.F1MeanOfQuestions }),
			all.evidence("evidence_recall_at_5", all.RecallAt5), all.evidence("evidence_recall_at_10", all.RecallAt10)))
	}
	t.fill(r.names(), rows)
	t.addPublished(r.Published.of(domain), asked)
	return t
}

// quality are the figures of Tables 2 and 6–17 but for F1, of which there are
// two.
func (t Types) quality() []measured {
	accuracy := func(j *Judged) *float64 { return j.Accuracy }
	return []measured{
		t.judged(All, "accuracy", accuracy),
		t.judged(graphrag.SingleFact, "accuracy", accuracy),
		t.judged(graphrag.MultiFact, "accuracy", accuracy),
		t.judged(graphrag.Summary, "recall", func(j *Judged) *float64 { return j.Recall }),
		t.judged(graphrag.Summary, "precision", func(j *Judged) *float64 { return j.Precision }),
	}
}

func (t Types) judged(of graphrag.QuestionType, key string, figure func(*Judged) *float64) measured {
	v := t[of].Verdicts()
	if v == nil {
		return measured{}
	}
	return measured{value: figure(v), interval: find(v.Intervals, key)}
}

func (t TypeReport) evidence(key string, value *float64) measured {
	return measured{value: value, interval: find(t.Intervals, key)}
}

// provenance is never the best of its column: it tells what a prompt was made
// from.
func (t TypeReport) provenance() measured {
	m := t.evidence("provenance_recall", t.ProvenanceRecall)
	m.unmarked = true
	return m
}

func find(intervals map[string]Interval, key string) *Interval {
	if i, ok := intervals[key]; ok {
		return &i
	}
	return nil
}

func (r *Report) evidenceTable() Table {
	t := Table{
		Title: "Retrieved evidence",
		Groups: []ColumnGroup{
			{"Recall@5", []string{"All", "Single", "Multi", "Summary"}, true},
			{"All questions", []string{"R@10", "Hit@5", "All@5", "MRR"}, false},
			{"Final prompt", []string{"Context tokens", "Evidence recall", "Provenance recall", "Statements"}, false},
		},
		Notes: []string{
			"Percent of the gold pages met by the first k chunks, and by the final prompt: evidence recall by the source text in it; " +
				"provenance recall also by whatever pages are behind its facts and summaries, which says what they were made from, not what was found. " +
				"Statements: content words of the gold statements held by the evidence.",
		},
	}
	var rows [][]measured
	for _, s := range r.Systems {
		types := s.Overall.Types
		all := types[All]
		recall := func(key graphrag.QuestionType) measured {
			return types[key].evidence("evidence_recall_at_5", types[key].RecallAt5)
		}
		rows = append(rows, []measured{
			recall(All), recall(graphrag.SingleFact), recall(graphrag.MultiFact), recall(graphrag.Summary),
			all.evidence("evidence_recall_at_10", all.RecallAt10), all.evidence("hit_at_5", all.HitAt5),
			all.evidence("all_at_5", all.AllAt5), all.evidence("mrr", all.MRR),
			{value: all.ContextTokens, size: true},
			all.evidence("evidence_recall", all.PromptRecall), all.provenance(),
			all.evidence("statement_coverage", all.Coverage),
		})
	}
	t.fill(r.names(), rows)
	return t
}

func (r *Report) countTable() Table {
	t := Table{Title: "Questions per domain", RowHeading: "Domain", Groups: []ColumnGroup{{"", []string{"Single-Fact", "Multi-Fact", "Summary", "Total"}, false}}}
	if len(r.Systems) == 0 {
		return t
	}
	row := func(name string, types Types) {
		var cells []Cell
		for _, key := range []graphrag.QuestionType{graphrag.SingleFact, graphrag.MultiFact, graphrag.Summary, All} {
			cells = append(cells, Cell{Text: count(types[key].N)})
		}
		t.Rows = append(t.Rows, TableRow{Name: name, Cells: cells})
	}
	for _, d := range r.Systems[0].Domains {
		if d.Types[All].N > 0 {
			row(d.Domain, d.Types)
		}
	}
	if len(t.Rows) < 2 {
		return Table{}
	}
	row("Total", r.Systems[0].Overall.Types)
	return t
}
