// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/nfp"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Limits of a sheet: columns (as in Excel), cells filled by merged cells, bytes of the sheet's name in a place,
// and bytes of a number format.
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
	formats  []format          // formats of cells
	custom   map[string]format // formats of numbers by ID
	crossed  []bool            // for each font: it is struck
	mac      bool              // dates count days from 1904
	formulas bool              // a formula without a value was met

	name    string      // name of the current sheet
	rows    []load.Line // its rows with a value
	numbers []int       // row number of each entry of rows
	last    int         // number of the last row read
	head    load.Line
	merged  [][4]int
}

// format has the parts of a cell's format that change how its value is shown.
type format struct {
	show byte // 'd' a date, 'h' hours, '%' per cent, '0' an integer with leading zeros, 0 others
	size int  // number of digits for '0'
	gone bool // struck or hidden
}

// workbook reads an XLSX file (ECMA-376): each sheet that is not hidden is a section, and each run of rows
// without an empty row between them a table. Formulas have the values that were stored with the file.
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
				sheets = append(sheets, [2]string{display.Single(e.attr("name")), part})
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
		b.name, b.rows, b.numbers, b.merged, b.head, b.last = s[0], nil, nil, nil, load.Line{}, 0
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
		if n, _ := reference(c.attr("r")); n > 0 {
			column = n - 1
		}
		s := coded.ReplaceAllStringFunc(b.shown(c), func(s string) string {
			code, _ := strconv.ParseUint(s[2:6], 16, 16)
			return string(rune(code))
		})
		if strings.TrimSpace(s) != "" && column < sheetColumns {
			cells = append(cells, make([]string, max(0, column+1-len(cells)))...)
			cells[column] = s
		}
		column++
	}
	if b.room(len(cells)) && len(cells) > 0 {
		b.rows = append(b.rows, load.Line{Cells: cells, Place: fmt.Sprintf("%.*s!%d", maxPlace, b.name, b.last)})
		b.numbers = append(b.numbers, b.last)
	}
}

