// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// HTML reads a page and converts it to Markdown: headings, lists, tables with headers, definition
// lists and code, in page order, with white space collapsed. Invisible elements (scripts, styles,
// hidden elements) are left out, and also navigation, footers and forms unless there is no other
// text. Tables that contain headings, lists or tables are treated as layout.
func HTML(name, page string) *File {
	tokens := tokenize(page)
	f := &File{}
	for _, all := range []bool{false, true} {
		p := &pageText{source: page, tokens: tokens, all: all}
		p.run()
		f.Document.Text, f.anchors = strings.TrimRight(p.out.String(), "\n"), p.anchors
		if f.Document.Text != "" {
			f.Document.Text += "\n"
			f.Document.Title = strings.Join(strings.Fields(p.title), " ")
			break
		}
	}
	f.Document.Fields = metaFields(page)
	f.finish(name, page)
	return f
}

// pageText writes the text of a page as Markdown.
type pageText struct {
	source  string
	tokens  []token
	at      int  // index of the current token
	all     bool // furniture as well
	out     strings.Builder
	anchors anchors
	title   string

	blank   bool   // a blank is needed before the next word
	prefix  string // markup before the next word
	lists   []int  // open ones: 0 is a plain list, else the number of the next item
	pre     bool
	inTitle bool
	table   *openTable
}

// openTable is the current table.
type openTable struct {
	rows   int
	cells  int  // of the row, so far
	span   int  // further columns of the open cell
	bare   bool // the first row is no header, and an empty one was written
	inCell bool
	inHead bool
}

func (p *pageText) run() {
	hide, depth := atom.Atom(0), 0 // the element whose content is skipped
	for i, t := range p.tokens {
		p.at = i
		if hide != 0 {
			if t.tag == hide && t.kind == html.StartTagToken {
				depth++
			} else if t.tag == hide && t.kind == html.EndTagToken {
				if depth--; depth == 0 {
					hide = 0
				}
			}
			continue
		}
		switch t.kind {
		case html.TextToken:
			p.text(t)
		case html.StartTagToken, html.SelfClosingTagToken:
			if t.kind == html.StartTagToken && !isVoid(t.tag) && (isHidden(t.tag) || !p.all && (t.hidden || isFurniture(t.tag))) {
				hide, depth = t.tag, 1
				p.blank = true
				continue
			}
			p.open(t)
		case html.EndTagToken:
			p.close(t.tag)
		}
	}
	p.endRow()
}

// open begins an element.
func (p *pageText) open(t token) {
	switch t.tag {
	case atom.Title:
		p.inTitle = p.title == ""
		return
	case atom.Table:
		p.endBlock()
		if p.table == nil && !t.layout {
			p.table = &openTable{}
		}
		return
	case atom.Tr:
		p.endRow()
		return
	case atom.Thead:
		if p.table != nil {
			p.table.inHead = true
		}
		return
	case atom.Tbody:
		p.endRow()
		return
	case atom.Td, atom.Th:
		if p.table != nil {
			p.cell(t)
		} else {
			p.endBlock()
		}
		return
	}
	if p.table != nil && p.table.inCell { // a cell is one line
		p.blank = p.blank || isBlock(t.tag)
		return
	}
	switch t.tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.endBlock()
		p.prefix = strings.Repeat("#", int(t.tag.String()[1]-'0')) + " "
	case atom.Ul:
		p.list(0)
	case atom.Ol:
		p.list(1)
	case atom.Li:
		p.endLine()
		p.prefix = p.item()
	case atom.Dt:
		p.endBlock()
	case atom.Dd:
		p.endLine()
		p.prefix = ": "
	case atom.Pre:
		p.endBlock()
		p.out.WriteString("```\n")
		p.pre = true
	default:
		if isBlock(t.tag) {
			p.endBlock()
		}
	}
}

func (p *pageText) list(first int) {
	if len(p.lists) == 0 {
		p.endBlock()
	} else {
		p.endLine()
	}
	if len(p.lists) < maxDepth/4 {
		p.lists = append(p.lists, first)
	}
}

// item returns the mark of an item of the innermost list.
func (p *pageText) item() string {
	n := len(p.lists)
	if n == 0 {
		return "- "
	}
	indent := strings.Repeat("    ", n-1)
	if p.lists[n-1] == 0 {
		return indent + "- "
	}
	p.lists[n-1]++
	return indent + strconv.Itoa(min(p.lists[n-1]-1, 999_999)) + ". "
}

