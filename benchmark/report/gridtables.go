// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
)

// The modes of a [Trial].
const (
	ModeOpen   = "open"
	ModeReject = "reject"
)

// column is a trial on a data set.
type column struct {
	trial int
	set   string
	mode  string
}

// columns groups those of each data set, and of each model where there are several.
func (g *gridReport) columns(trials ...int) (groups []ColumnGroup, out []column) {
	models := make(map[string]bool)
	for _, t := range g.Trials {
		models[t.Model] = true
	}
	for _, set := range g.sets {
		title := ""
		for _, i := range trials {
			t := g.Trials[i]
			heading := g.Title(set)
			if len(models) > 1 {
				heading += ", " + t.Model
			}
			if heading != title {
				title = heading
				groups = append(groups, ColumnGroup{Heading: heading, Qualified: true})
			}
			group := &groups[len(groups)-1]
			group.Columns = append(group.Columns, capital(t.Mode))
			out = append(out, column{i, set, t.Mode})
		}
	}
	return groups, out
}

// on names the data set where there is one alone: its columns have no heading in a
// terminal then.
func (g *gridReport) on() string {
	if len(g.sets) != 1 {
		return ""
	}
	return " on " + g.Title(g.sets[0])
}

func (g *gridReport) all() []int {
	var out []int
	for i := range g.Trials {
		out = append(out, i)
	}
	return out
}

// tables are all of the grid; what has no rows is left out.
func (g *gridReport) tables() []Table {
	var out []Table
	for _, k := range g.TopK {
		out = append(out, g.accuracyTable(k))
	}
	out = append(out, g.ablationTable(), g.recallTable())
	for _, set := range g.sets {
		out = append(out, g.scoreTable(set))
	}
	out = append(out, g.constructionTable(), g.trafficTable())
	out = slices.DeleteFunc(out, func(t Table) bool { return len(t.Rows) == 0 })
	for i := range out {
		out[i].clean()
	}
	return out
}

// accuracyTable is Table 1 or 2.
func (g *gridReport) accuracyTable(k int) Table {
	groups, columns := g.columns(g.all()...)
	t := Table{
		Title: fmt.Sprintf("%s at top-%d", g.label().title("Accuracy"+g.on()), k), Groups: groups,
		Notes: g.accuracyNotes(columns, k),
	}
	if !g.asked() {
		return Table{}
	}
	var names []string
	var rows [][]measured
	for _, s := range g.systems() {
		names = append(names, s.name())
		rows = append(rows, s.row(g.accuracies(s.System, columns, k)))
	}
	t.fill(names, rows)
	published := func(p PublishedAccuracy) bool { return p.TopK == k && !p.Ablation }
	g.addPublished(&t, columns, published, func(n int) []string {
		if n >= len(g.systems()) {
			return nil
		}
		s := g.systems()[n]
		return append([]string{s.System}, s.Also...)
	})
	if k == g.TopK[0] {
		t.charts = g.modeCharts(k)
	}
	return t
}

// overview has the accuracies of every column and the recall of the first trial, over
// one data set or the mean of several.
func (g *gridReport) overview() Table {
	t := Table{Title: g.Heading + g.label().heading()}
	for _, set := range g.sets {
		for _, k := range g.TopK {
			group := ColumnGroup{Heading: fmt.Sprintf("%s, top-%d", g.Title(set), k), Qualified: true}
			for _, tr := range g.Trials {
				group.Columns = append(group.Columns, capital(tr.Mode))
			}
			t.Groups = append(t.Groups, group)
		}
		t.Groups = append(t.Groups, ColumnGroup{"Passages found", titles("evidence_recall_at_2", "evidence_recall_at_5", "all_at_5"), false})
	}
	g.fill(&t, func(s System) (row []measured) {
		for _, set := range g.sets {
			for _, k := range g.TopK {
				for i := range g.Trials {
					row = append(row, g.cells[cellKey{i, set, s.System, k}].measured("accuracy"))
				}
			}
			for _, key := range []string{"evidence_recall_at_2", "evidence_recall_at_5", "all_at_5"} {
				row = append(row, g.cells[cellKey{0, set, s.System, g.TopK[0]}].measured(key))
			}
		}
		return row
	})
	note := "Accuracy and recall in percent."
	if g.label().lexical {
		note += " Lexical: no language model took part."
	}
	t.Notes = []string{note}
	t.clean()
	return t
}