// coded matches an escaped character in the text of a cell (ECMA-376 part 1, 22.9.2.19).
var coded = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// shows returns how the first section of a number format displays a value (ECMA-376 part 1, 18.8.31).
func shows(code string) format {
	parser := nfp.NumberFormatParser()
	sections := parser.Parse(code[:min(len(code), maxCode)])
	if len(sections) == 0 || strings.Trim(code, "; ") == "" {
		return format{gone: code != ""}
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

// showing maps the types of tokens in a number format to values of format.show.
var showing = map[string]byte{nfp.TokenTypeGeneral: 0, nfp.TokenTypeElapsedDateTimes: 'h', nfp.TokenTypeDateTimes: 'd', nfp.TokenTypePercent: '%'}

// format appends the format of a cell. Some built-in number formats have no code (ECMA-376 part 1, 18.8.30).
func (b *book) format(e *element) {
	id, f := e.number("numFmtId", 0, 1<<20), b.custom[e.attr("numFmtId")]
	f.gone = f.gone || indexed(b.crossed, e.attr("fontId"))
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

// reference returns the column and the row of a reference such as "B7", both from 1; 0 if it has none.
func reference(s string) (column, row int) {
	i := 0
	for ; i < len(s) && 'A' <= s[i] && s[i] <= 'Z' && column <= sheetColumns; i++ {
		column = column*26 + int(s[i]-'A') + 1
	}
	row, _ = strconv.Atoi(s[i:])
	return column, row
}

// indexed returns the value with an index, the zero value if there is none.
func indexed[T any](values []T, index string) (v T) {
	if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(values) {
		v = values[i]
	}
	return v
}

// shown returns the value of a cell as Excel displays it, but dates in ISO 8601.
func (b *book) shown(c *element) string {
	s, kind, of := c.at("v").all(), c.attr("t"), indexed(b.formats, c.attr("s"))
	switch {
	case of.gone:
		return ""
	case kind == "s":
		return indexed(b.shared, s)
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
	case of.show == 'd' && v >= 0 && v < 2958466: // up to the year 9999
		return b.date(v)
	case of.show == 'h' && v >= 0 && v < 2958466:
		seconds := int(math.Round(v * 24 * 60 * 60))
		return strings.TrimSuffix(fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60), ":00")
	case of.show == '%':
		return digits(v*100) + "%"
	case of.show == '0' && v >= 0 && v == math.Trunc(v) && v < 1e15:
		return fmt.Sprintf("%0*.0f", of.size, v)
	}
	return digits(v)
}

// digits returns a number with the 15 digits that Excel shows, so 0.3 for 0.30000000000000004, and without an
// exponent unless it is very large or small.
func digits(v float64) string {
	s := strconv.FormatFloat(v, 'g', 15, 64)
	if w, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(w) < 1e21 && (w == 0 || math.Abs(w) > 1e-9) {
		return strconv.FormatFloat(w, 'f', -1, 64)
	}
	return s
}

// date returns the date of a number of days, with the time unless it is midnight. In Excel, day 60 is 29
// February 1900, a day that did not exist.
func (b *book) date(days float64) string {
	from := 25569.0 // days from 30 December 1899 to 1 January 1970
	if b.mac {
		from = 24107
	} else if days < 60 {
		from = 25568
	}
	t := time.Unix(int64(math.Round((days-from)*24*60*60)), 0).UTC()
	switch {
	case days < 1:
		return strings.TrimSuffix(t.Format(time.TimeOnly), ":00")
	case t.Unix()%(24*60*60) == 0:
		return t.Format(time.DateOnly)
	}
	return strings.TrimSuffix(t.Format(time.DateTime), ":00")
}

// merge fills the empty cells of a merged range with its value, unless its row has no other value and it covers
// several columns, as a title does.
func (b *book) merge() {
	left := maxMerged
	for _, m := range b.merged {
		first, ok := slices.BinarySearch(b.numbers, m[1])
		if !ok || m[0] < 0 || m[0] >= len(b.rows[first].Cells) || filled(b.rows[first].Cells) == 1 && m[2] > m[0] {
			continue
		}
		value := b.rows[first].Cells[m[0]]
		for i := first; i < len(b.rows) && b.numbers[i] <= m[3]; i++ {
			for c := m[0]; c <= min(m[2], maxColumns); c++ {
				if left--; left < 0 {
					return
				}
				l := &b.rows[i]
				l.Cells = append(l.Cells, make([]string, max(0, c+1-len(l.Cells)))...)
				l.Cells[c] = cmp.Or(l.Cells[c], value)
			}
		}
	}
}

// filled returns the number of cells with a value.
func filled(cells []string) (n int) {
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}

// blocks writes each run of rows without an empty row between them: leading rows with a single value as
// paragraphs, the others as a table.
func (b *book) blocks() {
	for i, start := 1, 0; i <= len(b.rows); i++ {
		if i < len(b.rows) && b.numbers[i] == b.numbers[i-1]+1 {
			continue
		}
		if rows := b.titled(b.rows[start:i]); len(rows) > 0 {
			b.block(rows)
		}
		start = i
	}
}

// block writes a table. Its header is the first row, or, if that has numbers, the header of the table before.
func (b *book) block(rows []load.Line) {
	left := sheetColumns
	for _, l := range rows {
		left = min(left, slices.IndexFunc(l.Cells, func(c string) bool { return c != "" }))
	}
	if rows[0].HasNumbers() {
		b.head.Place = rows[0].Place
	} else {
		b.head, rows = rows[0], rows[1:]
	}
	for i := range rows {
		rows[i].Cells = rows[i].Cells[left:]
	}
	b.Table(load.Line{Cells: b.head.Cells[min(left, len(b.head.Cells)):], Place: b.head.Place}, rows)
}
