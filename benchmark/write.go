// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
)

// WriteJSON writes the report as indented JSON, with sorted keys.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// csvColumns are the figures of a CSV row, in order.
var csvColumns = []struct {
	name  string
	value func(t TypeReport) *float64
}{
	{"evidence_recall_at_5", func(t TypeReport) *float64 { return t.RecallAt5 }},
	{"evidence_recall_at_10", func(t TypeReport) *float64 { return t.RecallAt10 }},
	{"hit_at_5", func(t TypeReport) *float64 { return t.HitAt5 }},
	{"all_at_5", func(t TypeReport) *float64 { return t.AllAt5 }},
	{"mrr", func(t TypeReport) *float64 { return t.MRR }},
	{"evidence_recall", func(t TypeReport) *float64 { return t.PromptRecall }},
	{"provenance_recall", func(t TypeReport) *float64 { return t.ProvenanceRecall }},
	{"statement_coverage", func(t TypeReport) *float64 { return t.Coverage }},
	{"context_tokens", func(t TypeReport) *float64 { return t.ContextTokens }},
	{"accuracy", func(t TypeReport) *float64 { return judged(t).Accuracy }},
	{"recall", func(t TypeReport) *float64 { return judged(t).Recall }},
	{"precision", func(t TypeReport) *float64 { return judged(t).Precision }},
	{"f1_mean_of_questions", func(t TypeReport) *float64 { return judged(t).F1MeanOfQuestions }},
	{"f1_of_means", func(t TypeReport) *float64 { return judged(t).F1OfMeans }},
	{"unscored", func(t TypeReport) *float64 {
		if v := t.Verdicts(); v != nil {
			return &v.Unscored
		}
		return nil
	}},
}

// FigureKeys are the keys of the figures of a [TypeReport], in the order of the
// CSV file.
func FigureKeys() []string {
	keys := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		keys[i] = c.name
	}
	return keys
}

// Figure returns a figure by its key, and false if it is not defined.
func (t TypeReport) Figure(key string) (float64, bool) {
	for _, c := range csvColumns {
		if c.name == key {
			if f := c.value(t); f != nil {
				return *f, true
			}
		}
	}
	return 0, false
}

func judged(t TypeReport) Judged {
	if v := t.Verdicts(); v != nil {
		return *v
	}
	return Judged{}
}