// asked tells whether there is any question.
func (g *gridReport) asked() bool {
	return slices.ContainsFunc(g.reports, func(r *Report) bool { return r.questions() > 0 })
}

func (g *gridReport) accuracies(system string, columns []column, k int) []measured {
	var row []measured
	for _, c := range columns {
		row = append(row, g.cells[cellKey{c.trial, c.set, system, k}].measured("accuracy"))
	}
	return row
}

// measured is a figure of the cell.
func (c GridCell) measured(key string) measured {
	return Types{benchmark.All: c.Type}.measured(benchmark.All, key)
}

func (g *gridReport) label() label {
	if len(g.Trials) == 0 {
		return label{}
	}
	return labelOf(g.Trials[0].Run)
}

func (g *gridReport) accuracyNotes(columns []column, k int) []string {
	notes := []string{"Percent of the questions whose answer says what the gold answer says."}
	if note := g.label().note(); note != "" {
		notes = append(notes, note)
	}
	most := 0.0
	for _, s := range g.systems() {
		for _, c := range columns {
			if v := g.cells[cellKey{c.trial, c.set, s.System, k}].Verdicts(); v != nil {
				most = max(most, v.Unscored)
			}
		}
	}
	if most > 0 {
		notes = append(notes, fmt.Sprintf("Up to %s %% of a system's questions have no score; the means are over the others.", percent(&most)))
	}
	return notes
}

// modeCharts are Figure 7: the accuracies of both modes beside each other.
func (g *gridReport) modeCharts(k int) []page.Chart {
	var out []page.Chart
	for _, set := range g.sets {
		c := page.Chart{Title: g.label().prefix() + "accuracy on " + g.Title(set) + fmt.Sprintf(" at top-%d (%%)", k)}
		modes := 0
		for _, s := range g.systems() {
			for i, t := range g.Trials {
				m := g.cells[cellKey{i, set, s.System, k}].measured("accuracy")
				if m.value == nil {
					continue
				}
				name := s.System + ", " + t.Mode
				if t.Model != g.Trials[0].Model {
					name += ", " + t.Model
				}
				addBar(&c, name, m.value, percent(m.value))
				modes++
			}
		}
		if modes > 0 {
			out = append(out, c)
		}
	}
	return out
}

// addPublished puts the published rows under the system they are of, a row for each
// model, and those of other systems below all. Columns of data sets that the
// publication does not have stay empty; a row without any figure is left out. of names
// a row's system.
func (g *gridReport) addPublished(t *Table, columns []column, chosen func(PublishedAccuracy) bool, of func(row int) []string) {
	type source struct{ system, label, model string }
	rows := make(map[source]*TableRow)
	var order []source
	var sources []string
	for _, p := range g.Published {
		if !chosen(p) {
			continue
		}
		for i, c := range columns {
			if p.Set != c.set || p.Mode != c.mode {
				continue
			}
			key := source{p.System, p.Label, p.Model}
			if rows[key] == nil {
				rows[key] = &TableRow{Published: true, Cells: slices.Repeat([]Cell{{Text: "–"}}, len(columns))}
				order = append(order, key)
			}
			rows[key].Cells[i].Text = percent(ref(p.Accuracy))
			if from := p.Source + " (judge: " + p.Judge + ")"; !slices.Contains(sources, from) {
				sources = append(sources, from)
			}
		}
	}
	if len(order) == 0 {
		return
	}
	var out []TableRow
	used := make(map[source]bool)
	for n, own := range t.Rows {
		out = append(out, own)
		for _, key := range order {
			if slices.Contains(of(n), key.system) {
				used[key] = true
				row := *rows[key]
				row.Name = "↳ published: " + key.model
				out = append(out, row)
			}
		}
	}
	for _, key := range order {
		if !used[key] {
			row := *rows[key]
			row.Name = key.label + ", published: " + key.model
			out = append(out, row)
		}
	}
	t.Rows = out
	note := "Published rows: " + strings.Join(sources, ", ") + ", over samples of questions of its own."
	if g.label().lexical {
		note += " They do not compare with a lexical judge's figures."
	}
	t.Notes = append(t.Notes, note)
}

