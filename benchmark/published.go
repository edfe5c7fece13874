// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"slices"
	"strings"
)

// Published holds figures from a publication about the same data set. They
// stand beside a run's own, marked as what they are, and take part in nothing.
type Published struct {
	Rows   []PublishedRow   `json:"rows,omitempty"`
	Graphs []PublishedGraph `json:"graphs,omitempty"`
}

// PublishedRow is a row of a published table of results. Figures are
// fractions; nil is a figure that is not given.
type PublishedRow struct {
	// System is the name of the system here, Label the one in the publication.
	System string `json:"system"`
	Label  string `json:"label"`
	// Source names publication and table.
	Source string `json:"source"`
	// Domain is "" for all of them together.
	Domain string `json:"domain,omitempty"`
	// Questions is how many it is about.
	Questions int `json:"questions"`
	// Model answered, Judge judged.
	Model string `json:"model"`
	Judge string `json:"judge"`

	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
	SingleFact  *float64 `json:"single_fact_accuracy,omitempty"`
	MultiFact   *float64 `json:"multi_fact_accuracy,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
	Precision   *float64 `json:"precision,omitempty"`
	// One of the two is given: see [Judged].
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// Note is what a reader must know, without full stop.
	Note string `json:"note,omitempty"`
}

// PublishedGraph is a row of a published table of graphs.
type PublishedGraph struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// Model is what built it, with which system.
	Model string `json:"model"`
	// Tokens is the size of the corpus, as printed.
	Tokens        string   `json:"tokens"`
	Nodes         int      `json:"nodes"`
	Edges         int      `json:"edges"`
	MaxDegree     int      `json:"max_degree"`
	IsolatedShare *float64 `json:"isolated_share,omitempty"`
}

// of returns the published rows about a domain, "" for all together.
func (p *Published) of(domain string) []PublishedRow {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r PublishedRow) bool { return r.Domain != domain })
}

// graphs returns the published graphs.
func (p *Published) graphs() []PublishedGraph {
	if p == nil {
		return nil
	}
	return p.Graphs
}

// f1 is the figure and which of the two it is.
func (p PublishedRow) f1() (*float64, string) {
	if p.F1OfMeans != nil {
		return p.F1OfMeans, "F1 of means"
	}
	return p.F1MeanOfQuestions, "mean F1"
}

// addPublished puts each published row under the row of the same system, and
// those of other systems below all. The figures fill the columns of
// qualityGroups; what follows those stays empty. asked is how many questions
// the run has in this table.
func (t *Table) addPublished(rows []PublishedRow, asked int) {
	if len(rows) == 0 {
		return
	}
	var out []TableRow
	used := make([]bool, len(rows))
	for _, own := range t.Rows {
		out = append(out, own)
		for i, p := range rows {
			if p.System == own.Name {
				used[i] = true
				out = append(out, p.tableRow("↳ published", len(own.Cells)))
			}
		}
	}
	for i, p := range rows {
		if !used[i] {
			out = append(out, p.tableRow(p.System+", published", len(t.Columns())))
		}
	}
	t.Rows = out
	t.Notes = append(t.Notes, publishedNotes(rows, asked)...)
}

func (p PublishedRow) tableRow(name string, columns int) TableRow {
	f1, kind := p.f1()
	row := TableRow{Name: fmt.Sprintf("%s: %s, %s", name, p.Model, kind), Published: true}
	for _, f := range []*float64{p.AvgAccuracy, p.SingleFact, p.MultiFact, p.Recall, p.Precision, f1} {
		row.Cells = append(row.Cells, Cell{Text: percent(f)})
	}
	for len(row.Cells) < columns {
		row.Cells = append(row.Cells, Cell{})
	}
	return row
}

// publishedNotes say where the rows are from, and what they say of themselves.
func publishedNotes(rows []PublishedRow, asked int) []string {
	var sources, notes []string
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, p := range rows {
		add(&sources, p.Source+" (judge: "+p.Judge+")")
		add(&notes, p.Note)
	}
	if n := rows[0].Questions; n != asked {
		notes = append(notes, fmt.Sprintf("they are about %s, this run asks %s", plural(n, "question"), count(asked)))
	}
	return []string{"Published rows: " + strings.Join(append([]string{strings.Join(sources, " and ")}, notes...), "; ") + "."}
}
