// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of a sheet: columns (those of Excel), the cells that merged ones fill, and bytes of its
// name in a place.
const (
	sheetColumns = 1 << 14
	maxMerged    = 1 << 20
	maxPlace     = 64
)

// workbook reads an XLSX file (ECMA-376): a section for each sheet that is not hidden, with a
// table for each run of rows. Formulas have the values that were computed when the file was saved.
func workbook(p *pack) error {
	p.f.Document.Title = strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	main, of, err := p.main("xl/workbook.xml")
	if err != nil {
		return err
	}
	b := &book{pack: p, custom: make(map[int]byte)}
	type sheet struct{ name, part string }
	var sheets []sheet
	if err := p.scan(main, elements{open: func(e xml.StartElement) {
		switch e.Name.Local {
		case "workbookPr":
			b.mac = attr(e, "date1904") == "1" || attr(e, "date1904") == "true"
		case "sheet":
			if part := of[related(e)]; attr(e, "state") == "" || attr(e, "state") == "visible" {
				sheets = append(sheets, sheet{single(attr(e, "name")), part})
			}
		}
	}}); err != nil {
		return err
	}
	err = errors.Join(p.optional(of["sharedStrings"], b.sharedStrings()), p.optional(of["styles"], elements{open: b.style, shut: func(name string) {
		b.inCells = b.inCells && name != "cellXfs"
	}}))
	for _, s := range sheets {
		if err == nil && !strings.Contains(s.part, "chartsheets/") {
			err = b.sheet(s.name, s.part)
		}
	}
	return err
}

// book is the state of reading a workbook.
type book struct {
	*pack
	shared  []string
	styles  []byte       // what the formats of cells show: 'd' a time, 'h' hours, '%', or 0
	custom  map[int]byte // that of the workbook's own formats
	inCells bool
	mac     bool // days count from 1904

	name string // of the sheet
	rows []line // all that have a value
	head line   // the last header
	// The open row and its next cell.
	row, column int
	kind, show  string
	value       strings.Builder
	merged      [][4]int
}

// sharedStrings collects texts without their pronunciation.
func (b *book) sharedStrings() elements {
	var text strings.Builder
	spoken := false
	return elements{
		open: func(e xml.StartElement) { spoken = spoken || e.Name.Local == "rPh" },
		shut: func(name string) {
			switch name {
			case "rPh":
				spoken = false
			case "si":
				b.shared = append(b.shared, text.String())
				text.Reset()
			}
		},
		text: func(in, s string) {
			if in == "t" && !spoken {
				text.WriteString(s)
			}
		},
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

func (b *book) style(e xml.StartElement) {
	id := number(e, "numFmtId", 0, 1<<20)
	switch {
	case e.Name.Local == "numFmt":
		b.custom[id] = shows(attr(e, "formatCode"))
	case e.Name.Local == "cellXfs":
		b.inCells = true
	case e.Name.Local != "xf" || !b.inCells:
	case id == 9 || id == 10: // formats without a code, ECMA-376 part 1, 18.8.30
		b.styles = append(b.styles, '%')
	case id == 46:
		b.styles = append(b.styles, 'h')
	case id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58:
		b.styles = append(b.styles, 'd')
	default:
		b.styles = append(b.styles, b.custom[id])
	}
}

// sheet reads a sheet.
func (b *book) sheet(name, part string) error {
	b.name, b.rows, b.merged, b.head, b.row = name, nil, nil, line{}, 0
	spoken := false
	err := b.scan(part, elements{open: func(e xml.StartElement) {
		switch e.Name.Local {
		case "row":
			b.row, b.column = number(e, "r", b.row+1, 1<<30), 0
		case "c":
			if column, _ := reference(attr(e, "r")); column > 0 {
				b.column = column - 1
			}
			b.kind, b.show = attr(e, "t"), attr(e, "s")
			b.value.Reset()
		case "rPh":
			spoken = true
		case "mergeCell":
			first, last, _ := strings.Cut(attr(e, "ref"), ":")
			left, top := reference(first)
			right, bottom := reference(last)
			if len(b.merged) < maxMerged {
				b.merged = append(b.merged, [4]int{left - 1, top, right - 1, bottom})
			}
		}
	}, text: func(in, s string) {
		if in == "v" || in == "t" && !spoken {
			b.value.WriteString(s)
		}
	}, shut: func(name string) {
		switch name {
		case "rPh":
			spoken = false
		case "c":
			if s := b.shown(); strings.TrimSpace(s) != "" && b.column < sheetColumns {
				for len(b.cells) <= b.column {
					b.cells = append(b.cells, "")
				}
				b.cells[b.column] = s
			}
			b.column++
		case "row":
			b.endRow("")
			if n := len(b.lines); n > 0 {
				b.lines[n-1].number, b.lines[n-1].place = b.row, fmt.Sprintf("%.*s!%d", maxPlace, b.name, b.row)
				b.rows, b.lines = append(b.rows, b.lines[n-1]), b.lines[:0]
			}
		}
	}})
	if err == nil && len(b.rows) > 0 {
		b.merge()
		b.paragraph(name, 2, 0, b.rows[0].place)
		b.blocks()
	}
	return err
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
	at := make(map[int]int, len(b.rows))
	for i, l := range b.rows {
		at[l.number] = i
	}
	left := maxMerged
	for _, m := range b.merged {
		first, ok := at[m[1]]
		if !ok || m[0] < 0 || m[0] >= len(b.rows[first].cells) || m[2] < m[0] {
			continue
		}
		value := b.rows[first].cells[m[0]]
		alone := filled(b.rows[first].cells) == 1
		for i := first; i < len(b.rows) && b.rows[i].number <= m[3]; i++ {
			for c := m[0]; c <= min(m[2], maxColumns) && left > 0 && !(alone && i == first); c++ {
				left--
				for len(b.rows[i].cells) <= c {
					b.rows[i].cells = append(b.rows[i].cells, "")
				}
				if b.rows[i].cells[c] == "" {
					b.rows[i].cells[c] = value
				}
			}
			if left--; left <= 0 {
				return
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

// blocks writes the runs of rows without an empty row between them.
func (b *book) blocks() {
	for i, start := 1, 0; i <= len(b.rows); i++ {
		if i == len(b.rows) || b.rows[i].number != b.rows[i-1].number+1 {
			b.block(b.rows[start:i])
			start = i
		}
	}
}

// block writes a run of rows: those of one value that it begins with as paragraphs, the others as
// a table under the first, unless that has numbers: then it goes on under the header before.
func (b *book) block(rows []line) {
	for len(rows) > 0 && filled(rows[0].cells) == 1 {
		for _, c := range rows[0].cells {
			b.paragraph(c, 0, 0, rows[0].place)
		}
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return
	}
	left := sheetColumns
	for _, l := range rows {
		for c := range l.cells {
			if l.cells[c] != "" {
				left = min(left, c)
				break
			}
		}
	}
	header := rows[0]
	for _, c := range header.cells {
		if isNumber(c) && !isYear(c) {
			header = line{b.head.cells, rows[0].place, 0}
		}
	}
	if header.number > 0 {
		b.head, rows = header, rows[1:]
	}
	body := make([]line, len(rows))
	for i, l := range rows {
		body[i] = line{l.cells[min(left, len(l.cells)):], l.place, 0}
	}
	b.table(line{header.cells[min(left, len(header.cells)):], header.place, 0}, body)
}

// isYear reports whether a number can be the name of a column.
func isYear(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }
