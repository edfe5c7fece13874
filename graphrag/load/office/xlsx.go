// SPDX-License-Identifier: Apache-2.0

package office

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/nfp"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Bounds of a sheet: columns (those of Excel), the cells that merged cells fill, bytes of its
// name in a place, and of a number format.
const (
	sheetColumns = 1 << 14
	maxMerged    = 1 << 20
	maxPlace     = 64
	maxCode      = 1 << 10
)

// book is the state of reading a workbook.
type book struct {
	*pack
	words
	shared   []string
	formats  []format          // of cells
	custom   map[string]format // of numbers
	crossed  []bool            // fonts
	mac      bool              // days count from 1904
	formulas bool              // that were never calculated

	name   string // of the sheet
	rows   []line // all that have a value
	last   int    // the number of the last row
	head   load.Line
	merged [][4]int
}

// format has the parts of a cell's format that change its value.
type format struct {
	show byte // 'd' a time, 'h' hours, '%', '0' digits with zeros before them, or 0
	size int  // of the digits
	gone bool // struck
}

// workbook reads an XLSX file (ECMA-376): a section for each sheet that is not hidden, with a
// table for each run of rows. Formulas have the values that were computed when the file was saved.
func workbook(p *pack) {
	p.d.Title = strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	main, of := p.main("xl/workbook.xml")
	b := &book{pack: p, custom: make(map[string]format)}
	var sheets [][2]string
	p.each(main, handlers{
		"workbookPr": func(e *element) { b.mac = e.attr("date1904") == "1" || e.attr("date1904") == "true" },
		"sheet": func(e *element) {
			part := of[e.related()]
			if state := e.attr("state"); (state == "" || state == "visible") && !strings.Contains(part, "chartsheets/") {
				sheets = append(sheets, [2]string{load.Single(e.attr("name")), part})
			}
		},
	})
	p.optional(of["sharedStrings"], handlers{"si": func(e *element) { b.shared = append(b.shared, b.line(e)) }})
	p.optional(of["styles"], handlers{
		"numFmt":       func(e *element) { b.custom[e.attr("numFmtId")] = shows(e.attr("formatCode")) },
		"fonts":        func(e *element) { e.find(func(k *element) { b.crossed = append(b.crossed, k.on("strike")) }, " font ") },
		"cellStyleXfs": nil,
		"xf":           b.format,
	})
	for _, s := range sheets {
		b.name, b.rows, b.merged, b.head, b.last = s[0], nil, nil, load.Line{}, 0
		p.each(s[1], handlers{"row": b.row, "mergeCell": func(e *element) {
			first, last, _ := strings.Cut(e.attr("ref"), ":")
			left, top := reference(first)
			right, bottom := reference(last)
			b.merged = append(b.merged, [4]int{left - 1, top, right - 1, bottom})
		}})
		if len(b.rows) > 0 {
			b.merge()
			b.Heading(2, b.name, b.rows[0].Place)
			b.blocks()
		}
	}
	if b.formulas {
		p.missing = append(p.missing, "values of formulas, which were never calculated: save it by a program that does")
	}
	p.leaves()
}

// row reads a row of a sheet.
func (b *book) row(e *element) {
	b.last = e.number("r", b.last+1, 1<<30)
	var cells []string
	column := 0
	for _, c := range e.kids {
		if c.name != "c" {
			continue
		}
		if at, _ := reference(c.attr("r")); at > 0 {
			column = at - 1
		}
		if s := b.shown(c); strings.TrimSpace(s) != "" && column < sheetColumns {
			cells = append(cells, make([]string, max(0, column+1-len(cells)))...)
			cells[column] = s
		}
		column++
	}
	if b.room(len(cells)) && len(cells) > 0 {
		b.rows = append(b.rows, line{load.Line{Cells: cells, Place: fmt.Sprintf("%.*s!%d", maxPlace, b.name, b.last)}, b.last})
	}
}

