// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Kind is the kind of a [Block].
type Kind uint8

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading
	Item       // an item of a list
	Header     // the header of a table: the names of its columns
	Row        // a row of a table
	Term       // a term of a definition list
	Definition // a definition of the term before it
	Code       // code, verbatim
	Meta       // one line of front matter: a key, a colon, a value
)

// Block is a part of a document with its place in the structure.
type Block struct {
	Kind Kind
	// Level of a heading, 1 to 6; nesting depth of an item, from 1.
	Level int
	// Text is the text of the block without the marks of its kind. Inline markup stays: see [Plain].
	Text string
	// Cells are the cells of a header or a row, as spans of Text.
	Cells []text.Span
	// Under is the index of the heading above the block. Lead is the index of the block on which it depends:
	// the header of a row, the term of a definition, the paragraph before a list or code, the item that
	// contains a nested item. -1 is none.
	Under, Lead int
	// Start and End delimit the block in the source.
	Start, End int

	source text.Mapping // maps Text to the source, relative to Start
}

// Span maps a span of Text to the source.
func (b Block) Span(p text.Span) text.Span {
	p = b.source.Span(p)
	return text.Span{Start: b.Start + p.Start, End: b.Start + p.End}
}

// Cell returns the text of a column, "" if the row lacks it.
func (b Block) Cell(column int) string {
	if column < 0 || column >= len(b.Cells) {
		return ""
	}
	return Plain(b.Cells[column].In(b.Text))
}

// Plain returns a text as it is displayed: on one line, without links, images, escapes, struck text, and the
// marks of emphasis and code. The text of code is not changed.
func Plain(s string) string {
	var code []string
	if strings.Contains(s, "`") {
		s, code = outOfCode(strings.ReplaceAll(s, "\x00", ""))
	}
	if strings.ContainsAny(s, "[<:wW") {
		s, _ = text.StripLinks(s)
	}
	if strings.ContainsAny(s, "*`\\~<_\x00") {
		s = unmarked(s, code)
	}
	return oneLine(s)
}

// maxSpan limits the length of code and struck text in a line, in bytes.
const maxSpan = 1 << 10

// outOfCode replaces each code span of a text by its number between two NULs, and returns the spans.
func outOfCode(s string) (string, []string) {
	var b strings.Builder
	var code []string
	for i, n := 0, 0; i < len(s); i += n {
		switch n = 1; {
		case s[i] == '\\' && i+1 < len(s):
			n = 2
		case s[i] == '`':
			n = len(s) - i - len(strings.TrimLeft(s[i:], "`"))
			if inner := upTo(s[i+n:], s[i:i+n]); inner >= 0 {
				fmt.Fprintf(&b, "\x00%d\x00", len(code))
				code = append(code, s[i+n:i+n+inner])
				n += inner + n
				continue
			}
		}
		b.WriteString(s[i : i+n])
	}
	return b.String(), code
}

// upTo returns the offset of the next run of the mark that is not longer than mark itself; -1 without one.
func upTo(s, mark string) int {
	s = s[:min(len(s), maxSpan)]
	for at := 0; ; {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return -1
		}
		at += i
		if rest := strings.TrimLeft(s[at:], mark[:1]); len(rest) == len(s)-at-len(mark) {
			return at
		} else {
			at = len(s) - len(rest)
		}
	}
}

// unmarked removes ** and __, backticks, struck text, single * and _ at the edges of words, backslashes before
// punctuation, and tags such as <br>, <b>, <i> and <p>. It inserts the code spans that outOfCode has replaced.
func unmarked(s string, code []string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && escapes(s, i):
			i++
			b.WriteByte(s[i])
		case c == 0 && code != nil:
			n := strings.IndexByte(s[i+1:], 0)
			k, _ := strconv.Atoi(s[i+1 : i+1+max(n, 0)])
			b.WriteString(code[min(k, len(code)-1)])
			i += 1 + n
		case c == '`':
		case isMark(s, i) && i+1 < len(s) && s[i+1] == c:
			i++
			if n := struck(s[i-1:], 2); c == '~' && n > 0 {
				i += n + 2
			}
		case isMark(s, i):
		case c == '<' && tagLength(s[i:]) > 0:
			i += tagLength(s[i:]) - 1
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escapes reports whether the backslash s[i] escapes the character after it.
func escapes(s string, i int) bool {
	return i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!|<>~\"'&:,;?=/@$%^", s[i+1]) >= 0
}

// isMark reports whether s[i] marks emphasis or struck text: it is doubled, or * or _ at one edge of a word.
func isMark(s string, i int) bool {
	c := s[i]
	if c != '*' && c != '_' && c != '~' {
		return false
	}
	return i+1 < len(s) && s[i+1] == c || c != '~' && atEdge(s, i-1) != atEdge(s, i+1)
}

// escapeLine returns a text as one line of Markdown that [Plain] shows as the text and [Blocks] reads as a
// paragraph: with backslashes before characters that would be markup. Web addresses are not changed.
func escapeLine(s string) string {
	s = oneLine(s)
	out := Inline(s)
	if at := blockMark(s); at >= 0 && out[at] != '\\' {
		out = out[:at] + `\` + out[at:]
	}
	return out
}

// Inline is [escapeLine] for a text that does not begin its line.
func Inline(s string) string {
	if !strings.ContainsAny(s, "\\`*_~<(") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' && (i+1 == len(s) || escapes(s, i)), c == '`', c == '(' && i > 0 && s[i-1] == ']',
			isMark(s, i), i > 0 && s[i-1] == c && isMark(s, i-1), c == '<' && tagName(s[i:]) > 0:
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// blockMark returns the offset of the character to escape if the text would begin a block other than a
// paragraph; -1 if it would not.
func blockMark(s string) int {
	word, _, _ := strings.Cut(s, " ")
	n := len(word) - len(strings.TrimLeft(word, "0123456789"))
	switch {
	case word == "":
	case n > 0 && (word[n:] == "." || word[n:] == ")"):
		return n
	case word[0] == '>', word[0] == '|', word == ":", strings.HasPrefix(word, "```"), strings.HasPrefix(word, "~~~"),
		strings.IndexByte("#-+*=_", word[0]) >= 0 && strings.Trim(word, word[:1]) == "":
		return 0
	}
	return -1
}

// atEdge reports whether s[i] is outside of a word: white space, punctuation, or the end of the text.
func atEdge(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return true
	}
	c := s[i]
	return c <= ' ' || c < 0x80 && !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
}

// maxTag limits the length of an inline tag, in bytes.
const maxTag = 64

// tagLength returns the length of the HTML tag that begins s, or 0: "a < b", "<T>" and "<https://…>" are no
// tags.
func tagLength(s string) int {
	n := tagName(s)
	end := strings.IndexByte(s[:min(len(s), maxTag)], '>')
	if n == 0 || end < n || strings.IndexByte(s[1:end], '<') >= 0 {
		return 0
	}
	return end + 1
}

// tagNames are the names of HTML's elements.
const tagNames = " a abbr address area article aside audio b base bdi bdo big blockquote body br button canvas caption center cite code col " +
	"colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form frame h1 h2 h3 h4 h5 h6 head " +
	"header hr html i iframe img input ins kbd label legend li link main map mark math menu meta meter nav nobr noscript object ol optgroup option " +
	"output p param picture pre progress q rp rt ruby s samp script section select slot small source span strike strong style sub summary sup svg " +
	"table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr "

// tagName returns the length of the beginning of an HTML tag in s: "<" or "</" and the name of an element, in
// lower case or in two or more capitals; 0 if s begins with no tag.
func tagName(s string) int {
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	first := i
	for i < len(s) && i < maxTag && !atEdge(s, i) && s[i] < 0x80 {
		i++
	}
	name := s[first:i]
	if i < len(s) && s[i] != '>' && s[i] != ' ' && s[i] != '/' || name == "" || len(name) == 1 && name < "a" ||
		!strings.Contains(tagNames, " "+strings.ToLower(name)+" ") {
		return 0
	}
	return i
}

// Limits, in bytes, of the text that Lead examines and of a line that it returns.
const (
	maxBack = 1 << 16
	maxLine = 400
)

// Lead returns the context that a piece of a Markdown text, beginning at an offset, lacks: its
// headings, and, if it begins inside a table, the header; inside a list, the line before the list;
// inside code in the first 64 KB, the opening fence. The blocks of the lead with the piece equal
// the blocks of the piece in its place. If a row of a table is cut, its beginning is in the lead.
//
// It examines at most 64 KB before the offset and returns a few lines.
func Lead(s string, at int) string {
	if at <= 0 || at >= len(s) {
		return ""
	}
	floor := max(0, at-maxBack)
	if floor > 0 {
		if floor = lineEnd(s[:at], floor); s[floor-1] != '\n' { // the offset lies in a line of more than 64 KB
			return ""
		}
	}
	line := floor + strings.LastIndexByte(s[floor:at], '\n') + 1
	above, begun := s[floor:line], s[line:at]
	var out strings.Builder
	out.WriteString(headings(above))
	open := ""
	if floor == 0 {
		open = openFence(above)
	}
	rest := s[line:min(len(s), line+maxBack)]
	switch first := rest[:lineEnd(rest, 0)]; {
	case open != "":
		out.WriteString(open)
	case isRow(first):
		header := tableHeader(above)
		out.WriteString(header)
		if header != "" && len(begun) <= maxLine {
			out.WriteString(begun)
		}
	case begun == "" && isItem(first):
		out.WriteString(leadIn(above, indentOf(first)))
	}
	return out.String()
}

// openFence returns the fence of the code block that is not closed at the end of a text, or "".
func openFence(s string) (open string) {
	for _, line := range eachLine(s) {
		open = fenceAfter(open, line)
	}
	return open
}

// fenceAfter returns the fence of the code block that is open after a line, given the one open before it.
func fenceAfter(open, line string) string {
	t := strings.TrimSpace(line)
	switch mark := strings.TrimLeft(t, "`"); {
	case !strings.HasPrefix(t, "```") && !strings.HasPrefix(t, "~~~"):
	case open == "" && !strings.Contains(mark, "`"):
		return t[:len(t)-len(strings.TrimLeft(t, t[:1]))] + "\n"
	case open != "" && strings.HasPrefix(t, strings.TrimSpace(open)) && strings.Trim(t, t[:1]) == "":
		return ""
	}
	return open
}

// cuts are the marks around struck text and around comments, which are hidden where Markdown is displayed.
var cuts = [][2]string{{"<del>", "</del>"}, {"<s>", "</s>"}, {"<strike>", "</strike>"}, {"<!--", "-->"}}

// unstruck returns a text without struck text and parts between marks, and its mapping to s. Code is not
// changed.
func unstruck(s string, marks [][2]string) (string, text.Mapping) {
	if !strings.Contains(s, "~~") && !slices.ContainsFunc(marks, func(c [2]string) bool { return strings.Contains(s, c[0]) }) {
		return s, nil
	}
	w, open, from := writer{}, "", 0
	for i, n := 0, 0; i < len(s); i += n {
		rest := s[i:]
		if i == 0 || s[i-1] == '\n' {
			line := rest[:lineEnd(rest, 0)]
			before := open
			if open = fenceAfter(open, line); open+before != "" {
				n = len(line)
				continue
			}
		}
		switch n = 1; rest[0] {
		case '\\':
			n = min(2, len(rest))
		case '`':
			n = len(rest) - len(strings.TrimLeft(rest, "`"))
			if inner := upTo(rest[n:], rest[:n]); inner >= 0 {
				n += inner + n
			}
		case '~':
			n = len(rest) - len(strings.TrimLeft(rest, "~"))
			if inner := struck(rest, n); inner > 0 {
				w.add(s[from:i], from)
				n += inner + n
				from = i + n
			}
		case '<':
			for _, c := range marks {
				if !strings.HasPrefix(rest, c[0]) {
					continue
				}
				if end := strings.Index(rest[:min(len(rest), 4*maxSpan)], c[1]); end > 0 {
					w.add(s[from:i], from)
					n = end + len(c[1])
					from = i + n
				}
			}
		}
	}
	w.add(s[from:], from)
	return w.out.String(), w.mapping
}

// struck returns the length of the struck text after the n tildes at the beginning of s, 0 if nothing is struck.
func struck(s string, n int) int {
	inner := upTo(s[n:], "~~")
	if n != 2 || inner <= 0 || s[n] <= ' ' || s[n+inner-1] <= ' ' && s[n+inner-1] != 0 || strings.Contains(s[n:n+inner], "\n\n") {
		return 0
	}
	return inner
}

// linesAbove yields the lines of a text from the last to the first.
func linesAbove(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			begin := strings.LastIndexByte(s[:len(s)-1], '\n') + 1
			if !yield(s[begin:]) {
				return
			}
			s = s[:begin]
		}
	}
}

// headings returns the headings in the lines above, outermost first, with increasing levels.
func headings(above string) (out string) {
	level := 7
	for line := range linesAbove(above) {
		if l := headingLevel(line); l > 0 && l < level && len(line) <= maxLine {
			out, level = strings.TrimRight(line, "\r\n")+"\n\n"+out, l
		}
		if level == 1 {
			break
		}
	}
	return out
}

// headingLevel returns the level of a line "## Heading", 0 for other lines.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || n >= len(line) || line[n] != ' ' {
		return 0
	}
	return n
}

// isRow reports whether a line can be a row of a table.
func isRow(line string) bool { return strings.Count(line, "|") > 1 || strings.Contains(line, " | ") }

// isDelimiter reports whether a line is the delimiter row of a table.
func isDelimiter(line string) bool {
	line = strings.TrimSpace(line)
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.TrimLeft(line, "|:- \t") == ""
}

// tableHeader returns the header and the delimiter row of the table below the lines above, "" if there is none.
func tableHeader(above string) string {
	delimiter := ""
	for line := range linesAbove(above) {
		switch {
		case delimiter != "" && len(line)+len(delimiter) <= 2*maxLine:
			return line + delimiter
		case delimiter != "" || strings.TrimSpace(line) == "":
			return ""
		case isDelimiter(line):
			delimiter = line
		}
	}
	return ""
}

