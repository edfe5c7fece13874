// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Table is a table of a report, ready to be rendered.
type Table struct {
	Title string
	// RowHeading heads the names of the rows; "" means System.
	RowHeading string
	// Groups head the columns after the first, left to right.
	Groups []ColumnGroup
	Rows   []TableRow
	Notes  []string
}

// ColumnGroup is a group of columns under one heading.
type ColumnGroup struct {
	Heading string
	Columns []string
	// Qualified columns make no sense without the heading.
	Qualified bool
}

// TableRow is a named row of cells.
type TableRow struct {
	Name  string
	Cells []Cell
}

// Cell is one figure as text; Best marks the best of its column. Interval is
// its 95 % confidence interval, "" where there is none.
type Cell struct {
	Text     string
	Best     bool
	Interval string
}

// measured is a figure with its interval; both may be nil.
type measured struct {
	value    *float64
	interval *Interval
}

// notApplicable stands for a figure that does not exist.
const notApplicable = "n/a"

// Heading returns the heading of the rows.
func (t Table) Heading() string {
	if t.RowHeading == "" {
		return "System"
	}
	return t.RowHeading
}

// Columns returns the column headings without their groups.
func (t Table) Columns() []string {
	var out []string
	for _, g := range t.Groups {
		out = append(out, g.Columns...)
	}
	return out
}

// Tables returns the report in the form of the paper: the main results
// (Table 2), what was retrieved, the systems in pairs, what it cost, the
// question counts (Table 5) and the results on every domain (Tables 6–17). Fractions are in percent.
func (r *Report) Tables() []Table {
	out := []Table{r.mainTable(), r.evidenceTable()}
	if len(r.Pairs) > 0 {
		out = append(out, r.pairTable())
	}
	out = append(out, r.costTable())
	if counts := r.countTable(); len(counts.Rows) > 2 {
		out = append(out, counts)
	}
	if len(r.Systems) > 0 {
		for i, d := range r.Systems[0].Domains {
			t := r.domainTable(d.Domain)
			if i < len(r.Systems[0].Domains)-1 {
				t.Notes = nil // the same for all, below the last
			}
			out = append(out, t)
		}
	}
	return out
}

// qualityGroups are the columns of Tables 2 and 6–17.
func qualityGroups() []ColumnGroup {
	return []ColumnGroup{
		{"Question Answering", []string{"Avg. Acc.", "Single-fact Acc.", "Multi-fact Acc."}, false},
		{"Summary", []string{"Recall", "Precision", "F1"}, true},
	}
}

func (r *Report) qualityNotes(f1 string) []string {
	notes := []string{"Percent. F1 is " + f1 + "."}
	if r.Kit == OfflineKit {
		notes = append(notes, "Offline kit: extracted answers and a lexical judge. "+
			"These figures are not a language model's and do not compare with published ones.")
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
	t.fill(r, rows)
	return t
}

func (r *Report) domainTable(domain string) Table {
	t := Table{
		Title:  r.label("Domain: " + domain),
		Groups: qualityGroups(),
		Notes:  r.qualityNotes("the mean of the questions' F1, as in Tables 6–17 of the paper"),
	}
	t.Groups = append(t.Groups, ColumnGroup{"Evidence", []string{"R@5", "R@10"}, true})
	var rows [][]measured
	for _, s := range r.Systems {
		var types Types
		for _, d := range s.Domains {
			if d.Domain == domain {
				types = d.Types
			}
		}
		all := types[All]
		rows = append(rows, append(types.quality(),
			types.judged(graphrag.Summary, "f1_mean_of_questions", func(j *Judged) *float64 { return j.F1MeanOfQuestions }),
			all.evidence("evidence_recall_at_5", all.RecallAt5), all.evidence("evidence_recall_at_10", all.RecallAt10)))
	}
	t.fill(r, rows)
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
	return measured{figure(v), find(v.Intervals, key)}
}

func (t TypeReport) evidence(key string, value *float64) measured {
	return measured{value, find(t.Intervals, key)}
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
			{"All questions", []string{"R@10", "Hit@5", "All@5", "MRR", "In prompt", "Behind prompt", "Statements"}, false},
		},
		Notes: []string{
			"Percent of the gold pages met by the first k chunks. In prompt: by the source text in the final prompt; behind prompt: " +
				"also by the sources of facts and summaries in it. Statements: content words of the gold statements held by the evidence.",
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
			all.evidence("evidence_recall", all.PromptRecall), all.evidence("provenance_recall", all.ProvenanceRecall),
			all.evidence("statement_coverage", all.Coverage),
		})
	}
	t.fill(r, rows)
	return t
}