// close ends an element.
func (p *pageText) close(tag atom.Atom) {
	switch tag {
	case atom.Title:
		p.inTitle = false
	case atom.Table:
		p.endRow()
		p.table = nil
		p.endBlock()
	case atom.Tr:
		p.endRow()
	case atom.Td, atom.Th:
		if p.table != nil {
			p.table.inCell = false
		}
	case atom.Thead:
		p.endRow()
		if p.table != nil {
			p.table.inHead = false
		}
	case atom.Ul, atom.Ol:
		if n := len(p.lists); n > 0 {
			p.lists = p.lists[:n-1]
		}
		if len(p.lists) == 0 {
			p.endBlock()
		} else {
			p.endLine()
		}
	case atom.Pre:
		if p.pre {
			p.pre = false
			p.endLine()
			p.out.WriteString("```\n")
			p.endBlock()
		}
	case atom.Li, atom.Dt, atom.Dd:
		if p.table == nil || !p.table.inCell {
			p.endLine()
		}
	default:
		if isBlock(tag) && (p.table == nil || !p.table.inCell) {
			p.endBlock()
		}
	}
}

// cell begins a cell.
func (p *pageText) cell(t token) {
	o := p.table
	if o.cells == 0 {
		p.endBlock2(o.rows > 0)
		if columns, header := p.firstRow(p.at); o.rows == 0 && !header {
			o.bare = true
			p.out.WriteString("|" + strings.Repeat(" |", columns) + "\n|" + strings.Repeat("---|", columns) + "\n")
		}
		p.out.WriteString("|")
	} else {
		p.out.WriteString(strings.Repeat(" |", o.span))
	}
	p.out.WriteByte(' ')
	o.cells += t.span
	o.span = t.span
	o.inCell, p.blank, p.prefix = true, false, ""
}

// endRow ends the current row of a table. The first row is the header if it has no data cell;
// otherwise the header is empty.
func (p *pageText) endRow() {
	o := p.table
	if o == nil || o.cells == 0 {
		return
	}
	p.out.WriteString(strings.Repeat(" |", o.span) + "\n")
	if o.rows == 0 && !o.bare {
		p.out.WriteString("|" + strings.Repeat("---|", o.cells) + "\n")
	}
	o.rows++
	o.cells, o.span, o.inCell, p.blank = 0, 0, false, false
}

// firstRow counts the columns of the row that begins at token i, and reports whether it is a header:
// it has no data cell, or is in thead.
func (p *pageText) firstRow(i int) (columns int, header bool) {
	header = true
	for n, t := range p.tokens[i:] {
		cell := t.tag == atom.Td || t.tag == atom.Th
		switch {
		case t.tag == atom.Table, t.tag == atom.Tr, t.tag == atom.Thead, n > maxRow:
			return columns, header || p.table.inHead
		case cell && t.kind == html.StartTagToken:
			columns += t.span
			header = header && t.tag == atom.Th
		}
	}
	return columns, header || p.table.inHead
}

// maxRow bounds the tokens of the first row of a table that are examined.
const maxRow = 8 * maxColumns

// text writes the words of a piece of text.
func (p *pageText) text(t token) {
	raw := p.source[t.start:t.end]
	switch {
	case p.inTitle:
		p.title += html.UnescapeString(raw)
		return
	case p.table != nil && !p.table.inCell && p.table.cells > 0:
		return // between cells
	case p.pre:
		p.verbatim(raw, t.start)
		return
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		if unicode.IsSpace(r) {
			p.blank, i = true, i+n
			continue
		}
		end := i + strings.IndexFunc(raw[i:], unicode.IsSpace)
		if end < i {
			end = len(raw)
		}
		p.word(raw[i:end], t.start+i)
		i = end
	}
}

// word writes a word of the source.
func (p *pageText) word(raw string, at int) {
	word := strings.TrimSpace(strings.ReplaceAll(html.UnescapeString(raw), "\u00a0", " "))
	if word == "" {
		p.blank = true
		return
	}
	begin := p.atBlock()
	if begin {
		p.out.WriteString(p.prefix)
		if p.prefix == "" && marksBlock(word) {
			p.out.WriteByte('\\')
		}
		p.prefix = ""
	} else if p.blank && !p.afterBlank() {
		p.out.WriteByte(' ')
	}
	p.blank = false
	if p.table != nil && p.table.inCell {
		word = strings.ReplaceAll(word, "|", `\|`)
	}
	p.anchors.add(p.out.Len(), at)
	p.out.WriteString(word)
	p.anchors.add(p.out.Len(), at+len(raw))
}