// isItem reports whether a line is an item of a list.
func isItem(line string) bool {
	mark, _, more := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	number := strings.TrimRight(mark, ".)")
	return more && (mark == "-" || mark == "*" || mark == "+" ||
		number != "" && len(mark) == len(number)+1 && len(number) <= 9 && strings.Trim(number, "0123456789") == "")
}

// leadIn returns the line before a list if it introduces it: it ends with a colon, or is the item around a nested list.
func leadIn(above string, indent int) string {
	for line := range linesAbove(above) {
		switch t := strings.TrimSpace(line); {
		case headingLevel(line) > 0:
			return ""
		case t == "" || len(t) > maxLine:
		case isItem(line) && indentOf(line) < indent:
			return line
		case isItem(line) || indentOf(line) > 0:
		case strings.HasSuffix(t, ":") || strings.HasSuffix(t, "\uff1a"):
			return t + "\n\n"
		default:
			return ""
		}
	}
	return ""
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// lineEnd returns the offset after the line feed that ends the line at start.
func lineEnd(s string, start int) int {
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(s)
}

// eachLine yields the lines of a text with their offsets.
func eachLine(s string) iter.Seq2[int, string] {
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

// Limits of parsing: lines of a text, cells of a row, values of JSON. A file beyond a limit is read as text.
const (
	maxLines  = 1 << 20
	maxCells  = 1 << 16
	maxValues = 1 << 20
)

// keptText is the serialized form of a File.
type keptText struct {
	Document graphrag.Document // without Fields
	Fields   []byte            // in JSON, which distinguishes times from texts
	In       layout
}

// MarshalBinary serializes the file, so that it need not be parsed again.
func (f *File) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	fields, err := json.Marshal(f.Document.Fields)
	if err != nil {
		return nil, err
	}
	plain := f.Document
	plain.Fields = nil
	err = gob.NewEncoder(&b).Encode(keptText{plain, fields, f.in})
	return b.Bytes(), err
}

// UnmarshalBinary is the inverse of MarshalBinary.
func (f *File) UnmarshalBinary(data []byte) error {
	var k keptText
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&k); err != nil {
		return err
	}
	*f = File{Document: k.Document, in: k.In}
	return json.Unmarshal(k.Fields, &f.Document.Fields)
}
