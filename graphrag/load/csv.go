// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A sheet is a file of separated values as in RFC 4180, or as other programs write it.
type sheet struct {
	source string
	comma  byte
	quote  string
	start  int  // offset of the first record
	titles int  // number of records above the table
	open   int  // no quote after this offset is closed
	end    int  // offset of the end of the last record
	slash  bool // quotes within a value have a backslash
}

// escaped matches a quote within a value that is written with a backslash.
var escaped = regexp.MustCompile(`\\"[\pL\pN]`)

// The number of records that decide the dialect, and the separators: of two with equal scores the first wins.
const (
	sampled    = 64
	separators = "\t;|,"
)

// newSheet decides by the first records which character separates values, and where the table begins.
func newSheet(name, source string) *sheet {
	if !strings.Contains(source, "\n") {
		source = strings.ReplaceAll(source, "\r", "\n")
	}
	s := &sheet{source: source, open: len(source), quote: `"`, slash: escaped.MatchString(source)}
	commas := separators
	if first := strings.Trim(source[:lineEnd(source, 0)], "\"\r\n"); len(first) == len("sep=;") && strings.EqualFold(first[:4], "sep=") {
		commas, s.start = first[4:], lineEnd(source, 0)
	} else if strings.EqualFold(path.Ext(name), ".tsv") {
		commas = "\t"
	}
	if strings.HasPrefix(strings.TrimLeft(source[s.start:], "\r\n"), "'") {
		s.quote = "'"
	}
	best := -1.
	for _, comma := range []byte(commas) {
		try := *s
		try.comma = comma
		if score, titles := try.score(); score > best {
			best, *s = score, try
			s.titles = titles
		}
	}
	return s
}

// score rates the separator by the first records: the share of records with the most frequent number of values,
// times the share of values without another separator ("April 15, 2023;4028;25.00" cut at commas has some). It
// also returns the number of records above the table.
func (s *sheet) score() (score float64, titled int) {
	var titles, widths []int // number of nonempty values, -1 if an empty one precedes them; number of values
	gap := 0                 // index of the first record after a blank line
	count, width, values, clean := make(map[int]int), 0, 0, 0
	for cells, at := range s.records() {
		filled, last := 0, 0
		if gap == 0 && s.apart(at[0]) {
			gap = len(titles)
		}
		for i, c := range cells {
			if values++; !s.divided(c) {
				clean++
			}
			if strings.TrimSpace(c) != "" {
				filled, last = filled+1, i+1
			}
		}
		if filled < last {
			filled = -1
		}
		titles, widths = append(titles, filled), append(widths, len(cells))
		if n := len(cells); n > 1 {
			if count[n]++; count[n] > count[width] || count[n] == count[width] && n > width {
				width = n
			}
		}
		if len(titles) == sampled {
			break
		}
	}
	for titled < len(titles) && titles[titled] >= 0 && (titles[titled] < 2 || 2*titles[titled] < width) {
		titled++
	}
	if gap > titled && widths[gap] == width && slices.Max(widths[:gap]) < width {
		titled = gap
	}
	if width == 0 || titled == len(titles) {
		titled = 0
	}
	return float64(count[width]*clean) / float64(max(len(titles)*values, 1)), titled
}

// apart reports whether there is a blank line before the record at an offset.
func (s *sheet) apart(at int) bool {
	before := s.source[max(0, at-4):at]
	return strings.Count(before[len(strings.TrimRight(before, "\r\n")):], "\n") > 1
}

// divided reports whether a value contains another separator, except before a blank, as in prose, or in a
// number.
func (s *sheet) divided(value string) bool {
	for i := range len(value) - 1 {
		if c := value[i]; c != s.comma && strings.IndexByte(separators, c) >= 0 && value[i+1] != ' ' &&
			!(c == ',' && i > 0 && isDigit(value[i-1]) && isDigit(value[i+1])) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// records yields the records that are not blank, and the offsets of their values.
func (s *sheet) records() iter.Seq2[[]string, []int] {
	return func(yield func([]string, []int) bool) {
		var cells []string
		var at []int
		for i := s.start; i < len(s.source); {
			for i < len(s.source) && (s.source[i] == '\n' || s.source[i] == '\r') {
				i++
			}
			if i == len(s.source) {
				return
			}
			cells, at = cells[:0], at[:0]
			for more := true; more; {
				var value string
				at = append(at, i)
				value, i = s.value(i)
				cells = append(cells, value)
				if more = i < len(s.source) && s.source[i] == s.comma; more {
					i++
				}
			}
			if s.end = i; !yield(cells, at) {
				return
			}
		}
	}
}

// value returns the value that begins at an offset, and the offset of the separator or the line end after it.
func (s *sheet) value(i int) (string, int) {
	first := i
	for i < len(s.source) && s.source[i] == ' ' && i-first < mostBlanks {
		i++
	}
	if i < s.open && i < len(s.source) && s.source[i] == s.quote[0] {
		if end, ok := s.closing(i + 1); ok {
			inner := strings.ReplaceAll(s.source[i+1:end], s.quote+s.quote, s.quote)
			if s.slash {
				inner = strings.ReplaceAll(inner, `\`+s.quote, s.quote)
			}
			return inner, s.after(end + 1)
		}
	}
	end := s.after(first)
	return strings.TrimSuffix(s.source[first:end], "\r"), end
}

// after returns the end of the unquoted value that begins at an offset.
func (s *sheet) after(i int) int {
	for i < len(s.source) && s.source[i] != s.comma && s.source[i] != '\n' {
		i++
	}
	return i
}

// mostBlanks is the largest number of blanks allowed around quotes.
const mostBlanks = 8

// closing returns the offset of the quote that closes a value, which a separator or the end of a line follows.
// Other quotes are part of the value. If a separator and a quote come first, as at the beginning of the next
// value, the quote at the beginning of this one is text.
func (s *sheet) closing(i int) (int, bool) {
	from := i
	for ; i < len(s.source); i++ {
		if s.source[i] != s.quote[0] || s.slash && i > from && s.source[i-1] == '\\' {
			continue
		}
		next := strings.TrimLeft(s.source[i+1:min(len(s.source), i+mostBlanks)], " ")
		before := strings.TrimRight(s.source[max(from, i-mostBlanks):i], " ")
		switch {
		case next == "" || next[0] == s.comma || next[0] == '\n' || next[0] == '\r':
			return i, true
		case s.source[i+1] == s.quote[0]:
			i++
		case before != "" && (before[len(before)-1] == s.comma || before[len(before)-1] == '\n'):
			return 0, false
		}
	}
	s.open = min(s.open, from)
	return 0, false
}

// tooWide reports whether a record has too many cells to be parsed.
func (s *sheet) tooWide() bool {
	for _, line := range eachLine(s.source) {
		if strings.Count(line, string(s.comma)) > maxCells {
			return true
		}
	}
	return false
}

// tableFile reads comma- or tab-separated values as a table. Its first row is the header unless it
// contains a number other than years; records above it, such as a title, are paragraphs.
func tableFile(name, source string) *File {
	s := newSheet(name, source)
	if s.tooWide() {
		return Markdown(name, source)
	}
	w, titles := &writer{}, s.titles
	var g *grid
	rows := false
	for cells, at := range s.records() {
		switch {
		case titles > 0:
			titles--
			w.add(escapeLine(strings.Join(cells, " ")), at[0])
			w.blank()
			continue
		case g == nil:
			g = &grid{w: w, labels: maxLabels * len(source)}
			if s.headed(cells) {
				g.header, g.at = slices.Clone(cells), slices.Clone(at)
				continue
			}
		case len(cells) != len(g.header) && s.apart(at[0]) && !slices.ContainsFunc(cells, isNumber): // another table
			g.header, g.at, g.rows, rows = slices.Clone(cells), slices.Clone(at), 0, false
			continue
		}
		rows = true
		g.row(cells, at)
	}
	if g != nil && !rows { // a header alone is a row
		g.row(g.header, g.at)
	}
	return w.file(name, source)
}

// headed reports whether a row is a header: it has no numbers, or years above other numbers.
func (s *sheet) headed(cells []string) bool {
	numbers := 0
	for _, c := range cells {
		if isNumber(c) {
			if numbers++; !isYear(c) {
				return false
			}
		}
	}
	if numbers == 0 {
		return true
	}
	n := 0
	for below := range s.records() {
		if n++; n == s.titles+2 {
			return Line{Cells: below}.HasNumbers()
		}
	}
	return false
}

// isNumber reports whether a cell is a number, with a comma or a point.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(strings.ReplaceAll(s, ",", ".")), 64)
	return err == nil
}

// isYear reports whether a number can be the name of a column.
func isYear(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }

// columnNames returns names for a number of columns. Empty and repeated names get the number of their column.
func columnNames(header []string, width int) []string {
	out, seen := make([]string, max(width, len(header))), map[string]bool{}
	for i := range out {
		if i < len(header) {
			out[i] = strings.TrimSpace(header[i])
		}
		for out[i] == "" || seen[out[i]] {
			out[i] = strings.TrimSpace(cmp.Or(out[i], "column") + " " + strconv.Itoa(i+1))
		}
		seen[out[i]] = true
	}
	return out
}
