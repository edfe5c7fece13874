// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"math"
	"strings"
)

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
			out.Charts = append(out.Charts, c.clean())
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
		out.Questions.add(q)
		for i, a := range q.Answers {
			out.Cells[i].add(a)
		}
	}
	return out
}

func (c *questions) add(q Question) {
	c.ID = append(c.ID, name(q.ID))
	c.Domain, c.Type = append(c.Domain, q.Domain), append(c.Type, q.Type)
	c.Text = append(c.Text, name(q.Text))
	c.Answer = append(c.Answer, clean(strings.Join(firstN(q.Statements, manyTexts), " "), longQuote))
}

func (c *cells) add(a Answer) {
	c.State = append(c.State, a.State)
	c.Score, c.Found = append(c.Score, percent(a.Score)), append(c.Found, percent(a.Found))
	c.Tokens, c.Millis = append(c.Tokens, a.Costs.Context), append(c.Millis, int(math.Round(a.Costs.Millis)))
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

func (c Chart) clean() Chart {
	c.Title, c.X = name(c.Title), name(c.X)
	c.Lines = mapped(c.Lines, func(l Line) Line { return Line{name(l.Name), l.Points} })
	return c
}
