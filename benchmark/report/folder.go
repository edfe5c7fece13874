// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// sweepName is the file in the report folder with the answers of the sweep, in the form of [JudgmentsName].
const sweepName = "sweep.jsonl"

// prediction is a line of predictions/<system>.jsonl. It has no ID: the released evaluator aligns by ID as
// soon as any line has one, and its gold has none.
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

// file is one of the files of a report.
type file struct {
	name  string
	write func(io.Writer) error
}

// files returns the files of a report, the slowest first and report.json last: its presence means that the
// others are complete.
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

// schemaName returns the file name of the schema of a system's extraction.
func schemaName(system, domain string) string {
	return "predictions/" + record.FileName(system) + "." + domain + ".schema.json"
}

// Write writes the files of the report of a run.
func (r *Report) Write(dir string, run *benchmark.Run) error {
	if err := os.MkdirAll(filepath.Join(dir, "predictions"), 0o755); err != nil {
		return fmt.Errorf("report: folder: %w", err)
	}
	write := func(f file) error { return journal.WriteFile(filepath.Join(dir, filepath.FromSlash(f.name)), f.write) }
	files := r.files(run)
	last := len(files) - 1
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files[:last] {
		all.Go(func() error { return write(f) })
	}
	err := all.Wait()
	if err == nil {
		err = write(files[last])
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// WriteJSON writes the report as indented JSON, with sorted keys.
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

// writeSweep writes the answers that are not in judgments.jsonl.
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
	// Sweep is the top-k of an answer of the sweep.
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
	// Gold are the units of evidence, see [benchmark.Item].
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

// ReadJudgments yields the judgments of a finished run, line by line. It ends at the first error.
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
