// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strings"
	"unicode"

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