// ablationTable is Table 3: of each data set the mode that the publication has in it,
// or the one there is.
func (g *gridReport) ablationTable() Table {
	var rows []System
	for _, name := range g.Ablation {
		for _, s := range g.systems() {
			if s.System == name {
				rows = append(rows, s)
			}
		}
	}
	if len(rows) < 2 || !g.asked() {
		return Table{}
	}
	var columns []column
	t := Table{Title: g.label().title("Ablation"+g.on()) + fmt.Sprintf(" at top-%d", g.TopK[0]), RowHeading: "Variant"}
	for _, set := range g.sets {
		best := 0
		for i, tr := range g.Trials {
			if tr.Model == g.Trials[0].Model && tr.Mode == g.ablationMode(set) {
				best = i
				break
			}
		}
		c := column{best, set, g.Trials[best].Mode}
		columns = append(columns, c)
		t.Groups = append(t.Groups, ColumnGroup{Heading: g.Title(set), Columns: []string{capital(c.mode)}, Qualified: true})
	}
	var names []string
	var figures [][]measured
	for _, s := range rows {
		names = append(names, s.name())
		figures = append(figures, s.row(g.accuracies(s.System, columns, g.TopK[0])))
	}
	t.fill(names, figures)
	t.Notes = g.accuracyNotes(columns, g.TopK[0])
	g.addPublished(&t, columns, func(p PublishedAccuracy) bool { return p.Ablation }, func(n int) []string {
		if n >= len(rows) {
			return nil
		}
		return []string{rows[n].System}
	})
	return t
}

// ablationMode is the mode of a data set in the published ablation, open without.
func (g *gridReport) ablationMode(set string) string {
	for _, p := range g.Published {
		if p.Ablation && p.Set == set {
			return p.Mode
		}
	}
	return ModeOpen
}

// recallTable shows what share of the gold passages was found, where there are any.
func (g *gridReport) recallTable() Table {
	keys := []string{"evidence_recall_at_2", "evidence_recall_at_5", "evidence_recall_at_10", "all_at_5", "mrr"}
	t := Table{Title: "Retrieved passages" + g.on(), Notes: []string{"Percent of the gold passages among the first k chunks; All@5: questions with all of them among the first five."}}
	var sets []string
	for _, set := range g.sets {
		if slices.ContainsFunc(g.systems(), func(s System) bool {
			return g.cells[cellKey{0, set, s.System, g.TopK[0]}].measured(keys[0]).value != nil
		}) {
			sets = append(sets, set)
			t.Groups = append(t.Groups, ColumnGroup{g.Title(set), titles(keys...), true})
		}
	}
	if len(sets) == 0 {
		return Table{}
	}
	g.fill(&t, func(s System) (row []measured) {
		for _, set := range sets {
			for _, key := range keys {
				row = append(row, g.cells[cellKey{0, set, s.System, g.TopK[0]}].measured(key))
			}
		}
		return row
	})
	return t
}

func (g *gridReport) fill(t *Table, row func(System) []measured) {
	var names []string
	var rows [][]measured
	for _, s := range g.systems() {
		names = append(names, s.name())
		rows = append(rows, s.row(row(s)))
	}
	t.fill(names, rows)
}

// scoreTable shows the further scores on a data set, in the first trial.
func (g *gridReport) scoreTable(set string) Table {
	scores := g.scoreNames(set)
	if len(scores) == 0 {
		return Table{}
	}
	columns := append(slices.Clone(scores), "statement_coverage", "context_tokens")
	t := Table{
		Title:  fmt.Sprintf("%s, %s, at top-%d", g.label().title("Scores on "+g.Title(set)), g.Trials[0].Mode, g.TopK[0]),
		Groups: []ColumnGroup{{"Answers", scores, false}, {"Final prompt", titles("statement_coverage", "context_tokens"), false}},
		Notes:  []string{"Percent; docs/multihop.md says what each score is. Statements: content words of the gold answer held by the evidence."},
	}
	g.fill(&t, func(s System) (row []measured) {
		for _, key := range columns {
			row = append(row, g.cells[cellKey{0, set, s.System, g.TopK[0]}].measured(key))
		}
		return row
	})
	return t
}
