// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/csv"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tableFile reads comma- or tab-separated values (RFC 4180, with what spreadsheets write
// beside it: semicolons, stray quotes, rows of any length) as a table. The first row is
// its header, unless it has a number in it.
func tableFile(name, source string) *File {
	comma := delimiter(name, source)
	if manyCells(source, comma) {
		return Text(name, source)
	}
	r := csv.NewReader(strings.NewReader(source))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = comma, true, -1, true
	lines := lineStarts(source)
	w := &writer{}
	var g *grid
	for {
		cells, err := r.Read()
		if err != nil {
			break // the end: with lazy quotes every text is a table
		}
		at := make([]int, len(cells))
		for i := range cells {
			line, column := r.FieldPos(i)
			at[i] = min(lines[min(line, len(lines))-1]+column-1, len(source))
		}
		if g == nil {
			g = &grid{w: w, header: make([]string, len(cells))}
			if !slices.ContainsFunc(cells, isNumber) {
				copy(g.header, cells)
				g.at = at
				continue
			}
		}
		for len(g.header) < len(cells) {
			g.header = append(g.header, "")
			g.rows = 0 // another table from here on
		}
		if narrow(g.header) {
			g.row(cells, at)
		} else {
			w.items(g.header, cells, at)
		}
	}
	if g != nil && w.out.Len() == 0 { // a header alone is a row
		g.row(g.header, []int{0})
	}
	return w.file(name, source)
}

// items writes a row that is too wide for a table: a list of what its columns say.
func (w *writer) items(header, cells []string, at []int) {
	w.blank()
	for i, cell := range cells {
		if cell = strings.Join(strings.Fields(cell), " "); cell != "" {
			w.add("- "+strings.Join(strings.Fields(header[i]), " ")+": ", at[i])
			w.add(cell, at[i])
			w.out.WriteByte('\n')
		}
	}
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(strings.ReplaceAll(s, ",", ".")), 64)
	return err == nil
}

// delimiter is what separates most columns of the first line.
func delimiter(name, source string) rune {
	if strings.EqualFold(path.Ext(name), ".tsv") {
		return '\t'
	}
	first, _, _ := strings.Cut(source, "\n")
	best, most := ',', 0
	for _, d := range ",;\t|" {
		if n := strings.Count(first, string(d)); n > most {
			best, most = d, n
		}
	}
	return best
}

// manyCells tells whether a line has too many cells to be taken apart.
func manyCells(source string, comma rune) bool {
	for _, line := range lines(source) {
		if strings.Count(line, string(comma)) > maxCells {
			return true
		}
	}
	return false
}
