// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Tables returns the report in the form of the paper: main results (Table 2), failures, refusals, retrieval,
// pairs of systems, graphs (Table 4), the sweep over top-k (Figure 5), costs, question counts (Table 5) and
// the results on every domain (Tables 6–17). Fractions are in percent. Tables without rows are omitted.
func (r *Report) Tables() []page.Table {
	out := []page.Table{
		r.mainTable(), r.failureTable(), r.refusalTable(), r.evidenceTable(),
		r.pairTable(ofBest, "The best system and the others", "Best − other"), r.pairTable(ofBaselines, "The systems and the baselines", "System − baseline"),
		r.GraphTable(), r.sweepTable(), r.spendingTable(), r.costTable(), r.stageTable(), r.countTable(),
	}
	if len(r.Systems) > 0 {
		for i, d := range r.Systems[0].Domains {
			if d.Types[benchmark.All].N > 0 {
				out = append(out, r.domainTable(i))
			}
		}
	}
	// All tables of domains share notes, which are shown below the last one.
	if last := &out[len(out)-1]; r.questions() > 0 {
		last.Notes = append(last.Notes, r.qualityNotes("the mean of the questions' F1, as in Tables 6–17 of the paper")...)
	}
	out = slices.DeleteFunc(out, func(t page.Table) bool { return len(t.Rows) == 0 })
	for i := range out {
		out[i].Heading = cmp.Or(out[i].Heading, "System")
	}
	return out
}

// quality returns the columns of Tables 2 and 6–17, with the given F1, and the type of questions and the key of
// each column's figure.
func (r *Report) quality(f1 string) (groups []page.Group, figures [][2]string) {
	if !hasAnswers(r.types) {
		return nil, nil
	}
	add := func(kind, key, title string) {
		g := &groups[len(groups)-1]
		g.Columns, figures = append(g.Columns, title), append(figures, [2]string{kind, key})
	}
	groups = []page.Group{{Heading: "Question Answering"}}
	add(benchmark.All, "accuracy", "Avg. Acc.")
	for _, kind := range r.types {
		if !kind.Statements && !kind.Search {
			add(kind.Key, "accuracy", kind.Title[:min(1, len(kind.Title))]+strings.ToLower(kind.Title[min(1, len(kind.Title)):])+" Acc.")
		}
	}
	for _, kind := range r.types {
		if kind.Statements {
			groups = append(groups, page.Group{Heading: kind.Title, Qualified: true})
			add(kind.Key, "recall", "Recall")
			add(kind.Key, "precision", "Precision")
			add(kind.Key, f1, "F1")
			if r.has(kind.Key, "precision_ceiling") {
				add(kind.Key, "precision_ceiling", titlesOf("precision_ceiling")[0])
			}
		}
	}
	if r.has(benchmark.All, "grounded") {
		groups = append(groups, page.Group{Heading: "All answers"})
		add(benchmark.All, "grounded", titlesOf("grounded")[0])
	}
	return groups, figures
}

// has reports whether any system has a figure for a type of questions; that depends on the judge.
func (r *Report) has(kind, key string) bool {
	return slices.ContainsFunc(r.Systems, func(s System) bool {
		_, ok := s.Overall.Types[kind].Figure(key)
		return ok
	})
}

// row returns several figures of one type of questions, by their keys.
func (t Types) row(of string, keys ...string) (row []estimate) {
	for _, key := range keys {
		row = append(row, t[of].estimate(key))
	}
	return row
}

// figures returns the figures for pairs of a type of questions and a key.
func (t Types) figures(of [][2]string) (row []estimate) {
	for _, f := range of {
		row = append(row, t[f[0]].estimate(f[1]))
	}
	return row
}

func titlesOf(keys ...string) []string {
	var out []string
	for _, key := range keys {
		f, _ := figureOf(key)
		out = append(out, f.title)
	}
	return out
}

