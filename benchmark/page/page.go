// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Page holds the contents of the page. Every part may be empty.
type Page struct {
	// Title heads the page, Summary describes the run in a sentence.
	Title, Summary string
	// Strong and Note are warnings, such as that the figures are not of a language model.
	Strong, Note string
	// Verdict is the result in a sentence, Certainty its certainty; Remarks are further facts that are needed
	// to read it.
	Verdict, Certainty string
	Remarks            []string
	// Run holds the questions with their answers; nil for a page of tables.
	Run      *Run
	Tables   []Table
	Settings []Setting
	// Help describes the columns of tables by their lower-cased titles.
	Help map[string]string
}

// Setting is one line of the configuration.
type Setting struct{ Name, Value string }

// Run is systems over questions.
type Run struct {
	Systems []System
	Domains []string
	// Types are the types of questions.
	Types []Type
	// Measures are in the order in which they are offered.
	Measures []Measure
	// Questions are shown in this order.
	Questions []Question
}

// System is one system of a run.
type System struct {
	Name string `json:"name"`
	// Note says why a system is not compared; "" of one that is.
	Note string `json:"note,omitempty"`
}

// Type is a type of questions.
type Type struct {
	Title string `json:"title"`
	// Fact is true if answers are right or wrong, without a share of statements.
	Fact bool `json:"fact"`
}

// Measure is one figure of every system.
type Measure struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	// Help describes it in a sentence or two.
	Help string `json:"help,omitempty"`
	// Class compares each system with the best over all questions: "level", or "probable" or "certain" if it
	// is behind; nil without a test.
	Class []string `json:"class,omitempty"`
	// Values are by domain (first all of them together), by type of questions (first all) and by system.
	Values [][][]Value `json:"values"`
}

// Value is a share in 0..1 with its 95 % interval; nil where there is none.
type Value struct {
	Mean, Low, High *float64
}

// Question is a question with the answers of all systems.
type Question struct {
	ID string
	// Domain and Type are indices into the lists of the [Run].
	Domain, Type int
	Text         string
	// Statements are the gold answer, or the gold statements.
	Statements []string
	// Gold are the units of evidence: documents each of which contains it.
	Gold [][]string
	// Answers are by system.
	Answers []Answer
}

// State is the state of an answer.
type State int

// The states of an answer.
const (
	Absent   State = iota // the system was not asked
	Pending               // the run has not come to it, or not to judging it
	Right                 // of a question that is right or wrong
	Wrong                 // of such a question
	Scored                // of a question judged by statements
	Refused               // the system declined to answer, and should have answered
	Failed                // there is no answer
	Unscored              // there is no verdict
	Searched              // the question was searched for, and not to be answered
)

// Answer is one system's answer.
type Answer struct {
	State State
	// Score is the verdict, Found the share of the gold evidence in the first five places of the ranking;
	// both in 0..1, nil if missing.
	Score, Found *float64
	// Verdict is Score in words, Reason the judge's comment, or why there is no answer or no score.
	Verdict, Reason string
	Text            string
	// Citations are byte ranges of Text.
	Citations []Citation
	// Predicted are the statements that the judge found in the answer, Matches the pairs of equivalent gold
	// and predicted ones.
	Predicted []string
	Matches   [][2]int
	// Ranked are the documents of the ranked chunks, best first.
	Ranked []record.Ranked
	// Passages are the texts that were read: source texts in the order of the prompt, then derived texts.
	Passages []Passage
	Steps    []graphrag.Step
	Costs    Costs
}

// Citation links Text[Start:End] of an answer to a passage.
type Citation struct{ Start, End, Passage int }

// Passage is a text in the prompt.
type Passage struct {
	Doc, Chunk string
	// Docs are the documents behind a derived text.
	Docs   []string
	Tokens int
	// Text is a part of it, "" if none was stored; Quotes are the quoted bytes of Text.
	Text   string
	Quotes [][2]int
}

// Costs are the costs of an answer. Context is the length of the evidence in the prompt in tokens, -1 if it
// was not counted; Millis is 0 if times are not shown.
type Costs struct {
	Context    int     `json:"context"`
	Calls      int     `json:"calls,omitempty"`
	Prompt     int     `json:"prompt,omitempty"`
	Completion int     `json:"completion,omitempty"`
	Millis     float64 `json:"ms,omitempty"`
}

// Table is a table with the charts above it.
type Table struct {
	Title string
	// Heading heads the names of the rows, Groups the columns after them.
	Heading string
	Groups  []Group
	Rows    []Row
	Notes   []string
	Charts  []Chart
}

// Columns lists the column headings without their groups.
func (t Table) Columns() []string {
	var out []string
	for _, g := range t.Groups {
		out = append(out, g.Columns...)
	}
	return out
}

// Group is a group of columns under one heading. Qualified columns are ambiguous without it.
type Group struct {
	Heading   string
	Columns   []string
	Qualified bool
}