// pairTable compares the systems two by two.
func (r *Report) pairTable() Table {
	t := Table{
		Title:      "Pairs of systems",
		RowHeading: "Second minus first",
		Groups:     []ColumnGroup{{"", []string{"Figure", "Questions", "Points", "95 % interval", "Detectable", "p", "p (Holm)"}, false}},
		Notes: []string{"Paired over the same questions, by source page: bootstrap interval and permutation test; p (Holm) is corrected for all rows. " +
			"Detectable is the least difference that so many questions show (power 0.8)."},
	}
	for _, p := range r.Pairs {
		name := strings.ReplaceAll(p.Figure, "_", " ")
		if p.Lexical {
			name = "lexical " + name
		}
		row := TableRow{Name: p.B + " − " + p.A}
		for _, text := range []string{
			name, count(p.N), points(p.Difference), points(p.Low) + " to " + points(p.High), points(p.Detectable),
			strconv.FormatFloat(p.P, 'f', 4, 64), strconv.FormatFloat(p.PHolm, 'f', 4, 64),
		} {
			row.Cells = append(row.Cells, Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *Report) costTable() Table {
	t := Table{
		Title: "Cost",
		Groups: []ColumnGroup{
			{"Index", []string{"Chunks", "LLM calls", "Tokens", "Embedded", "Seconds"}, true},
			{"Answers", []string{"LLM calls", "Tokens", "Context", "p50 ms", "p99 ms"}, true},
			{"Judge", []string{"LLM calls", "Tokens"}, true},
			{"Process", []string{"Peak MiB"}, false},
		},
		Notes: []string{"Tokens are prompt and completion together; context is the mean length of the evidence in a prompt."},
	}
	for _, s := range r.Systems {
		row := TableRow{Name: s.System}
		add := func(text string) { row.Cells = append(row.Cells, Cell{Text: text}) }
		var index graphrag.IndexStats
		var seconds *float64
		for _, d := range s.Domains {
			index.Chunks += d.Index.Chunks
			index.Usage = index.Usage.Add(d.Index.Usage)
			if d.Index.Seconds != nil {
				seconds = ref(*d.Index.Seconds + deref(seconds))
			}
		}
		if s.NotApplicable != "" {
			for range t.Columns() {
				add(notApplicable)
			}
			t.Rows = append(t.Rows, row)
			continue
		}
		add(count(index.Chunks))
		add(count(index.Calls))
		add(count(index.PromptTokens + index.CompletionTokens))
		add(count(index.EmbeddedTokens))
		add(decimal(seconds, 1))
		add(count(s.AnswerUsage.Calls))
		add(count(s.AnswerUsage.PromptTokens + s.AnswerUsage.CompletionTokens))
		add(decimal(s.Overall.Types[All].ContextTokens, 0))
		add(decimal(s.QueryMsP50, 1))
		add(decimal(s.QueryMsP99, 1))
		add(count(s.JudgeUsage.Calls))
		add(count(s.JudgeUsage.PromptTokens + s.JudgeUsage.CompletionTokens))
		add(decimal(s.PeakRSSMB, 0))
		t.Rows = append(t.Rows, row)
	}
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
		row(d.Domain, d.Types)
	}
	row("Total", r.Systems[0].Overall.Types)
	return t
}

// fill adds a row per system and marks the best figure of every column.
func (t *Table) fill(r *Report, rows [][]measured) {
	for i, s := range r.Systems {
		row := TableRow{Name: s.System}
		for c, m := range rows[i] {
			cell := Cell{Text: percent(m.value), Best: len(r.Systems) > 1 && isBest(rows, c, m.value)}
			if m.interval != nil {
				cell.Interval = fmt.Sprintf("%.1f–%.1f", 100*m.interval[0], 100*m.interval[1])
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
}

// isBest tells whether no figure of a column is larger than f.
func isBest(rows [][]measured, column int, f *float64) bool {
	if f == nil || *f == 0 {
		return false
	}
	for _, row := range rows {
		if g := row[column].value; g != nil && *g > *f {
			return false
		}
	}
	return true
}

func points(f float64) string { return strconv.FormatFloat(100*f, 'f', 2, 64) }

func percent(f *float64) string {
	if f == nil {
		return notApplicable
	}
	return strconv.FormatFloat(100**f, 'f', 2, 64)
}

func decimal(f *float64, digits int) string {
	if f == nil {
		return "–"
	}
	if digits == 0 {
		return count(int(math.Round(*f)))
	}
	return strconv.FormatFloat(*f, 'f', digits, 64)
}

// count groups digits by threes: 1,197.
func count(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
