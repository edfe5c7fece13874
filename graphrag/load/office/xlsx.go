// SPDX-License-Identifier: Apache-2.0

package office

import (
	"encoding/xml"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Bounds of a sheet: columns (those of Excel), the cells that merged ones fill, and bytes of its
// name in a place.
const (
	sheetColumns = 1 << 14
	maxMerged    = 1 << 20
	maxPlace     = 64
)

// book is the state of reading a workbook.
type book struct {
	*pack
	of     map[string]string // relations
	sheets [][2]string       // names and parts of those that are shown
	shared []string
	styles []byte       // what the formats of cells show: 'd' a time, 'h' hours, '%', or 0
	custom map[int]byte // that of the workbook's own formats
	inside bool         // of the formats of cells
	spoken bool         // in the pronunciation of a text
	mac    bool         // days count from 1904

	name string    // of the sheet
	rows []line    // all that have a value
	head load.Line // the last header
	// The open row and its next cell.
	row, column int
	kind, show  string
	value       strings.Builder
	merged      [][4]int
}

// workbook reads an XLSX file (ECMA-376): a section for each sheet that is not hidden, with a
// table for each run of rows. Formulas have the values that were computed when the file was saved.
func workbook(p *pack) {
	p.d.Title = strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	main, of := p.main("xl/workbook.xml")
	b := &book{pack: p, of: of, custom: make(map[int]byte)}
	parts := elements{b.open, b.shut, func(in, s string) {
		if in == "v" || in == "t" && !b.spoken {
			b.value.WriteString(s)
		}
	}}
	p.scan(main, parts)
	p.optional(of["sharedStrings"], parts)
	p.optional(of["styles"], parts)
	for _, s := range b.sheets {
		b.name, b.rows, b.merged, b.head, b.row = s[0], nil, nil, load.Line{}, 0
		p.scan(s[1], parts)
		if len(b.rows) > 0 {
			b.merge()
			b.Heading(2, b.name, b.rows[0].Place)
			b.blocks()
		}
	}
}

// open begins an element of the workbook, its texts, its styles or a sheet.
func (b *book) open(e xml.StartElement) {
	switch e.Name.Local {
	case "workbookPr":
		b.mac = attr(e, "date1904") == "1" || attr(e, "date1904") == "true"
	case "sheet":
		part := b.of[related(e)]
		if state := attr(e, "state"); (state == "" || state == "visible") && !strings.Contains(part, "chartsheets/") {
			b.sheets = append(b.sheets, [2]string{load.Single(attr(e, "name")), part})
		}
	case "si":
		b.value.Reset()
	case "rPh":
		b.spoken = true
	case "cellXfs":
		b.inside = true
	case "numFmt":
		b.custom[number(e, "numFmtId", 0, 1<<20)] = shows(attr(e, "formatCode"))
	case "xf":
		if b.inside {
			b.styles = append(b.styles, b.format(number(e, "numFmtId", 0, 1<<20)))
		}
	case "row":
		b.row, b.column = number(e, "r", b.row+1, 1<<30), 0
	case "c":
		if column, _ := reference(attr(e, "r")); column > 0 {
			b.column = column - 1
		}
		b.kind, b.show = attr(e, "t"), attr(e, "s")
		b.value.Reset()
	case "mergeCell":
		first, last, _ := strings.Cut(attr(e, "ref"), ":")
		left, top := reference(first)
		right, bottom := reference(last)
		b.merged = append(b.merged, [4]int{left - 1, top, right - 1, bottom})
	}
}

func (b *book) shut(name string) {
	switch name {
	case "rPh":
		b.spoken = false
	case "cellXfs":
		b.inside = false
	case "si":
		b.shared = append(b.shared, b.value.String())
	case "c":
		if s := b.shown(); strings.TrimSpace(s) != "" && b.column < sheetColumns {
			b.cells = append(b.cells, make([]string, max(0, b.column+1-len(b.cells)))...)
			b.cells[b.column] = s
		}
		b.column++
	case "row":
		b.endRow(fmt.Sprintf("%.*s!%d", maxPlace, b.name, b.row))
		for _, l := range b.lines {
			b.rows = append(b.rows, line{l, b.row})
		}
		b.lines = b.lines[:0]
	}
}

var unshown = regexp.MustCompile(`"[^"]*"|\\.|_.|\[[^\]hms]*\]`)

// shows says what a number format shows.
func shows(code string) byte {
	code = unshown.ReplaceAllString(strings.ToLower(code), "")
	switch {
	case strings.Contains(code, "general"):
	case strings.Contains(code, "[h") || strings.Contains(code, "[m") || strings.Contains(code, "[s"):
		return 'h'
	case strings.ContainsAny(code, "ymdhs"):
		return 'd'
	case strings.Contains(code, "%"):
		return '%'
	}
	return 0
}

// format is what a number format shows; some have no code (ECMA-376 part 1, 18.8.30).
func (b *book) format(id int) byte {
	switch {
	case id == 9 || id == 10:
		return '%'
	case id == 46:
		return 'h'
	case id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58:
		return 'd'
	}
	return b.custom[id]
}

// reference is the column and the row of "B7", from 1; 0 if there is none.
func reference(s string) (column, row int) {
	i := 0
	for ; i < len(s) && 'A' <= s[i] && s[i] <= 'Z' && column <= sheetColumns; i++ {
		column = column*26 + int(s[i]-'A') + 1
	}
	row, _ = strconv.Atoi(s[i:])
	return column, row
}

// shown is the value of the open cell as it is displayed, but for the forms of dates, which are ISO's.
func (b *book) shown() string {
	s := b.value.String()
	switch b.kind {
	case "s":
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 || i >= len(b.shared) {
			return ""
		}
		return b.shared[i]
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[s]
	case "str", "inlineStr", "e", "d":
		return s
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v-v != 0 {
		return s
	}
	show := byte(0)
	if i, err := strconv.Atoi(b.show); err == nil && i >= 0 && i < len(b.styles) {
		show = b.styles[i]
	}
	switch {
	case show == 'd' && v >= 0 && v < 2958466: // to the year 9999
		return b.date(v)
	case show == 'h' && v >= 0 && v < 2958466:
		minutes := int(math.Round(v * 24 * 60))
		return fmt.Sprintf("%d:%02d", minutes/60, minutes%60)
	case show == '%':
		return strconv.FormatFloat(v*100, 'g', 12, 64) + "%"
	case len(s) > 15: // Excel shows 15 digits of 0.30000000000000004
		return strconv.FormatFloat(v, 'g', 15, 64)
	}
	return s
}

// date is the date of a number of days, with its time if there is one. Day 60 is a 29 February
// 1900 that never was.
func (b *book) date(days float64) string {
	t := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case b.mac:
		t = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		t = t.AddDate(0, 0, 1)
	}
	seconds := int64(math.Round(days * 24 * 60 * 60))
	t = t.AddDate(0, 0, int(seconds/86400)).Add(time.Duration(seconds%86400) * time.Second)
	switch {
	case days < 1:
		return strings.TrimSuffix(t.Format(time.TimeOnly), ":00")
	case seconds%86400 == 0:
		return t.Format(time.DateOnly)
	}
	return strings.TrimSuffix(t.Format(time.DateTime), ":00")
}

// merge gives each cell of a merged range its value, unless the range is all that its row has,
// as that of a title is.
func (b *book) merge() {
	left := maxMerged
	for _, m := range b.merged {
		first, ok := slices.BinarySearchFunc(b.rows, m[1], func(l line, row int) int { return l.number - row })
		if !ok || m[0] < 0 || m[0] >= len(b.rows[first].Cells) || filled(b.rows[first].Cells) == 1 && m[2] > m[0] {
			continue
		}
		value := b.rows[first].Cells[m[0]]
		for i := first; i < len(b.rows) && b.rows[i].number <= m[3]; i++ {
			for c := m[0]; c <= min(m[2], maxColumns); c++ {
				if left--; left < 0 {
					return
				}
				l := &b.rows[i]
				l.Cells = append(l.Cells, make([]string, max(0, c+1-len(l.Cells)))...)
				if l.Cells[c] == "" {
					l.Cells[c] = value
				}
			}
		}
	}
}

// filled counts the cells with a value.
func filled(cells []string) (n int) {
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}

// blocks writes the runs of rows without an empty row between them: those of one value that one
// begins with as paragraphs, the others as a table.
func (b *book) blocks() {
	for i, start := 1, 0; i <= len(b.rows); i++ {
		if i < len(b.rows) && b.rows[i].number == b.rows[i-1].number+1 {
			continue
		}
		for ; start < i && filled(b.rows[start].Cells) == 1; start++ {
			b.Paragraph(strings.Join(b.rows[start].Cells, ""), b.rows[start].Place)
		}
		if start < i {
			b.block(b.rows[start:i])
		}
		start = i
	}
}

// block writes a table under its first row, unless that has numbers: then it goes on under the
// header before.
func (b *book) block(rows []line) {
	left := sheetColumns
	for _, l := range rows {
		left = min(left, slices.IndexFunc(l.Cells, func(c string) bool { return c != "" }))
	}
	if slices.ContainsFunc(rows[0].Cells, func(c string) bool { return isNumber(c) && !isYear(c) }) {
		b.head.Place = rows[0].Place
	} else {
		b.head, rows = rows[0].Line, rows[1:]
	}
	cut := func(l load.Line) load.Line {
		l.Cells = l.Cells[min(left, len(l.Cells)):]
		return l
	}
	body := make([]load.Line, len(rows))
	for i, l := range rows {
		body[i] = cut(l.Line)
	}
	b.Table(cut(b.head), body)
}

// line is a row of a sheet with its number.
type line struct {
	load.Line
	number int
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(strings.ReplaceAll(s, ",", ".")), 64)
	return err == nil
}

// isYear reports whether a number can be the name of a column.
func isYear(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }
