// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// prediction is a line of predictions/<system>.jsonl. It joins to the
// question by its text: the released evaluator aligns by id as soon as any
// line has one, and its gold has none.
type prediction struct {
	Question string                `json:"question"`
	Answer   string                `json:"answer"`
	Type     graphrag.QuestionType `json:"type"`
	Domain   string                `json:"domain"`
	Refused  bool                  `json:"refused,omitempty"`
	Error    string                `json:"error,omitempty"`
	Evidence []string              `json:"evidence,omitempty"`
}

// judgedAnswer is a line of judgments.jsonl: everything about one answer.
type judgedAnswer struct {
	JudgmentRecord
	Type       graphrag.QuestionType `json:"type"`
	Question   string                `json:"question"`
	Reference  string                `json:"reference,omitempty"`
	Statements []string              `json:"gold_statements,omitempty"`
	Answer     string                `json:"answer"`
	Refused    bool                  `json:"refused,omitempty"`
	Metrics    Evidence              `json:"metrics"`
	Ranked     []RankedChunk         `json:"ranked,omitempty"`
}

func newJudgedAnswer(it Item, a AnswerRecord, j JudgmentRecord) judgedAnswer {
	return judgedAnswer{
		JudgmentRecord: j, Type: a.Type, Question: a.Question,
		Reference: it.Reference, Statements: it.Statements,
		Answer: a.Answer, Refused: a.Refused, Metrics: a.Metrics, Ranked: a.Ranked,
	}
}

// writeFolder writes the final files of a run. Each replaces its predecessor
// as a whole.
func (s *state) writeFolder(r *Report) error {
	type file struct {
		name  string
		write func(io.Writer) error
	}
	files := []file{
		{"judgments.jsonl", s.writeJudgments},
		{"report.csv", r.WriteCSV},
		{"report.md", r.WriteMarkdown},
		{"report.html", func(w io.Writer) error { return s.writeHTML(w, r) }},
		{"report.json", r.WriteJSON}, // last: who sees it sees the others
	}
	if len(s.opts.SweepTopK) > 0 {
		files = append([]file{{SweepName, s.writeSweep}}, files...)
	}
	if err := os.MkdirAll(filepath.Join(s.opts.Dir, "predictions"), 0o755); err != nil {
		return fmt.Errorf("benchmark: report folder: %w", err)
	}
	removeTemporary(s.opts.Dir)
	for _, e := range s.Systems {
		if e.NotApplicable != "" {
			continue
		}
		name := filepath.Join(s.opts.Dir, "predictions", e.Name+".jsonl")
		if err := journal.WriteFile(name, func(w io.Writer) error { return s.writePredictions(w, e) }); err != nil {
			return fmt.Errorf("benchmark: %w", err)
		}
	}
	for _, f := range files {
		if err := journal.WriteFile(filepath.Join(s.opts.Dir, f.name), f.write); err != nil {
			return fmt.Errorf("benchmark: %w", err)
		}
	}
	return nil
}

// each calls f for every answered question of a system, in report order.
func (s *state) each(e Entry, f func(it Item, a AnswerRecord, j JudgmentRecord) error) error {
	for _, d := range s.Dataset.Domains {
		for _, it := range s.items[d.Name] {
			p := s.place(e, d, it)
			a, ok := s.log.answers[p]
			if !ok {
				continue
			}
			if err := f(it, a, s.log.judgments[p]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *state) writePredictions(w io.Writer, e Entry) error {
	enc := lines(w)
	return s.each(e, func(_ Item, a AnswerRecord, _ JudgmentRecord) error {
		return enc.Encode(prediction{a.Question, a.Answer, a.Type, a.Domain, a.Refused, a.Error, a.Evidence})
	})
}

func (s *state) writeJudgments(w io.Writer) error {
	enc := lines(w)
	for _, e := range s.Systems {
		err := s.each(e, func(it Item, a AnswerRecord, j JudgmentRecord) error {
			return enc.Encode(newJudgedAnswer(it, a, j))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lines encodes JSON lines without HTML escapes.
func lines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// removeTemporary removes what a killed run left half written. The folder is locked by
// the journal, so nobody else is writing.
func removeTemporary(dir string) {
	for _, pattern := range []string{journal.TempPattern, "predictions/" + journal.TempPattern} {
		left, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range left {
			_ = os.Remove(name)
		}
	}
}
