// SPDX-License-Identifier: Apache-2.0

package load

import "strings"

// Bounds of what Lead looks at and returns, in bytes.
const (
	maxBack = 1 << 16
	maxLine = 400
)

// Lead returns what a piece of a Markdown text that begins at an offset needs to be
// understood and does not hold: the headings it stands under, and, if it begins
// inside of a table, its header, inside of a list, the line before the list, inside of
// code in the first 64 KB, the mark that the code begins with. What Blocks makes of the
// lead and the piece, one after the other, is what it would make of the piece in its
// place. A table's row that is cut begins in the lead.
//
// It looks back 64 KB at the most and returns a few lines.
func Lead(s string, at int) string {
	if at <= 0 || at >= len(s) {
		return ""
	}
	floor := max(0, at-maxBack)
	line := strings.LastIndexByte(s[:at], '\n') + 1 // begin of the line that is cut
	var out strings.Builder
	out.WriteString(headings(s, floor, line))
	open := ""
	if floor == 0 {
		open = openFence(s[:line])
	}
	switch first := firstLine(s, line); {
	case open != "":
		out.WriteString(open)
	case isRow(first):
		header, ok := tableHeader(s, floor, line)
		if !ok {
			break
		}
		out.WriteString(header)
		if line < at && at-line <= maxLine {
			out.WriteString(s[line:at])
		}
	case line == at && isItem(first):
		out.WriteString(leadIn(s, floor, line))
	}
	return out.String()
}

// openFence is the mark of the code that is open at the end of a text, "" outside of code.
func openFence(s string) (open string) {
	for _, line := range lines(s) {
		t := strings.TrimSpace(line)
		switch mark := strings.TrimLeft(t, "`"); {
		case !strings.HasPrefix(t, "```") && !strings.HasPrefix(t, "~~~"):
		case open == "" && !strings.Contains(mark, "`"):
			open = t[:len(t)-len(strings.TrimLeft(t, t[:1]))] + "\n"
		case open != "" && strings.HasPrefix(t, strings.TrimSpace(open)) && strings.Trim(t, t[:1]) == "":
			open = ""
		}
	}
	return open
}

func firstLine(s string, at int) string { return s[at:lineEnd(s, at)] }

// above returns the line above the one that begins at start; false at the floor.
func above(s string, floor, start int) (begin int, line string, ok bool) {
	if start <= floor {
		return 0, "", false
	}
	begin = strings.LastIndexByte(s[:start-1], '\n') + 1
	if begin < floor {
		return 0, "", false
	}
	return begin, s[begin:start], true
}

// headings are those above a line, outermost first, each of a lower level than the
// next.
func headings(s string, floor, start int) string {
	out, level := "", 7
	for {
		begin, line, ok := above(s, floor, start)
		if !ok || level == 1 {
			return out
		}
		if l := headingLevel(line); l > 0 && l < level && len(line) <= maxLine {
			out, level = strings.TrimRight(line, "\r\n")+"\n\n"+out, l
		}
		start = begin
	}
}

// headingLevel is that of a line "## Heading", 0 of another.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || n >= len(line) || line[n] != ' ' {
		return 0
	}
	return n
}

// isRow tells whether a line can be a row of a table.
func isRow(line string) bool { return strings.Count(line, "|") > 1 || strings.Contains(line, " | ") }

// isDelimiter tells whether a line is what stands below the header of a table.
func isDelimiter(line string) bool {
	line = strings.TrimSpace(line)
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|:- \t") == ""
}

// tableHeader is the header and the delimiter of the table that a line stands in.
func tableHeader(s string, floor, start int) (string, bool) {
	for {
		begin, line, ok := above(s, floor, start)
		if !ok || strings.TrimSpace(line) == "" {
			return "", false
		}
		if isDelimiter(line) {
			top, header, ok := above(s, floor, begin)
			if !ok || len(header)+len(line) > 2*maxLine {
				return "", false
			}
			return s[top:start], true
		}
		start = begin
	}
}

// isItem tells whether a line is an item of a list, or goes on with one.
func isItem(line string) bool {
	t := strings.TrimLeft(line, " \t")
	if t == "" {
		return false
	}
	if strings.IndexByte("-*+", t[0]) >= 0 {
		return len(t) > 1 && t[1] == ' '
	}
	i := 0
	for i < len(t) && i < 9 && '0' <= t[i] && t[i] <= '9' {
		i++
	}
	return i > 0 && i+1 < len(t) && (t[i] == '.' || t[i] == ')') && t[i+1] == ' '
}

// leadIn is the line before the list that a line stands in, if it leads into it: if
// it ends with a colon, or is an item around it.
func leadIn(s string, floor, start int) string {
	indent := indentOf(firstLine(s, start))
	for {
		begin, line, ok := above(s, floor, start)
		if !ok || headingLevel(line) > 0 {
			return ""
		}
		switch t := strings.TrimSpace(line); {
		case t == "" || len(t) > maxLine:
		case isItem(line) && indentOf(line) < indent:
			return line
		case isItem(line) || indentOf(line) > 0:
		case strings.HasSuffix(t, ":") || strings.HasSuffix(t, "\uff1a"):
			return t + "\n\n"
		default:
			return ""
		}
		start = begin
	}
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
