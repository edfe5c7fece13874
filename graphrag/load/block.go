// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"encoding/gob"
	"errors"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Kind is what a [Block] is.
type Kind uint8

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading
	Item       // of a list
	Header     // of a table: the names of its columns
	Row        // of a table
	Term       // of a definition list
	Definition // of the term before it
	Code       // as it stands, line by line
	Meta       // one line of front matter: a key, a colon, a value
)

// Block is a piece of a document with its place in the structure.
type Block struct {
	Kind Kind
	// Level of a heading, 1 to 6; of an item, how deep it stands, from 1.
	Level int
	// Text is what the block says, without the marks of the structure. Marks inside
	// a line, of emphasis and links, stay: see [Plain].
	Text string
	// Cells are the columns of a header or a row, as pieces of Text.
	Cells []text.Span
	// Under is the number of the heading that the block stands under, Lead of the
	// block that it goes on from: the header of a row, the term of a definition, the
	// paragraph before a list or a code, the item around a nested one. -1 is none.
	Under, Lead int
	// Start and End delimit the block in what was read.
	Start, End int

	pieces []piece
}

// piece says that from clean on, the text of a block stands at source.
type piece struct{ clean, source int }

// Span is where a piece of Text stands in what was read.
func (b Block) Span(p text.Span) text.Span {
	if p.Start >= p.End {
		at := b.at(p.Start)
		return text.Span{Start: at, End: at}
	}
	return text.Span{Start: b.at(p.Start), End: b.at(p.End-1) + 1}
}

func (b Block) at(offset int) int {
	i := len(b.pieces) - 1
	for i > 0 && b.pieces[i].clean > offset {
		i--
	}
	if i < 0 {
		return b.Start + offset
	}
	return b.pieces[i].source + offset - b.pieces[i].clean
}

// Cell is the text of a column, "" of one that a row lacks.
func (b Block) Cell(column int) string {
	if column < 0 || column >= len(b.Cells) {
		return ""
	}
	return Plain(b.Cells[column].In(b.Text))
}

// Plain returns a piece of text as it is shown: on one line, without links, images,
// escapes and marks of emphasis and code.
func Plain(s string) string {
	if strings.ContainsAny(s, "[<:wW") {
		s, _ = text.StripLinks(s)
	}
	if strings.ContainsAny(s, "*`\\~<_") {
		s = unmarked(s)
	}
	if onOneLine(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// onOneLine tells whether all white space of s is single blanks inside of it.
func onOneLine(s string) bool {
	last := ' '
	for _, r := range s {
		if r == ' ' && last == ' ' || r != ' ' && unicode.IsSpace(r) {
			return false
		}
		last = r
	}
	return last != ' ' || s == ""
}

// unmarked leaves out ** and __ and ~~, backticks, single * and _ at the edges of
// words, backslashes before punctuation, and the tags <br>, <b>, <i>, <p> and such.
func unmarked(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!|<>~\"'&:,;?=/@$%^", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '`':
		case (c == '*' || c == '_' || c == '~') && i+1 < len(s) && s[i+1] == c:
			i++
		case (c == '*' || c == '_') && (atEdge(s, i-1) != atEdge(s, i+1)):
		case c == '<' && tagLength(s[i:]) > 0:
			i += tagLength(s[i:]) - 1
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// atEdge tells whether s[i] is outside of a word: white space, punctuation, or the
// end of the text.
func atEdge(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return true
	}
	c := s[i]
	return c <= ' ' || c < 0x80 && !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
}

// maxTag bounds, in bytes, how long a tag inside a line can be.
const maxTag = 64

// tagLength is the length of the HTML tag that s begins with, 0 if it begins with
// none. "a < b" and "<https://…>" are no tags.
func tagLength(s string) int {
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	first := i
	for i < len(s) && ('a' <= s[i]|0x20 && s[i]|0x20 <= 'z' || i > first && '0' <= s[i] && s[i] <= '9') {
		i++
	}
	if i == first || i >= len(s) || s[i] != '>' && s[i] != ' ' && s[i] != '/' {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), maxTag)], '>')
	if end < 0 || strings.IndexByte(s[1:end], '<') >= 0 {
		return 0
	}
	return end + 1
}

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

// lineEnd returns the offset after the line feed that ends the line at start.
func lineEnd(s string, start int) int {
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(s)
}

// lines yields the lines of a text with their offsets.
func lines(s string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(s); {
			end := lineEnd(s, at)
			if !yield(at, s[at:end]) {
				return
			}
			at = end
		}
	}
}

// lineStarts are the offsets at which the lines of a text begin.
func lineStarts(s string) []int {
	starts := []int{0}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Bounds of what is taken apart at all: lines of a text, columns of a row, and values of
// JSON. A file beyond them is read as text.
const (
	maxLines  = 1 << 20
	maxCells  = 1 << 16
	maxValues = 1 << 20
)

// manyLines tells whether a text has too many lines to be taken apart.
func manyLines(s string) bool { return strings.Count(s, "\n") > maxLines }

// kept is a File as it is written.
type kept struct {
	Document   graphrag.Document
	Text, File []int
	Lines      []int
	Size       int
	Unit       string
}

// MarshalBinary writes the file, so that it need not be parsed again.
func (f *File) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(kept{f.Document, f.anchors.text, f.anchors.file, f.lines, f.size, f.unit})
	return b.Bytes(), err
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (f *File) UnmarshalBinary(data []byte) error {
	var k kept
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&k); err != nil {
		return err
	}
	if len(k.Text) != len(k.File) {
		return errors.New("load: a kept file is damaged")
	}
	*f = File{Document: k.Document, anchors: anchors{k.Text, k.File}, lines: k.Lines, size: k.Size, unit: k.Unit}
	return nil
}
