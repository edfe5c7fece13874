// SPDX-License-Identifier: Apache-2.0

package bench

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

//go:embed worksheet.html
var worksheetHTML string

var worksheetPage = template.Must(template.New("worksheet").Parse(worksheetHTML))

// worksheet is a worksheet for a person who answers in place of a system (WildGraphBench, section 4.4): each
// question with the evidence that the system read.
type worksheet struct {
	System, File string
	Questions    []sheetLine
}

// sheetLine is a line of the worksheet. -score reads it; a line without an answer is ignored.
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
			enc := text.JSON(w)
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
		fmt.Fprintf(stdout, "Worksheet of %s, %d questions: %s, or in a browser %s\n", system.Name, len(s.Questions), text.OneLine(lines), text.OneLine(page))
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
				line.Passages = append(line.Passages, sheetText{e.Doc, text.Printable(e.Text)})
			}
			for _, d := range r.Answer.Derived {
				line.Passages = append(line.Passages, sheetText{"found by the system", text.Printable(d.Text)})
			}
			s.Questions = append(s.Questions, line)
		}
	}
	return s
}