// Row is a named row of cells. Published rows are not of this run.
type Row struct {
	Name      string
	Cells     []Cell
	Published bool
}

// Cell is one figure as text. Best marks the best of its column; Interval may be "".
type Cell struct {
	Text     string
	Best     bool
	Interval string
}

// Chart draws lines over a count.
type Chart struct {
	Title string `json:"title"`
	// X names the horizontal axis; the vertical one is in percent.
	X string `json:"x,omitempty"`
	// Dots labels each line of one point at the point, and makes X logarithmic.
	Dots  bool   `json:"dots,omitempty"`
	Lines []Line `json:"lines,omitempty"`
}

// Line is a named line, its points in ascending order of X.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a value over X, with its interval where there is one.
type Point struct {
	X    float64  `json:"x"`
	Y    float64  `json:"y"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// data lists the values of a chart as text, for readers who cannot see it.
func (c Chart) data() []string {
	var out []string
	for _, l := range c.Lines {
		for _, p := range l.Points {
			out = append(out, fmt.Sprintf("%s: %.4g at %.4g", l.Name, p.Y, p.X))
		}
	}
	return out
}

// pageIndex holds the data that the page needs before a question is opened.
type pageIndex struct {
	Systems   []System  `json:"systems"`
	Domains   []string  `json:"domains"`
	Types     []Type    `json:"types"`
	Measures  []Measure `json:"measures"`
	Questions questions `json:"questions"`
	Cells     []cells   `json:"cells"` // by system
	// Pieces are the first questions of the pieces with the details.
	Pieces []int `json:"pieces"`
	// Charts are the charts of the tables, in the order of the page.
	Charts []Chart           `json:"charts"`
	Help   map[string]string `json:"help,omitempty"`
}

// questions are columns of the matrix.
type questions struct {
	ID     []string `json:"id"`
	Domain []int    `json:"domain"`
	Type   []int    `json:"type"`
	Text   []string `json:"text"`
	Answer []string `json:"answer"` // the gold one, to search in
}

// cells are the answers of one system, by question. Unknown values are -1.
type cells struct {
	State  []State `json:"state"`
	Score  []int   `json:"score"` // percent
	Found  []int   `json:"found"` // percent
	Tokens []int   `json:"tokens"`
	Millis []int   `json:"ms"`
}

func (p *Page) index(pieces []int) pageIndex {
	out := pageIndex{Pieces: pieces, Help: make(map[string]string)}
	for title, help := range p.Help {
		out.Help[name(title)] = clean(help, longQuote)
	}
	for _, t := range p.Tables {
		for _, c := range t.Charts {
			c.Title, c.X = name(c.Title), name(c.X)
			c.Lines = mapped(c.Lines, func(l Line) Line { return Line{name(l.Name), l.Points} })
			out.Charts = append(out.Charts, c)
		}
	}
	if p.Run == nil {
		return out
	}
	out.Systems = mapped(p.Run.Systems, func(s System) System { return System{name(s.Name), name(s.Note)} })
	out.Domains = names(p.Run.Domains)
	out.Types = mapped(p.Run.Types, func(t Type) Type { return Type{name(t.Title), t.Fact} })
	for _, m := range p.Run.Measures {
		m.Key, m.Title, m.Help = name(m.Key), name(m.Title), clean(m.Help, longQuote)
		out.Measures = append(out.Measures, m)
	}
	out.Cells = make([]cells, len(p.Run.Systems))
	for _, q := range p.Run.Questions {
		of := &out.Questions
		of.ID, of.Text = append(of.ID, name(q.ID)), append(of.Text, name(q.Text))
		of.Domain, of.Type = append(of.Domain, q.Domain), append(of.Type, q.Type)
		of.Answer = append(of.Answer, clean(strings.Join(firstN(q.Statements, manyTexts), " "), longQuote))
		for i, a := range q.Answers {
			c := &out.Cells[i]
			c.State = append(c.State, a.State)
			c.Score, c.Found = append(c.Score, percent(a.Score)), append(c.Found, percent(a.Found))
			c.Tokens, c.Millis = append(c.Tokens, a.Costs.Context), append(c.Millis, int(math.Round(a.Costs.Millis)))
		}
	}
	return out
}

// percent rounds a share; one that is not 0 or 1 stays so.
func percent(share *float64) int {
	switch {
	case share == nil:
		return -1
	case *share > 0 && *share < 1:
		return min(max(int(math.Round(100**share)), 1), 99)
	}
	return int(100 * *share)
}

// MarshalJSON writes null, [mean] or [mean, low, high], in percent.
func (v Value) MarshalJSON() ([]byte, error) {
	var out []float64
	for _, f := range []*float64{v.Mean, v.Low, v.High} {
		if f == nil {
			break
		}
		out = append(out, math.Round(1e4**f)/100)
	}
	return json.Marshal(out)
}
