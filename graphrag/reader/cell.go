// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"regexp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// unit is the text in parentheses in the name of a column.
var unit = regexp.MustCompile(`\([^)]*\)`)

// cell answers a question for a cell by the name of its column, "What is the price of X?", in the table of
// the best candidate. It returns the row that contains all terms of X which occur in the table; of several
// such rows, the only one in which they fill a cell. It returns false if no row is left, if several are, or
// if the cell is empty. For any other question it returns the best candidate.
func (c *corpus) cell(best int) (row int, ok bool) {
	header := c.header(&c.candidates[best])
	named, rest := make([]bool, len(header.Cells)), (set(1)<<c.q.terms-1)&^c.q.weak
	for j := range named {
		terms, all := c.askedOf(unit.ReplaceAllString(header.Cell(j), ""))
		if named[j] = all; all {
			rest &^= terms
		}
	}
	var rows, match, exact []int
	var present set
	seen := make(map[string]bool) // a row of two chunks counts once
	for i := range c.candidates {
		x := &c.candidates[i]
		if len(named) > 0 && c.header(x).Text == header.Text && !seen[x.text] {
			rows, present, seen[x.text] = append(rows, i), present|x.own&rest, true
		}
	}
	if present == 0 {
		return best, true
	}
	for _, i := range rows {
		x, whole := &c.candidates[i], false
		for j := range named {
			terms, all := c.askedOf(c.block(x).Cell(j))
			named[j] = named[j] && terms&present == 0 // else it tells rows apart
			whole = whole || all && terms&present != 0
		}
		if x.own&present == present {
			if match = append(match, i); whole {
				exact = append(exact, i)
			}
		}
	}
	if !slices.Contains(named, true) {
		return best, true
	}
	if len(exact) > 0 {
		match = exact
	}
	if len(match) != 1 {
		return best, false
	}
	x, column := &c.candidates[match[0]], -1
	for j, asked := range named {
		if value := c.block(x).Cell(j); asked && (c.q.want == 0 || value == "" || c.q.shows("is "+value)) {
			if column >= 0 {
				return match[0], true // the row answers, and the column is not given
			}
			column = j
		}
	}
	if column < 0 || c.block(x).Cell(column) == "" {
		return match[0], column < 0
	}
	x.cell = header.Cell(column) + ": " + c.block(x).Cell(column)
	return match[0], true
}

func (c *corpus) block(x *candidate) load.Block { return c.pieces[x.piece].blocks[x.quotation.block] }

// header is the first row of the table of a row, without cells if there is none.
func (c *corpus) header(x *candidate) (h load.Block) {
	if lead := c.block(x).Lead; x.kind == load.Row && lead >= 0 && c.pieces[x.piece].blocks[lead].Kind == load.Header {
		h = c.pieces[x.piece].blocks[lead]
	}
	return h
}

// askedOf returns the question's terms that a text contains, and whether these are all of them.
func (c *corpus) askedOf(s string) (asked set, all bool) {
	terms := c.lexicon.known.terms(s)
	asked = c.asked(terms)
	return asked, asked != 0 && asked.count() == len(terms)
}