func (r *Report) qualityNotes(f1 string) []string {
	notes := []string{"Percent."}
	if slices.ContainsFunc(r.types, func(t benchmark.Type) bool { return t.Statements }) {
		notes[0] += " F1 is " + f1 + "."
	}
	if note := r.label.note; note != "" {
		notes = append(notes, note)
	}
	own := slices.ContainsFunc(r.Systems, func(s System) bool { return !s.foreign })
	if lookup, embedder := r.Config["lookup"], r.Config["embedder"]; own && lookup != nil && embedder != nil {
		notes = append(notes, fmt.Sprintf("What is most like a question is looked up by %v; dense retrieval is by %v.", lookup, embedder))
	}
	if r.has(benchmark.All, "precision_ceiling") {
		notes = append(notes, "Ceiling: gold statements over statements of the answer, what precision comes to when every gold statement is met by one and nothing else is.")
	}
	if r.has(benchmark.All, "grounded") {
		notes = append(notes, "Grounded: answers whose every claim the evidence supports that the system was given.")
	}
	if note := r.unscored(); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// unscored describes the questions without a score and their main cause; "" if every question has a score.
func (r *Report) unscored() string {
	var most float64
	why := make(map[string]int)
	for _, s := range r.Systems {
		if v := s.Overall.Types[benchmark.All].Verdicts(); v != nil {
			most = max(most, v.Unscored)
		}
		for cause, n := range s.unscored {
			why[cause] += n
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("Up to %s %% of a system's questions have no score%s; the means are over the others.", percent(&most), mostly(why))
}

func (r *Report) mainTable() page.Table {
	groups, figures := r.quality("f1_of_means")
	t := page.Table{
		Title:  "Main results" + r.label.title,
		Groups: groups,
		Notes:  r.qualityNotes("the harmonic mean of the mean recall and precision, as in Table 2 of the paper"),
	}
	if len(t.Groups) == 0 {
		return t
	}
	var rows [][]estimate
	for _, s := range r.Systems {
		rows = append(rows, s.row(s.Overall.Types.figures(figures)))
	}
	addFigures(&t, r.names(), rows)
	r.addPublished(&t, "")
	for _, note := range r.Data {
		t.Notes = append(t.Notes, "Data set: "+note+".")
	}
	return t
}

func (r *Report) names() []string {
	var names []string
	for _, s := range r.Systems {
		names = append(names, s.name())
	}
	return names
}

// questions returns the number of questions of the run, not counting repetitions.
func (r *Report) questions() int {
	most := 0
	for _, s := range r.Systems {
		most = max(most, s.Overall.Types[benchmark.All].N/max(s.times, 1))
	}
	return most
}

func (r *Report) domainTable(i int) page.Table {
	evidence := r.columns(ofDomain)
	domain := r.Systems[0].Domains[i]
	scores := r.scoreNames(func(s System) Type { return s.Domains[i].Types[benchmark.All] })
	groups, figures := r.quality("f1_mean_of_questions")
	t := page.Table{
		Title:  "Domain: " + domain.Domain + r.label.title,
		Groups: append(groups, page.Group{Heading: "Evidence", Columns: titlesOf(evidence...), Qualified: true}),
	}
	if len(scores) > 0 {
		t.Groups = append(t.Groups, page.Group{Heading: "Scores", Columns: scores})
	}
	var rows [][]estimate
	for _, s := range r.Systems {
		types := s.Domains[i].Types
		row := append(types.figures(figures), types.row(benchmark.All, evidence...)...)
		rows = append(rows, s.row(append(row, types.row(benchmark.All, scores...)...)))
	}
	addFigures(&t, r.names(), rows)
	r.addPublished(&t, domain.Domain)
	return t
}

// scoreNames returns the names of the scores that at least one system has in a part of the report.
func (r *Report) scoreNames(part func(System) Type) []string {
	names := make(map[string]bool)
	for _, s := range r.Systems {
		if v := part(s).Verdicts(); v != nil {
			for name := range v.Scores {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (r *Report) evidenceTable() page.Table {
	ranked, prompt := r.columns(ofRanked), r.columns(ofPrompt)
	recall := page.Group{Heading: "Recall@5", Columns: []string{"All"}, Qualified: true}
	keys := []string{benchmark.All}
	for _, kind := range r.types {
		recall.Columns = append(recall.Columns, kind.Short)
		keys = append(keys, kind.Key)
	}
	t := page.Table{
		Title:  "Retrieved evidence",
		Groups: []page.Group{recall, {Heading: "All questions", Columns: titlesOf(ranked...)}, {Heading: "Final prompt", Columns: titlesOf(prompt...)}},
		Notes: []string{
			"Percent of the gold pages met by the first k chunks, and by the final prompt: evidence recall by the source text in it; " +
				"provenance recall also by whatever pages are behind its facts and summaries, which says what they were made from, not what was found. " +
				"Coverage: gold statements of which one chunk of a gold page contains half of the content words, weighted by idf.",
		},
	}
	var rows [][]estimate
	for _, s := range r.Systems {
		types := s.Overall.Types
		var row []estimate
		for _, key := range keys {
			row = append(row, types[key].estimate("evidence_recall_at_5"))
		}
		rows = append(rows, s.row(append(row, types.row(benchmark.All, append(ranked, prompt...)...)...)))
	}
	addFigures(&t, r.names(), rows)
	for _, s := range r.Systems {
		if s.provenance {
			t.Notes = append(t.Notes, s.System+" reads no chunk: its ranking is of the pages behind its reports, and is not compared.")
		}
	}
	return t
}

func (r *Report) countTable() page.Table {
	t := page.Table{Title: "Questions per domain", Heading: "Domain", Groups: []page.Group{{}}}
	var keys []string
	for _, kind := range r.types {
		t.Groups[0].Columns, keys = append(t.Groups[0].Columns, kind.Title), append(keys, kind.Key)
	}
	t.Groups[0].Columns, keys = append(t.Groups[0].Columns, "Total"), append(keys, benchmark.All)
	if len(r.Systems) == 0 {
		return t
	}
	row := func(name string, n map[string]int) {
		var counts []string
		for _, key := range keys {
			counts = append(counts, display.Digits(n[key]))
		}
		addTexts(&t, name, counts...)
	}
	total := make(map[string]int)
	for _, d := range r.set.Domains {
		books, names := make(map[string]map[string]int), []string{}
		for _, it := range d.Items {
			if books[it.Book] == nil {
				names, books[it.Book] = append(names, it.Book), make(map[string]int)
			}
			for _, of := range []map[string]int{books[it.Book], total} {
				of[it.Type]++
				of[benchmark.All]++
			}
		}
		for _, name := range names {
			row(strings.TrimSuffix(d.Name+": "+name, ": "), books[name])
		}
	}
	if len(t.Rows) < 2 {
		return page.Table{}
	}
	row("Total", total)
	return t
}

func (r *Report) heading() string {
	name, _ := r.Config["dataset"].(string)
	return name + strings.Replace(strings.TrimSuffix(r.label.title, ")"), " (", ", ", 1)
}

// summary describes the run in a sentence or two: its size, and settings that are not the default.
func (r *Report) summary() string {
	if len(r.Systems) == 0 {
		return "No system was run."
	}
	n := r.questions()
	said := fmt.Sprintf("%s and %s over %s. Judge: %v.", display.Counted(len(r.Systems), "system"), display.Counted(n, "question"),
		display.Counted(len(r.Systems[0].Domains), "domain"), r.Config["judge"])
	if changed, ok := r.Config["changed"].([]string); ok {
		said += " Settings: " + strings.Join(changed, ", ") + "."
	}
	return said
}

// addPublished adds the published rows about a domain, "" for all domains together. A row is put below the row
// of the same system, or else at the end. The figures fill the columns of quality; later columns stay empty.
// Nothing is added if judge or answers make the figures incomparable. If the data differ, a note says why.
func (r *Report) addPublished(t *page.Table, domain string) {
	if r.Published == nil || !r.label.published {
		return
	}
	rows := slices.DeleteFunc(slices.Clone(r.Published.Rows), func(p benchmark.PublishedRow) bool { return p.Domain != domain })
	if why, absent := r.Published.Absent[domain]; absent {
		t.Notes = append(t.Notes, "Published rows do not stand here: "+why+".")
	}
	if len(rows) == 0 {
		return
	}
	var out []page.Row
	used := make([]bool, len(rows))
	for n, own := range t.Rows {
		out = append(out, own)
		for i, p := range rows {
			if s := r.Systems[n]; p.System == s.System || slices.Contains(s.Also, p.System) {
				used[i] = true
				out = append(out, r.publishedRow(p, "↳ published"+tableOf(p, rows), len(t.Columns())))
			}
		}
	}
	for i, p := range rows {
		if !used[i] {
			out = append(out, r.publishedRow(p, p.System+", published"+tableOf(p, rows), len(t.Columns())))
		}
	}
	t.Rows = out
	t.Notes = append(t.Notes, publishedNotes(rows)...)
}

// tableOf returns the name of a published row's table if several tables have a row of its system, otherwise "".
func tableOf(p benchmark.PublishedRow, rows []benchmark.PublishedRow) string {
	for _, other := range rows {
		if other.System == p.System && other.Source != p.Source {
			_, table, _ := strings.Cut(p.Source, ", ")
			return ", " + table
		}
	}
	return ""
}

func (r *Report) publishedRow(p benchmark.PublishedRow, name string, columns int) page.Row {
	f1, said := p.F1MeanOfQuestions, []string{name + ": accuracy"}
	switch {
	case p.F1OfMeans != nil:
		f1, said[0] = p.F1OfMeans, said[0]+" and F1 of means"
	case f1 != nil:
		said[0] += " and mean F1"
	}
	said = append(said, p.Model)
	if p.Mode != "" {
		said = append(said, p.Mode)
	}
	row := page.Row{
		Name:      strings.Join(append(said, display.Counted(p.Questions, "question")), ", "),
		Cells:     []page.Cell{{Text: percent(p.AvgAccuracy)}},
		Published: true,
	}
	accuracy := map[string]*float64{"single-fact": p.SingleFact, "multi-fact": p.MultiFact}
	for _, kind := range r.types {
		if !kind.Statements {
			row.Cells = append(row.Cells, page.Cell{Text: percent(accuracy[kind.Key])})
		}
	}
	for _, f := range []*float64{p.Recall, p.Precision, f1} {
		row.Cells = append(row.Cells, page.Cell{Text: percent(f)})
	}
	for len(row.Cells) < columns {
		row.Cells = append(row.Cells, page.Cell{})
	}
	return row
}

// publishedNotes returns the sources of published rows, and the notes of the rows.
func publishedNotes(rows []benchmark.PublishedRow) []string {
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
	return []string{"Published rows: " + strings.Join(append([]string{strings.Join(sources, " and ")}, notes...), "; ") + "."}
}

// estimate is a figure with its interval; both may be nil. A size is not shown in percent. An unmarked figure
// takes no part in the comparison for the best of its column.
type estimate struct {
	value    *float64
	interval *Interval
	size     bool
	unmarked bool
	ranked   bool // the figure describes the ranked chunks
}

// point returns the figure, which must be defined, in percent as a point at x.
func (m estimate) point(x float64) page.Point {
	p := page.Point{X: x, Y: 100 * *m.value}
	if m.interval != nil {
		p.Low, p.High = ref(100*m.interval[0]), ref(100*m.interval[1])
	}
	return p
}

// addFigures adds rows of figures to a table, and marks the best figure of every column.
func addFigures(t *page.Table, names []string, rows [][]estimate) {
	for i, name := range names {
		row := page.Row{Name: name}
		for c, m := range rows[i] {
			cell := page.Cell{Text: percent(m.value), Best: !m.unmarked && isBest(rows, c, m.value)}
			if m.size && m.value != nil {
				cell.Text = decimal(m.value, 0)
			}
			if m.interval != nil {
				cell.Interval = m.interval.text("–")
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
}

// isBest reports whether f is larger than all other figures of a column, and the column has another figure.
func isBest(rows [][]estimate, column int, f *float64) bool {
	if f == nil {
		return false
	}
	smaller, equal := 0, 0
	for _, row := range rows {
		switch m := row[column]; {
		case m.unmarked || m.value == nil:
		case *m.value > *f:
			return false
		case *m.value < *f:
			smaller++
		default:
			equal++
		}
	}
	return smaller > 0 && equal == 1
}

// addTexts adds a row of texts; without texts every cell is n/a.
func addTexts(t *page.Table, name string, texts ...string) {
	row := page.Row{Name: name}
	for i := range t.Columns() {
		cell := page.Cell{Text: notApplicable}
		if len(texts) > 0 {
			cell.Text = texts[i]
		}
		row.Cells = append(row.Cells, cell)
	}
	t.Rows = append(t.Rows, row)
}
