// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// tally counts the labels of a band.
type tally struct{ aligned, misaligned, unsure int }

func (t *tally) add(label string) {
	switch label {
	case aligned:
		t.aligned++
	case misaligned:
		t.misaligned++
	case unsure:
		t.unsure++
	}
}

// rate is the share that is misaligned, with its interval.
func (t tally) rate() (string, error) {
	if t.aligned+t.misaligned == 0 {
		return "n/a", nil
	}
	i, err := stats.Wilson(t.misaligned, t.aligned+t.misaligned, stats.Options{})
	return fmt.Sprintf("%.1f [%.1f, %.1f]", 100*i.Estimate, 100*i.Low, 100*i.High), err
}

// audit holds the labels of people, and what stood in for them, by band and at the end
// of all.
type audit struct{ people, offline [bands + 1]tally }

// printAudited reads a labelled file and prints how much of each band is misaligned.
func printAudited(w io.Writer, file string) error {
	name := filepath.Base(file)
	f, err := jsonl.Open(os.DirFS(filepath.Dir(file)), name)
	if err != nil {
		return fmt.Errorf("-audited: %w", err)
	}
	defer f.Close() // only read
	a, err := readAudit(f, name)
	if err != nil {
		return err
	}
	t, err := a.table()
	if err != nil {
		return err
	}
	return report.WriteText(w, t)
}

// maxProblems is how many problems of a file are told.
const maxProblems = 10

func readAudit(r io.Reader, name string) (a audit, err error) {
	var problems []error
	seen := make(map[string]int)
	for line, err := range jsonl.Read[alignment](r, jsonl.Options{Name: name}) {
		x := line.Value
		x.Label, x.Offline = strings.ToLower(strings.TrimSpace(x.Label)), strings.TrimSpace(x.Offline)
		if err == nil {
			err = x.check(seen[x.ID])
		}
		if err != nil {
			var told *jsonl.Error
			if !errors.As(err, &told) {
				err = &jsonl.Error{File: name, Line: line.Number, Err: err}
			}
			if problems = append(problems, err); len(problems) == maxProblems {
				break
			}
			continue
		}
		seen[x.ID] = line.Number
		for _, at := range []int{band(x.Similarity), bands} {
			a.people[at].add(x.Label)
			a.offline[at].add(x.Offline)
		}
	}
	if len(problems) == 0 && len(seen) == 0 {
		problems = append(problems, fmt.Errorf("%s has no line: -audit writes one for each alignment", name))
	}
	return a, errors.Join(problems...)
}

// check tells what is wrong with a line; before is the line that had its id, 0 if none.
func (x alignment) check(before int) error {
	switch x.Label {
	case "", aligned, misaligned, unsure:
	default:
		return fmt.Errorf("label %.40q is none of %s, %s, %s or empty", x.Label, aligned, misaligned, unsure)
	}
	switch {
	case x.Offline != "" && x.Offline != aligned && x.Offline != misaligned:
		return fmt.Errorf("offline %.40q is neither %s nor %s", x.Offline, aligned, misaligned)
	case x.ID == "":
		return errors.New("it has no id")
	case before > 0:
		return fmt.Errorf("id %.80q stands in line %d already", x.ID, before)
	case !(x.Similarity >= 0 && x.Similarity <= 1e6):
		return fmt.Errorf("similarity %v: want a number from 0 on", x.Similarity)
	}
	return nil
}

// table has a row for each band.
func (a audit) table() (report.Table, error) {
	t := report.Table{
		Title: "Misaligned triples by similarity", RowHeading: "Similarity",
		Groups: []report.ColumnGroup{
			{Heading: "labels of people", Columns: []string{"labelled", "unsure", "misaligned (%)"}},
			{Heading: "offline stand-in", Columns: []string{"checked", "misaligned (%)"}},
		},
		Notes: []string{
			"With Wilson's 95 % interval. Similarity is that of the triple that was read and the one that was linked; 1 is a whole match.",
			"The stand-in asks whether the passage states both names of the triple, word for word; it is no label.",
		},
	}
	for i := range a.people {
		name := fmt.Sprintf("%.1f to %.1f", float64(i)/bands, float64(i+1)/bands)
		switch i {
		case bands - 1:
			name = fmt.Sprintf("%.1f and more", float64(i)/bands)
		case bands:
			name = "all of the sample"
		}
		people, err1 := a.people[i].rate()
		offline, err2 := a.offline[i].rate()
		if err := errors.Join(err1, err2); err != nil {
			return t, err
		}
		p, o := a.people[i], a.offline[i]
		t.Rows = append(t.Rows, report.TableRow{Name: name, Cells: []report.Cell{
			{Text: fmt.Sprint(p.aligned + p.misaligned)}, {Text: fmt.Sprint(p.unsure)}, {Text: people}, {Text: fmt.Sprint(o.aligned + o.misaligned)}, {Text: offline},
		}})
	}
	return t, nil
}