// shows says what a number format shows (ECMA-376 part 1, 18.8.31), by its first section.
func shows(code string) format {
	parser := nfp.NumberFormatParser()
	sections := parser.Parse(code[:min(len(code), maxCode)])
	if len(sections) == 0 {
		return format{}
	}
	items := sections[0].Items
	for _, t := range items {
		show, known := showing[t.TType]
		switch {
		case known:
			return format{show: show}
		case t.TType == nfp.TokenTypeZeroPlaceHolder && len(items) == 1:
			return format{show: '0', size: len(t.TValue)}
		}
	}
	return format{}
}

// showing are the kinds of tokens that say what a format shows.
var showing = map[string]byte{nfp.TokenTypeGeneral: 0, nfp.TokenTypeElapsedDateTimes: 'h', nfp.TokenTypeDateTimes: 'd', nfp.TokenTypePercent: '%'}

// format adds a format of cells; some of numbers have no code (ECMA-376 part 1, 18.8.30).
func (b *book) format(e *element) {
	id, font := e.number("numFmtId", 0, 1<<20), e.number("fontId", 0, 1<<20)
	f := b.custom[e.attr("numFmtId")]
	f.gone = font < len(b.crossed) && b.crossed[font]
	switch {
	case f.show != 0:
	case id == 9 || id == 10:
		f.show = '%'
	case id == 46:
		f.show = 'h'
	case id >= 14 && id <= 22 || id >= 27 && id <= 36 || id == 45 || id == 47 || id >= 50 && id <= 58:
		f.show = 'd'
	}
	b.formats = append(b.formats, f)
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

// shown is the value of a cell as it is displayed, but for the forms of dates, which are ISO's.
func (b *book) shown(c *element) string {
	s, kind, of := c.at("v").all(), c.attr("t"), format{}
	if i, err := strconv.Atoi(c.attr("s")); err == nil && i >= 0 && i < len(b.formats) {
		of = b.formats[i]
	}
	switch {
	case of.gone:
		return ""
	case kind == "s":
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 || i >= len(b.shared) {
			return ""
		}
		return b.shared[i]
	case kind == "inlineStr":
		return b.line(c.at("is"))
	case kind == "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[s]
	case kind == "str", kind == "e", kind == "d":
		return s
	case s == "" && c.at("f") != nil:
		b.formulas = true
		return strings.TrimSuffix("="+c.at("f").all(), "=")
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || v-v != 0:
		return s
	case of.show == 'd' && v >= 0 && v < 2958466: // to the year 9999
		return b.date(v)
	case of.show == 'h' && v >= 0 && v < 2958466:
		minutes := int(math.Round(v * 24 * 60))
		return fmt.Sprintf("%d:%02d", minutes/60, minutes%60)
	case of.show == '%':
		return digits(v*100) + "%"
	case of.show == '0' && v >= 0 && v == math.Trunc(v) && v < 1e15:
		return fmt.Sprintf("%0*.0f", of.size, v)
	}
	return digits(v)
}

// digits are the 15 that Excel shows of 0.30000000000000004, without an exponent where they can be.
func digits(v float64) string {
	s := strconv.FormatFloat(v, 'g', 15, 64)
	if w, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(w) < 1e21 && (w == 0 || math.Abs(w) > 1e-9) {
		return strconv.FormatFloat(w, 'f', -1, 64)
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
// as in a title.
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

// blocks writes the runs of rows without an empty row between them: the first rows with one value
// as paragraphs, the others as a table.
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

// block writes a table under its first row, or under the header before if that has numbers.
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
	shift := func(l load.Line) load.Line {
		l.Cells = l.Cells[min(left, len(l.Cells)):]
		return l
	}
	body := make([]load.Line, len(rows))
	for i, l := range rows {
		body[i] = shift(l.Line)
	}
	b.Table(shift(b.head), body)
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
