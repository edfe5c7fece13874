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

// Page is the content of an HTML page. Every part may be empty.
type Page struct {
	// Title heads the page, Summary describes the run in a sentence.
	Title, Summary string
	// Strong and Note are warnings about the figures, such as that no language model answered.
	Strong, Note string
	// Verdict is the result in a sentence, Certainty says how certain it is. Remarks are further facts that a
	// reader of the verdict needs.
	Verdict, Certainty string
	Remarks            []string
	// Run holds the questions with their answers; nil for a page that has only tables.
	Run      *Run
	Tables   []Table
	Settings []Setting
	// Help describes the columns of tables by their lower-cased titles.
	Help map[string]string
}

// Setting is one line of the configuration.
type Setting struct{ Name, Value string }

// Run holds the answers of systems to the same questions.
type Run struct {
	Systems []System
	Domains []string
	Types   []Type
	// Measures are the figures that the reader can choose, in this order.
	Measures []Measure
	// Questions are shown in this order.
	Questions []Question
}

// System is one system of a run.
type System struct {
	Name string `json:"name"`
	// Note says why the system is not compared; "" if it is compared.
	Note string `json:"note,omitempty"`
}

// Type is a type of questions.
type Type struct {
	Title string `json:"title"`
	// Fact is true if an answer is right or wrong, and false if it has a share of statements.
	Fact bool `json:"fact"`
}

// Measure is one figure of every system.
type Measure struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	// Help describes the measure in a sentence or two.
	Help string `json:"help,omitempty"`
	// Class compares each system with the best over all questions: "level", or "probable" or "certain" for
	// systems that are behind. It is nil if nothing was tested.
	Class []string `json:"class,omitempty"`
	// Values has a value by domain, type of questions and system. The first domain and the first type mean all.
	Values [][][]Value `json:"values"`
}

// Value is a share in 0..1 with its 95 % interval. A field is nil if it is unknown.
type Value struct {
	Mean, Low, High *float64
}

// Question is a question with the answers of all systems.
type Question struct {
	ID string
	// Domain and Type are indexes of Run.Domains and Run.Types.
	Domain, Type int
	Text         string
	// Statements are the gold answer, or the gold statements.
	Statements []string
	// Gold are the units of evidence: for each the names of the documents that provide it.
	Gold [][]string
	// Answers are in the order of the systems.
	Answers []Answer
}

// State is the state of an answer.
type State int

// The states of an answer.
const (
	Absent   State = iota // the system was not asked
	Pending               // not answered or not judged yet
	Right                 // right answer to a question that is right or wrong
	Wrong                 // wrong answer to a question that is right or wrong
	Scored                // answer judged by statements
	Refused               // refusal of a question that has an answer
	Failed                // an error took the place of the answer
	Unscored              // answer without a score
	Searched              // question without an answer, which is only searched for
)

// Answer is one system's answer.
type Answer struct {
	State State
	// Score is the verdict, Found the share of gold evidence among the first five chunks; in 0..1, nil if
	// missing.
	Score, Found *float64
	// Verdict is the score in words. Reason is the judge's comment, or why there is no answer or no score.
	Verdict, Reason string
	Text            string
	// Citations are byte ranges of Text.
	Citations []Citation
	// Predicted are the statements that the judge found in the answer. Matches are pairs of indexes of
	// equivalent statements, one in the gold and one in Predicted.
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
	// Docs are the documents behind a derived text such as a summary.
	Docs   []string
	Tokens int
	// Text is an excerpt of the passage, or "". Quotes are the byte ranges of Text that the answer quotes.
	Text   string
	Quotes [][2]int
}

// Costs are the costs of an answer. Context is the number of tokens of the evidence in the prompt, -1 if they
// were not counted. Millis is 0 if times are not shown.
type Costs struct {
	Context    int     `json:"context"`
	Calls      int     `json:"calls,omitempty"`
	Prompt     int     `json:"prompt,omitempty"`
	Completion int     `json:"completion,omitempty"`
	Millis     float64 `json:"ms,omitempty"`
}

// Table is a table, and the charts that are shown above it.
type Table struct {
	Title string
	// Heading is the heading of the column of names, Groups are the columns after it.
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

// Group is a group of columns with a heading. Qualified is true if the columns are ambiguous without it.
type Group struct {
	Heading   string
	Columns   []string
	Qualified bool
}

// Row is a row of cells with a name. Published rows are figures of a publication, not of this run.
type Row struct {
	Name      string
	Cells     []Cell
	Published bool
}

// Cell is a figure as text. Best marks the best figure of its column; Interval may be "".
type Cell struct {
	Text     string
	Best     bool
	Interval string
}

// Chart draws lines over numbers such as a top-k.
type Chart struct {
	Title string `json:"title"`
	// X names the horizontal axis; the vertical one is in percent.
	X string `json:"x,omitempty"`
	// Dots shows each line with a single point as a labelled point, and makes the horizontal axis logarithmic.
	Dots  bool   `json:"dots,omitempty"`
	Lines []Line `json:"lines,omitempty"`
}

// Line is a line with its name, and its points in ascending order of X.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a value at X, with the bounds of its interval if there is one.
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

// pageIndex is the data that the page needs before a question is opened.
type pageIndex struct {
	Systems   []System  `json:"systems"`
	Domains   []string  `json:"domains"`
	Types     []Type    `json:"types"`
	Measures  []Measure `json:"measures"`
	Questions questions `json:"questions"`
	Cells     []cells   `json:"cells"` // answers of each system
	// Pieces has the index of the first question in each compressed piece of details.
	Pieces []int `json:"pieces"`
	// Charts are the charts of the tables, in the order of the page.
	Charts []Chart           `json:"charts"`
	Help   map[string]string `json:"help,omitempty"`
}

// questions holds the columns of the table of questions.
type questions struct {
	ID     []string `json:"id"`
	Domain []int    `json:"domain"`
	Type   []int    `json:"type"`
	Text   []string `json:"text"`
	Answer []string `json:"answer"` // gold answer, for the search field
}

// cells are the answers of one system, in the order of the questions. Unknown values are -1, unknown times 0.
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

// percent rounds a share to percent. A share between 0 and 1 never becomes 0 or 100.
func percent(share *float64) int {
	switch {
	case share == nil:
		return -1
	case *share > 0 && *share < 1:
		return min(max(int(math.Round(100**share)), 1), 99)
	}
	return int(100 * *share)
}

// MarshalJSON writes a value as null, [mean] or [mean, low, high], in percent.
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
