// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"strings"
)

// full reports whether no more bytes of text can be written.
func (p *pack) full(more int) bool {
	if p.out.Len()+more > maxText || p.slots > maxSlots {
		p.fail(errLong)
	}
	return p.err != nil
}

// at is the place of what is written next; "" is the next paragraph.
func (p *pack) at(place string) {
	p.f.lines = append(p.f.lines, p.out.Len())
	if place != "" {
		p.f.places = append(p.f.places, place)
	}
}

// paragraph writes a paragraph, a heading of a level from 1, or an item of a list of a depth from 1.
func (p *pack) paragraph(text string, level, item int, place string) {
	text = single(text)
	if text == "" || p.full(len(text)) {
		return
	}
	if item == 0 || level > 0 {
		p.blank()
	}
	p.at(place)
	switch {
	case level > 0:
		text = strings.Repeat("#", min(level, 6)) + " " + text + "\n"
	case item > 0:
		text = strings.Repeat("    ", min(item, maxDepth/4)-1) + "- " + text
	default:
		text += "\n"
	}
	p.add(text+"\n", p.out.Len())
}

// line is a row of a table with its place.
type line struct {
	cells  []string
	place  string
	number int
}

// grids is the table that is being read.
type grids struct {
	depth int // of tables in tables, which are text of the cells
	cell  strings.Builder
	span  int  // columns of the cell
	down  bool // it continues the cell above
	cells []string
	lines []line
}

// endCell ends a cell. What is merged stands in its first column, and in each of its rows.
func (p *pack) endCell() {
	text := single(p.cell.String())
	if n := len(p.cells); p.down && text == "" && len(p.lines) > 0 && n < len(p.lines[len(p.lines)-1].cells) {
		text = p.lines[len(p.lines)-1].cells[n]
	}
	p.cells = append(p.cells, text)
	for i := 1; i < p.span && len(p.cells) < maxColumns; i++ {
		p.cells = append(p.cells, "")
	}
	p.cell.Reset()
	p.span, p.down = 1, false
}

func (p *pack) endRow(place string) {
	if p.slots += len(p.cells); !p.full(0) && len(p.cells) > 0 {
		p.lines = append(p.lines, line{cells: slices.Clone(p.cells), place: place})
	}
	p.cells = p.cells[:0]
}

// endTable writes the table under its first row.
func (p *pack) endTable() {
	if len(p.lines) > 0 {
		p.table(p.lines[0], p.lines[1:])
	}
	p.lines = nil
}

// table writes rows under a header, with the header again where it is far, as items if they are too wide.
func (p *pack) table(header line, rows []line) {
	width := len(header.cells)
	for _, l := range rows {
		width = max(width, len(l.cells))
	}
	g := &grid{w: &p.writer, header: slices.Clone(header.cells)}
	g.header = append(g.header, make([]string, width-len(g.header))...)
	size := func(cells []string) int {
		n := 3 * min(width, maxColumns)
		for _, c := range cells {
			n += len(c) + 3
		}
		return n
	}
	labels, wide := maxLabels*size(header.cells), !narrow(g.header)
	p.blank()
	if !wide && !p.full(size(header.cells)) {
		p.at(header.place)
		g.head(nil)
	}
	for _, l := range rows {
		n := size(l.cells)
		if p.full(n) {
			return
		}
		labels += maxLabels * n
		if wide {
			p.blank()
		}
		p.at(l.place)
		if wide {
			labels -= p.items(g.header, l.cells, nil, labels)
		} else {
			g.row(l.cells, nil)
		}
	}
	p.blank()
}
