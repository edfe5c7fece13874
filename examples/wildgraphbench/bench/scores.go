// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// score is a file of predictions of another program: -score NAME=FILE.
type score struct{ name, file string }

func parseScore(v string) (s score, err error) {
	s.name, s.file, _ = strings.Cut(v, "=")
	switch {
	case s.name == "" || s.file == "":
		err = errors.New("want NAME=FILE")
	case !record.ValidName(s.name):
		err = fmt.Errorf("the name %q may hold letters, digits, '-', '_', '.' and ':', it becomes a file name", s.name)
	}
	return s, err
}

// readScores reads the predictions before the run. With partial they may lack some questions.
func readScores(scores []score, set *benchmark.Dataset, limit int, partial bool) ([]benchmark.Entry, error) {
	want := questions(set, limit)
	if partial {
		want = nil
	}
	known := make(map[string]bool)
	for _, q := range questions(set, 0) {
		known[q] = true
	}
	var out []benchmark.Entry
	for _, sc := range scores {
		f, err := os.Open(sc.file)
		if err != nil {
			return nil, err
		}
		p, err := own.ReadPredictions(sc.name, sc.file, f, want, func(q string) bool { return known[q] })
		if errors.Is(err, own.ErrGaps) {
			err = fmt.Errorf("%w; or accept it with -partial", err)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if err := p.Locate(set); err != nil {
			return nil, err
		}
		out = append(out, p.Entry())
	}
	return out, nil
}

// questions returns the texts of the questions that a run with this limit asks.
func questions(set *benchmark.Dataset, limit int) []string {
	var out []string
	for it := range set.Limited(limit).Items() {
		out = append(out, it.Question.Text)
	}
	return out
}

// minimum is the least value of a figure that every system must reach: -min KEY=VALUE.
type minimum struct {
	key   string
	value float64
}

func parseMinimum(v string) (minimum, error) {
	key, text, ok := strings.Cut(v, "=")
	if !ok || !slices.Contains(report.Keys(), key) {
		return minimum{}, fmt.Errorf("want KEY=VALUE, KEY one of %s", strings.Join(report.Keys(), ", "))
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) {
		return minimum{}, fmt.Errorf("%q is not a number", text)
	}
	if key != "context_tokens" && (value < 0 || value > 1) {
		return minimum{}, fmt.Errorf("%s is a share from 0 to 1, shown in percent: write %g for %g %%, not %s", key, value/100, value, text)
	}
	return minimum{key, value}, nil
}

// missed returns an error for each figure, over all domains and types, that is lower than its -min, with the
// questions below it, the lowest first.
func missed(minima []minimum, records *benchmark.Run, r *report.Report) error {
	var problems []error
	for i, sys := range r.Systems {
		if sys.NotApplicable != "" {
			continue
		}
		all := sys.Overall.Types[benchmark.All]
		for _, m := range minima {
			switch got, ok := all.Figure(m.key); {
			case !ok:
				problems = append(problems, fmt.Errorf("%s has no figure %s", sys.System, m.key))
			case got < m.value:
				problems = append(problems, fmt.Errorf("%s of %s is %.4f, below %g%s", m.key, sys.System, got, m.value, m.below(records.Systems[i])))
			}
		}
	}
	return errors.Join(problems...)
}

// below lists the questions of a system whose figure is lower than the minimum, a line each.
func (m minimum) below(of benchmark.SystemRun) string {
	const mostNamed = 10 // largest number of questions listed
	lines := make(map[float64][]string)
	for _, d := range of.Domains {
		for _, r := range d.Results {
			got, ok := report.OfQuestion(m.key, r)
			if !ok || got >= m.value {
				continue
			}
			line := fmt.Sprintf("\n  %s: %.100s: %.4g", display.OneLine(r.Item.Question.ID), display.OneLine(r.Item.Question.Text), got)
			if why := verdict(r).Reason; why != "" && slices.Index(report.Keys(), m.key) >= slices.Index(report.Keys(), "accuracy") { // the figure is a judge's
				line += fmt.Sprintf(", %.200s", display.OneLine(why))
			}
			lines[got] = append(lines[got], line)
		}
	}
	var all []string
	for _, got := range slices.Sorted(maps.Keys(lines)) {
		all = append(all, lines[got]...)
	}
	if more := len(all) - mostNamed; more > 0 {
		all = append(all[:mostNamed], fmt.Sprintf("\n  and %s more", display.Counted(more, "question")))
	}
	return strings.Join(all, "")
}

// testsuites are the verdicts of a run as JUnit XML, for CI servers.
type testsuites struct {
	Suites []testsuite `xml:"testsuite"`
}

// testsuite has the questions of one system, judged by one judge.
type testsuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testcase `xml:"testcase"`
}