// WriteCSV writes one row per system, domain and question type; the domain
// "*" is all domains together. The column judge tells lexical figures from a
// model's. Undefined figures are empty.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"system", "domain", "type", "n", "k", "judge"}
	for _, c := range csvColumns {
		header = append(header, c.name)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, s := range r.Systems {
		for _, d := range append(s.Domains[:len(s.Domains):len(s.Domains)], DomainReport{Domain: "*", Types: s.Overall.Types}) {
			for _, key := range []graphrag.QuestionType{graphrag.SingleFact, graphrag.MultiFact, graphrag.Summary, All} {
				if t, ok := d.Types[key]; ok {
					if err := out.Write(csvRow(s.System, d.Domain, key, t)); err != nil {
						return err
					}
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvRow(system, domain string, key graphrag.QuestionType, t TypeReport) []string {
	kind := "model"
	switch {
	case t.Lexical != nil:
		kind = "lexical"
	case t.Judged == nil:
		kind = ""
	}
	row := []string{csvText(system), csvText(domain), string(key), strconv.Itoa(t.N), strconv.Itoa(t.K), kind}
	for _, c := range csvColumns {
		if f := c.value(t); f != nil {
			row = append(row, strconv.FormatFloat(*f, 'f', 6, 64))
		} else {
			row = append(row, "")
		}
	}
	return row
}

// csvText keeps spreadsheets from taking a text for a formula.
func csvText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// WriteMarkdown writes the tables of the report as Markdown; the best figure
// of a column is bold, 95 % confidence intervals stand in parentheses.
func (r *Report) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s Ranges in parentheses are 95 %% confidence intervals.\n", markdownText(r.heading()), markdownText(r.summary()))
	for _, t := range r.Tables() {
		fmt.Fprintf(b, "\n## %s\n\n| %s |", markdownText(t.Title), t.Heading())
		for _, g := range t.Groups {
			for _, c := range g.Columns {
				if g.Qualified {
					c = g.Heading + ": " + c
				}
				fmt.Fprintf(b, " %s |", markdownText(c))
			}
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", len(t.Columns())) + "\n")
		for _, row := range t.Rows {
			fmt.Fprintf(b, "| %s |", markdownText(row.Name))
			for _, c := range row.Cells {
				text := markdownText(c.Text)
				if c.Best {
					text = "**" + text + "**"
				}
				if c.Interval != "" {
					text += " (" + c.Interval + ")"
				}
				fmt.Fprintf(b, " %s |", text)
			}
			b.WriteByte('\n')
		}
		for _, n := range t.Notes {
			fmt.Fprintf(b, "\n%s\n", markdownText(n))
		}
	}
	return b.Flush()
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "[", `\[`, "\n", " ")

func markdownText(s string) string { return markdownEscapes.Replace(clean(s)) }

func (r *Report) heading() string {
	name, _ := r.Config["dataset"].(string)
	if r.Kit == OfflineKit {
		return name + ", offline kit"
	}
	return name
}

// summary is the run in one sentence.
func (r *Report) summary() string {
	if len(r.Systems) == 0 {
		return "No system was run."
	}
	n := r.Systems[0].Overall.Types[All].N
	return fmt.Sprintf("%s and %s over %s. Judge: %v.", plural(len(r.Systems), "system"), plural(n, "question"),
		plural(len(r.Systems[0].Domains), "domain"), r.Config["judge"])
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// WriteText writes tables aligned for a terminal.
func WriteText(w io.Writer, tables ...Table) error {
	b := bufio.NewWriter(w)
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeText(b, t)
	}
	return b.Flush()
}

func writeText(b *bufio.Writer, t Table) {
	columns := t.Columns()
	name := width(t.Heading())
	for _, row := range t.Rows {
		name = max(name, width(row.Name))
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = width(c)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], width(row.Cells[i].Text)+1)
		}
	}
	// A group is at least as wide as its heading.
	at := 0
	for _, g := range t.Groups {
		sum := 3 * (len(g.Columns) - 1)
		for i := range g.Columns {
			sum += widths[at+i]
		}
		if more := width(g.Heading) - sum; more > 0 {
			widths[at] += more
		}
		at += len(g.Columns)
	}
	fmt.Fprintf(b, "%s\n", clean(t.Title))
	if len(t.Groups) > 1 {
		fmt.Fprint(b, pad("", -name))
		at = 0
		for _, g := range t.Groups {
			sum := 3 * (len(g.Columns) - 1)
			for i := range g.Columns {
				sum += widths[at+i]
			}
			fmt.Fprintf(b, " │ %s", pad(g.Heading, -sum))
			at += len(g.Columns)
		}
		b.WriteByte('\n')
	}
	line := func(name string, cells func(i int) string) {
		b.WriteString(name)
		at := 0
		for _, g := range t.Groups {
			for i := range g.Columns {
				sep := "   "
				if i == 0 {
					sep = " │ "
				}
				b.WriteString(sep + pad(cells(at), widths[at]))
				at++
			}
		}
		b.WriteByte('\n')
	}
	line(pad(t.Heading(), -name), func(i int) string { return columns[i] })
	for _, row := range t.Rows {
		line(pad(clean(row.Name), -name), func(i int) string {
			if row.Cells[i].Best {
				return row.Cells[i].Text + "*"
			}
			return row.Cells[i].Text + " "
		})
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "  %s\n", clean(n))
	}
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad aligns right, or left when n is negative.
func pad(s string, n int) string {
	if n < 0 {
		return s + strings.Repeat(" ", max(0, -n-width(s)))
	}
	return strings.Repeat(" ", max(0, n-width(s))) + s
}

// clean removes control characters, so that no text can steer a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