// marksBlock reports whether a word at the beginning of a block would be parsed as markup.
func marksBlock(word string) bool {
	return strings.IndexByte("#>-+*=|:~`", word[0]) >= 0 ||
		'0' <= word[0] && word[0] <= '9' && strings.TrimLeft(word, "0123456789") == "."
}

// verbatim writes code.
func (p *pageText) verbatim(raw string, at int) {
	for len(raw) > 0 {
		end := lineEnd(raw, 0)
		p.anchors.add(p.out.Len(), at)
		p.out.WriteString(strings.ReplaceAll(html.UnescapeString(raw[:end]), "```", "'''"))
		raw, at = raw[end:], at+end
	}
}

func (p *pageText) last() byte {
	if s := p.out.String(); s != "" {
		return s[len(s)-1]
	}
	return '\n'
}

func (p *pageText) atBlock() bool    { return p.prefix != "" || p.last() == '\n' }
func (p *pageText) afterBlank() bool { return p.last() == ' ' }

// endLine ends the current line, if there is one.
func (p *pageText) endLine() {
	if p.last() != '\n' {
		p.out.WriteByte('\n')
	}
	p.blank, p.prefix = false, ""
}

// endBlock starts a new paragraph.
func (p *pageText) endBlock() { p.endBlock2(false) }

// endBlock2 starts a new paragraph, or a new row of a table.
func (p *pageText) endBlock2(row bool) {
	p.endLine()
	if s := p.out.String(); s != "" && !row && !strings.HasSuffix(s, "\n\n") {
		p.out.WriteByte('\n')
	}
}

// token is a tag or a text with its place.
type token struct {
	kind       html.TokenType
	tag        atom.Atom
	hidden     bool // by its own attributes
	layout     bool // a table for layout
	span       int  // columns of a cell
	start, end int
}

// tokenize splits a page into tokens, and marks layout tables.
func tokenize(page string) []token {
	z := html.NewTokenizer(strings.NewReader(page))
	var out []token
	var tables []int // open ones
	at := 0
	for {
		kind := z.Next()
		n := len(z.Raw())
		if kind == html.ErrorToken {
			return out
		}
		t := token{kind: kind, start: at, end: at + n, span: 1}
		at += n
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken || kind == html.EndTagToken {
			name, more := z.TagName()
			t.tag = atom.Lookup(name)
			t.attributes(z, more)
			switch {
			case t.tag == atom.Table && kind == html.StartTagToken:
				for _, i := range tables {
					out[i].layout = true
				}
				if len(tables) < maxDepth {
					tables = append(tables, len(out))
				}
			case t.tag == atom.Table && len(tables) > 0:
				tables = tables[:len(tables)-1]
			case len(tables) > 0 && isLarge(t.tag):
				out[tables[len(tables)-1]].layout = true
			}
		}
		if kind != html.CommentToken && kind != html.DoctypeToken {
			out = append(out, t)
		}
	}
}

// attributes reads the relevant attributes.
func (t *token) attributes(z *html.Tokenizer, more bool) {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "hidden":
			t.hidden = true
		case "style":
			style := strings.ReplaceAll(strings.ToLower(string(value)), " ", "")
			t.hidden = t.hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
		case "colspan":
			if n, err := strconv.Atoi(string(value)); err == nil {
				t.span = min(max(n, 1), maxDepth)
			}
		}
	}
}

// isLarge reports whether an element does not occur in cells of data tables.
func isLarge(tag atom.Atom) bool {
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Dl, atom.Pre, atom.Article, atom.Section:
		return true
	}
	return false
}

func isHidden(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe:
		return true
	}
	return false
}

// isFurniture reports whether an element belongs to the site rather than the page.
func isFurniture(tag atom.Atom) bool {
	switch tag {
	case atom.Nav, atom.Footer, atom.Button, atom.Select, atom.Textarea:
		return true
	}
	return false
}

func isVoid(tag atom.Atom) bool {
	switch tag {
	case atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isBlock reports whether an element is a block.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Br, atom.Section, atom.Article, atom.Header, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Blockquote, atom.Dl, atom.Hr, atom.Main, atom.Aside, atom.Figure, atom.Figcaption, atom.Caption, atom.Form, atom.Option,
		atom.Address, atom.Summary, atom.Details, atom.Li, atom.Dt, atom.Dd, atom.Ul, atom.Ol, atom.Pre:
		return true
	}
	return false
}