// testcase is a question. It passed, or it has one outcome: failure, error or skipped, with the reason.
type testcase struct {
	Domain  string   `xml:"classname,attr"`
	ID      string   `xml:"name,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// add appends a suite for each system. profile is the name of a judge's profile, empty for the first judge.
func (s *testsuites) add(records *benchmark.Run, profile string, minima []minimum) {
	for _, of := range records.Systems {
		out := testsuite{Name: strings.TrimSpace(of.Name + " " + profile)}
		for _, d := range of.Domains {
			for _, r := range d.Results {
				out.add(r, of.NotApplicable, minima)
			}
		}
		s.Suites = append(s.Suites, out)
	}
}

// add appends a question. A question for a fact fails if its answer is wrong, a question for statements if no
// statement is right, and any question if one of its figures is lower than its minimum.
func (s *testsuite) add(r benchmark.Result, notApplicable string, minima []minimum) {
	v := verdict(r)
	failed := v.State == judge.Scored && (v.Value == 0 || v.Value < 1 && r.Judgment.Fact != nil)
	o := &outcome{v.Reason, fmt.Sprintf("question: %s\nanswer: %s\nreference: %s\njudge: %s\n",
		r.Item.Question.Text, r.Answer.Text, strings.Join(r.Item.GoldStatements(), "\n\t"), v.Reason)}
	for _, m := range minima {
		if got, ok := report.OfQuestion(m.key, r); ok && got < m.value && !failed {
			failed, o.Message = true, fmt.Sprintf("%s is %.4g, below %g", m.key, got, m.value)
		}
	}
	c := testcase{Domain: r.Domain, ID: r.Item.Question.ID}
	switch {
	case r.Skipped || r.Pending || notApplicable != "":
		o.Message = cmp.Or(notApplicable, "was not asked")
		c.Skipped, s.Skipped = o, s.Skipped+1
	case v.State == judge.Unscored:
		c.Error, s.Errors = o, s.Errors+1
	case failed:
		c.Failure, s.Failures = o, s.Failures+1
	case v.State == judge.NotApplicable:
		c.Skipped, s.Skipped = o, s.Skipped+1
	}
	s.Tests, s.Cases = s.Tests+1, append(s.Cases, c)
}

// verdict returns the verdict on an answer with its reason: right or wrong, or F1 over statements.
func verdict(r benchmark.Result) judge.Verdict {
	switch j := r.Judgment; {
	case r.Answer.Error != "":
		return judge.NoScore(r.Answer.Error)
	case j.Fact != nil:
		return j.Fact.Verdict
	case j.Summary != nil:
		v, recall, precision := j.Summary.F1(), j.Summary.Recall, j.Summary.Precision
		if v.State == judge.Scored {
			v.Reason = strings.TrimRight(fmt.Sprintf("recall %.4g, precision %.4g; %s", recall.Value, precision.Value, recall.Reason), "; ")
		}
		return v
	}
	return judge.Verdict{State: judge.NotApplicable, Reason: "has no verdict"}
}

// write writes the file, with U+FFFD for characters that XML cannot hold.
func (s *testsuites) write(file string) error {
	return journal.WriteFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, xml.Header)
		return cmp.Or(err, xml.NewEncoder(w).Encode(s))
	})
}

//go:embed worksheet.html
var worksheetHTML string

var worksheetPage = template.Must(template.New("worksheet").Parse(worksheetHTML))

// worksheet is for a person who answers in place of a system (WildGraphBench, section 4.4): it has each
// question with the evidence that the system read.
type worksheet struct {
	System, File string
	Questions    []sheetLine
}

// sheetLine is a line of the worksheet. -score reads it, and ignores a line without an answer.
type sheetLine struct {
	ID        string      `json:"id"`
	Domain    string      `json:"domain"`
	Question  string      `json:"question"`
	Answer    string      `json:"answer"`
	Worksheet bool        `json:"worksheet"`
	Passages  []sheetText `json:"passages"`
}

type sheetText struct {
	Page string `json:"page"`
	Text string `json:"text"`
}

// writeWorksheets writes SYSTEM.jsonl and SYSTEM.html for each system that was run.
func writeWorksheets(dir string, records *benchmark.Run, stdout io.Writer) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("-worksheet: %w", err)
	}
	for _, system := range records.Systems {
		if system.Foreign || system.NotApplicable != "" {
			continue
		}
		s := sheetOf(system)
		lines, page := filepath.Join(dir, system.Name+".jsonl"), filepath.Join(dir, system.Name+".html")
		err := journal.WriteFile(lines, func(w io.Writer) error {
			enc := display.JSON(w)
			for _, q := range s.Questions {
				if err := enc.Encode(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = journal.WriteFile(page, func(w io.Writer) error { return worksheetPage.Execute(w, s) })
		}
		if err != nil {
			return fmt.Errorf("-worksheet: %w", err)
		}
		fmt.Fprintf(stdout, "Worksheet of %s, %d questions: %s, or in a browser %s\n", system.Name, len(s.Questions), display.OneLine(lines), display.OneLine(page))
	}
	return nil
}

func sheetOf(system benchmark.SystemRun) worksheet {
	s := worksheet{System: system.Name, File: system.Name + "-answered.jsonl"}
	for _, domain := range system.Domains {
		for _, r := range domain.Results {
			if r.Skipped || r.Pending {
				continue
			}
			line := sheetLine{ID: r.Item.Question.ID, Domain: r.Domain, Question: r.Item.Question.Text, Worksheet: true}
			for _, e := range r.Answer.Evidence {
				line.Passages = append(line.Passages, sheetText{e.Doc, display.Printable(e.Text)})
			}
			for _, d := range r.Answer.Derived {
				line.Passages = append(line.Passages, sheetText{"found by the system", display.Printable(d.Text)})
			}
			s.Questions = append(s.Questions, line)
		}
	}
	return s
}
