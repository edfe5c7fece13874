// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/rivo/uniseg"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// sweepName is the file with the answers of the sweep; its lines have the form of [JudgmentsName].
const sweepName = "sweep.jsonl"

// prediction is a line of predictions/<system>.jsonl. It has no ID: the released gold has none, and the
// released evaluator matches by ID as soon as a line has one.
type prediction struct {
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Type     string   `json:"type"`
	Domain   string   `json:"domain"`
	Refused  bool     `json:"refused,omitempty"`
	Error    string   `json:"error,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

func newPrediction(r benchmark.Result) any {
	a := r.Answer
	out := prediction{Question: a.Question, Answer: a.Text, Type: r.Item.Type, Domain: a.Domain, Refused: a.Refused, Error: a.Error}
	for _, e := range a.Evidence {
		out.Evidence = append(out.Evidence, e.Chunk)
	}
	return out
}

// Write computes the report of a run and writes its files into a folder. Each file is replaced as a whole.
func Write(dir string, run *benchmark.Run) (*Report, error) {
	r, err := New(run)
	if err != nil {
		return nil, err
	}
	return r, r.Write(dir, run)
}

// file is a file of a report.
type file struct {
	name  string
	write func(io.Writer) error
}

// files returns the files of a report. The last one is report.json: if it exists, the other files are complete.
func (r *Report) files(run *benchmark.Run) []file {
	files := []file{
		{"report.html", func(w io.Writer) error { return r.WriteHTML(w, run) }},
		{"report.md", r.WriteMarkdown},
		{"report.csv", r.WriteCSV},
		{"pairs.csv", r.writePairs},
		{"tables.tex", r.WriteLaTeX},
		{JudgmentsName, func(w io.Writer) error { return writeJudgments(w, run) }},
	}
	swept := false
	for _, s := range run.Systems {
		swept = swept || s.Sweep != nil
		if s.NotApplicable == "" {
			files = append(files, file{"predictions/" + record.FileName(s.Name) + ".jsonl", func(w io.Writer) error { return writeLines(w, s, newPrediction) }})
		}
		for i, d := range s.Domains {
			if len(d.Index.Stats.Schema) > 0 {
				files = append(files, file{schemaName(s.Name, run.Dataset.Domains[i].Name), func(w io.Writer) error {
					var out bytes.Buffer
					err := json.Indent(&out, d.Index.Stats.Schema, "", "  ")
					_, err2 := out.WriteTo(w)
					return errors.Join(err, err2)
				}})
			}
		}
	}
	if swept {
		files = append(files, file{sweepName, func(w io.Writer) error { return writeSweep(w, run) }})
	}
	return append(files, file{"report.json", r.WriteJSON})
}

// schemaName returns the file name for the schema that a system's extraction used on a domain.
func schemaName(system, domain string) string {
	return "predictions/" + record.FileName(system) + "." + domain + ".schema.json"
}

// Write writes the files of a report into a folder.
func (r *Report) Write(dir string, run *benchmark.Run) error {
	if err := os.MkdirAll(filepath.Join(dir, "predictions"), 0o755); err != nil {
		return fmt.Errorf("report: creating the folder: %w", err)
	}
	for _, f := range r.files(run) {
		if err := journal.WriteFile(filepath.Join(dir, filepath.FromSlash(f.name)), f.write); err != nil {
			return fmt.Errorf("report: writing %s: %w", f.name, err)
		}
	}
	return nil
}

// WriteJSON writes the report as indented JSON with sorted keys.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := display.JSON(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func writeJudgments(w io.Writer, run *benchmark.Run) error {
	for _, s := range run.Systems {
		if err := writeLines(w, s, func(r benchmark.Result) any { return newJudgment(r) }); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes a line for each answer of a system, in report order.
func writeLines(w io.Writer, s benchmark.SystemRun, line func(benchmark.Result) any) error {
	if s.NotApplicable != "" {
		return nil
	}
	enc := display.JSON(w)
	for _, d := range s.Domains {
		for _, r := range d.Results {
			if r.Skipped {
				continue
			}
			if err := enc.Encode(line(r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeSweep writes the answers of the sweep that are not in judgments.jsonl.
func writeSweep(w io.Writer, run *benchmark.Run) error {
	enc := display.JSON(w)
	for _, s := range run.Systems {
		for _, d := range run.Dataset.Domains {
			for _, at := range s.Sweep {
				for _, r := range at.Results {
					if r.Domain != d.Name || slices.ContainsFunc(run.Dataset.Types, func(t benchmark.Type) bool { return t.Key == r.Item.Type && t.K == at.K }) {
						continue
					}
					line := newJudgment(r)
					line.Sweep = at.K
					if err := enc.Encode(line); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// Judgment is a line of the file [JudgmentsName]: everything about one answer.
type Judgment struct {
	System string `json:"system"`
	Domain string `json:"domain"`
	ID     string `json:"id"`
	// Sweep is the top-k of an answer that belongs to the sweep; 0 for other answers.
	Sweep      int                    `json:"sweep,omitempty"`
	Judge      string                 `json:"judge"`
	Fact       *judge.FactJudgment    `json:"fact,omitempty"`
	Summary    *judge.SummaryJudgment `json:"summary,omitempty"`
	Type       string                 `json:"type"`
	Question   string                 `json:"question"`
	Reference  string                 `json:"reference,omitempty"`
	Statements []string               `json:"gold_statements,omitempty"`
	Answer     string                 `json:"answer"`
	Refused    bool                   `json:"refused,omitempty"`
	Error      string                 `json:"error,omitempty"`
	Detail     string                 `json:"detail,omitempty"`
	Metrics    benchmark.Evidence     `json:"metrics"`
	Ranked     []record.Ranked        `json:"ranked,omitempty"`
	// Gold are the units of gold evidence, see [benchmark.Item].
	Gold []benchmark.Unit `json:"gold,omitempty"`
}

func newJudgment(r benchmark.Result) Judgment {
	a, j := r.Answer, r.Judgment
	return Judgment{
		System: a.System, Domain: a.Domain, ID: a.ID, Judge: j.Judge, Fact: j.Fact, Summary: j.Summary,
		Type: r.Item.Type, Question: a.Question, Reference: r.Item.Reference, Statements: r.Item.Statements,
		Answer: a.Text, Refused: a.Refused, Error: a.Error, Detail: cmp.Or(a.Detail, j.Detail), Metrics: r.Evidence, Ranked: a.Ranked, Gold: r.Item.Gold,
	}
}

// ReadJudgments yields the judgments of a finished run, one by one. It ends at the first error.
func ReadJudgments(r io.Reader) iter.Seq2[Judgment, error] {
	return func(yield func(Judgment, error) bool) {
		dec := json.NewDecoder(r)
		for n := 1; ; n++ {
			var j Judgment
			err := dec.Decode(&j)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(j, fmt.Errorf("report: judgment %d: %w", n, err))
				return
			case j.System == "" || j.ID == "" || j.Domain == "":
				yield(j, fmt.Errorf("report: judgment %d names no system, domain or question", n))
				return
			case !yield(j, nil):
				return
			}
		}
	}
}

// WriteText writes tables aligned for a terminal.
func WriteText(w io.Writer, tables ...page.Table) error {
	b := bufio.NewWriter(w)
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeText(b, t)
	}
	return b.Flush()
}

func writeText(b *bufio.Writer, t page.Table) {
	columns := t.Columns()
	name := width(t.Heading)
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
	// The columns of a group are together at least as wide as its heading.
	at := 0
	sums := make([]int, len(t.Groups))
	for i, g := range t.Groups {
		sums[i] = 3 * (len(g.Columns) - 1)
		for _, w := range widths[at : at+len(g.Columns)] {
			sums[i] += w
		}
		if more := width(g.Heading) - sums[i]; more > 0 {
			widths[at] += more
			sums[i] += more
		}
		at += len(g.Columns)
	}
	fmt.Fprintf(b, "%s\n", display.OneLine(t.Title))
	if len(t.Groups) > 1 {
		b.WriteString(pad("", -name))
		for i, g := range t.Groups {
			fmt.Fprintf(b, " │ %s", pad(g.Heading, -sums[i]))
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
	line(pad(t.Heading, -name), func(i int) string { return columns[i] })
	for _, row := range t.Rows {
		line(pad(display.OneLine(row.Name), -name), func(i int) string {
			if row.Cells[i].Best {
				return row.Cells[i].Text + "*"
			}
			return row.Cells[i].Text + " "
		})
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "  %s\n", display.OneLine(n))
	}
}

// width returns the number of terminal columns of a text: two for a Chinese, Japanese or Korean character, none
// for a combining mark.
func width(s string) int { return uniseg.StringWidth(s) }

// pad fills s with blanks to n columns, on the left, or on the right if n is negative.
func pad(s string, n int) string {
	if n < 0 {
		return s + strings.Repeat(" ", max(0, -n-width(s)))
	}
	return strings.Repeat(" ", max(0, n-width(s))) + s
}

//go:embed forms
var formFiles embed.FS

// forms are the templates of the report in Markdown and in LaTeX.
var forms = template.Must(template.New("").Funcs(template.FuncMap{
	"markdown": func(s string) string { return markdownEscapes.Replace(display.OneLine(s)) },
	"latex":    func(s string) string { return latexEscapes.Replace(display.OneLine(s)) },
	"plain":    display.OneLine,
}).ParseFS(formFiles, "forms/*"))

func (r *Report) writeForm(w io.Writer, form string) error {
	b := bufio.NewWriter(w)
	err := forms.ExecuteTemplate(b, form, map[string]any{"Heading": r.heading(), "Summary": r.summary(), "Least": MinQuestions, "Tables": r.Tables()})
	return errors.Join(err, b.Flush())
}

// WriteMarkdown writes the tables of the report as Markdown; the best figure of a column is bold, 95 %
// confidence intervals are in parentheses.
func (r *Report) WriteMarkdown(w io.Writer) error { return r.writeForm(w, "markdown.tmpl") }

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "[", `\[`, "\n", " ")

// WriteLaTeX writes the tables of the report for LaTeX with the package booktabs, with their intervals; the
// best figure of a column is bold. Notes are comments.
func (r *Report) WriteLaTeX(w io.Writer) error { return r.writeForm(w, "latex.tmpl") }

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	"^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "↳", `$\hookrightarrow$`, "–", "--", "≤", `$\le$`, "≥", `$\ge$`, "−", "$-$", "†", `\dag{}`)

// WriteCSV writes one row per system, domain and question type; the domain "*" is all domains together, and a
// domain of that name is "'*". The columns answers and judge name the makers of answers and verdicts. The
// bounds of intervals follow all figures, under their keys with _low and _high. Undefined figures are empty.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"system", "domain", "type", "n", "k", "answers", "judge"}
	figures := append(Keys(), r.scoreNames(func(s System) Type { return s.Overall.Types[benchmark.All] })...)
	header = append(append(header, figures...), "answered_right", "answered_wrong", "refused_rightly", "refused_wrongly")
	var bounded []string // figures with an interval
	for _, key := range figures {
		if f, known := figureOf(key); key != unscoredKey && (!known || f.of != nil && !f.size) {
			bounded = append(bounded, key)
			header = append(header, key+"_low", key+"_high")
		}
	}
	if err := out.Write(header); err != nil {
		return err
	}
	var keys []string
	for _, kind := range r.types {
		keys = append(keys, kind.Key)
	}
	keys = append(keys, benchmark.All)
	for _, s := range r.Systems {
		for _, d := range append(slices.Clone(s.Domains), Domain{Types: s.Overall.Types}) {
			for _, key := range keys {
				if err := out.Write(csvRow([]string{csvText(s.System), cmp.Or(csvText(d.Domain), allDomains), key}, r.label.by(s), r.label.judge, d.Types[key], figures, bounded)); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// allDomains is the name for all domains together.
const allDomains = "*"

func csvRow(of []string, by, judged string, t Type, figures, bounded []string) []string {
	counts := make([]string, 4)
	if v := t.Verdicts(); v != nil {
		for i, n := range []int{v.Refusals.AnsweredRight, v.Refusals.AnsweredWrong, v.Refusals.RefusedRightly, v.Refusals.RefusedWrongly} {
			counts[i] = strconv.Itoa(n)
		}
	} else {
		by, judged = "", ""
	}
	row := append(of, strconv.Itoa(t.N), strconv.Itoa(t.K), by, judged)
	for _, key := range figures {
		row = append(row, csvNumber(t.Figure(key)))
	}
	row = append(row, counts...)
	for _, key := range bounded {
		var ends Interval
		i := t.interval(key)
		if i != nil {
			ends = *i
		}
		row = append(row, csvNumber(ends[0], i != nil), csvNumber(ends[1], i != nil))
	}
	return row
}

// csvNumber returns a figure with six decimals, "" if it is not defined.
func csvNumber(f float64, defined bool) string {
	if !defined {
		return ""
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// csvText escapes texts that a spreadsheet would read as formulas.
func csvText(s string) string {
	if s != "" && (s == allDomains || strings.ContainsRune("=+-@'\t\r", rune(s[0]))) {
		return "'" + display.OneLine(s)
	}
	return display.OneLine(s)
}

// notApplicable is printed in place of a figure that does not exist.
const notApplicable = "n/a"

func points(f float64) string { return strconv.FormatFloat(100*f, 'f', 2, 64) }

func percent(f *float64) string {
	if f == nil {
		return notApplicable
	}
	return points(*f)
}

func decimal(f *float64, digits int) string {
	if f == nil {
		return "–"
	}
	if digits == 0 {
		return display.Digits(int(math.Round(*f)))
	}
	return strconv.FormatFloat(*f, 'f', digits, 64)
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

func pValue(p float64) string { return strconv.FormatFloat(p, 'f', 4, 64) }

func capital(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
