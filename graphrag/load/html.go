// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wildgraph/wildgraph/internal/display"
)

// HTML reads a page and converts it to Markdown: headings, lists with their numbers, tables with headers,
// definition lists and code. It leaves out what is not displayed (scripts, styles, hidden elements), struck
// text and ruby, and, unless there is no other text, navigation, footers and forms. Raised digits become 10^6,
// a formula one line. Tables that contain headings, lists or tables are read as layout; a cell that covers
// several rows is repeated in each.
func HTML(name, page string) *File {
	f, t := &File{}, parse(page)
	for _, all := range []bool{false, true} {
		p := &pageText{tree: t, source: page, all: all, left: len(page), cells: make(map[*html.Node]string)}
		p.children(t.root)
		f.Document.Text, f.in.Mapping = strings.TrimRight(p.out.String(), "\n"), p.mapping
		if f.Document.Text != "" {
			f.Document.Text += "\n"
			f.Document.Title = oneLine(p.title)
			break
		}
	}
	f.Document.Fields = t.fields
	f.finish(name, page)
	return f
}

// pageText writes the text of a page as Markdown.
type pageText struct {
	*tree
	writer
	source string
	all    bool // navigation, footers and forms are written too
	title  string
	at     int                   // offset in the page of the text written last
	left   int                   // number of bytes of cells that may still be repeated
	cells  map[*html.Node]string // texts of cells that cover several rows

	gap    bool       // a blank is needed before the next word
	raised bool       // the last word ends with an exponent or an index
	prefix string     // Markdown to write before the next word
	head   bool       // in the first line of a heading
	lists  []openList // open lists, outermost first
	pre    bool
	math   bool
	inCell bool
}

// openList is an open list: the number of its next item, the step to the number after it, and the kind: "-",
// "1", or a type of HTML.
type openList struct {
	next, step int
	kind       string
}

func (p *pageText) children(n *html.Node) {
	for c := range n.ChildNodes() {
		p.node(c)
	}
}

// node writes a node if it is displayed.
func (p *pageText) node(n *html.Node) {
	if script := attribute(n, "script"); script != "" {
		n.DataAtom = atom.Lookup([]byte(script))
	}
	switch {
	case n.Type == html.TextNode || n.DataAtom == atom.Wbr:
		for _, t := range p.run(n) {
			p.text(t)
		}
	case n.Type != html.ElementNode || n.Data == "template" && attribute(n, "shadowrootmode") != "":
		p.children(n)
	case is(n.Data, " rp rt rtc "):
	case is(n.Data, " audio canvas del mphantom svg template video ") || !p.all && (is(n.Data, furniture) || isHidden(n)):
		p.gap = true
	case n.Namespace == "math":
		outer := p.math
		p.math = true
		p.formula(n)
		p.math = outer
	case n.DataAtom == atom.Sup || n.DataAtom == atom.Sub:
		p.script(n)
	case n.DataAtom == atom.Title:
		if text, _ := p.said(n, len(p.source)); p.title == "" {
			p.title = text
		}
	case !is(n.Data, blocks+tables):
		p.children(n)
	case p.inCell || n.DataAtom == atom.Br && p.head: // cells and headings are one line
		p.gap = true
		p.children(n)
		p.gap = true
	case p.pre:
		p.endLine()
		p.children(n)
		p.endLine()
	default:
		p.head = false
		p.block(n)
	}
}

// isHidden reports whether an element is hidden by its own attributes. An element with only a formula is not:
// pages hide it and show a picture of the formula.
func isHidden(n *html.Node) bool {
	return attribute(n, "hidden") != "" && (n.FirstChild == nil || n.FirstChild != n.LastChild || n.FirstChild.Data != "math")
}

// block writes an element that is a block.
func (p *pageText) block(n *html.Node) {
	switch n.DataAtom {
	case atom.Ul, atom.Menu, atom.Ol:
		p.list(n)
		return
	case atom.Li, atom.Dd:
		p.endLine()
		if p.prefix = ": "; n.DataAtom == atom.Li {
			p.prefix = p.item(n)
		}
		p.children(n)
		p.prefix = ""
		p.endLine()
		return
	}
	p.endBlock()
	switch n.DataAtom {
	case atom.Table:
		if !p.layout[n] {
			p.table(n)
			break
		}
		p.children(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.prefix, p.head = strings.Repeat("#", int(n.Data[1]-'0'))+" ", true
		p.children(n)
		p.prefix, p.head = "", false
	case atom.Pre, atom.Listing, atom.Xmp:
		p.out.WriteString(fence)
		p.pre = true
		p.children(n)
		p.pre = false
		p.endLine()
		p.out.WriteString(fence)
	default:
		p.children(n)
		if n.DataAtom == atom.Dt {
			p.endLine()
			return
		}
	}
	p.endBlock()
}

func (p *pageText) list(n *html.Node) {
	outer := p.lists
	if p.endLine(); len(outer) == 0 {
		p.endBlock()
	}
	if len(outer) < maxDepth/4 {
		l := openList{kind: "-"}
		if n.DataAtom == atom.Ol {
			l = openList{intOf(n, "start"), 1, attribute(n, "type")}
			if attribute(n, "reversed") != "" {
				l.step = -1
			}
			for li := n.FirstChild; li != nil && l.step < 0 && attribute(n, "start") == ""; li = li.NextSibling {
				if li.DataAtom == atom.Li && li != n.FirstChild {
					l.next++
				}
			}
		}
		p.lists = append(outer[:len(outer):len(outer)], l)
	}
	p.children(n)
	if p.lists = outer; len(outer) == 0 {
		p.endBlock()
	} else {
		p.endLine()
	}
}

// item returns the Markdown that begins the next item of the innermost list.
func (p *pageText) item(n *html.Node) string {
	if len(p.lists) == 0 {
		return "- "
	}
	indent, l := strings.Repeat("    ", len(p.lists)-1), &p.lists[len(p.lists)-1]
	if attribute(n, "value") != "" {
		l.next = intOf(n, "value")
	}
	label := display.Numeral(l.kind, l.next) + ". "
	if l.next += l.step; l.kind == "-" {
		return indent + "- "
	} else if !isDigit(label[0]) {
		return indent + "- " + label
	}
	return indent + label
}

// tableCell is a cell of a row: its element, nil if empty, and the number of rows below in which it is
// repeated.
type tableCell struct {
	node  *html.Node
	again int
}

// rows returns the rows of a table as cells, and the width of the widest row.
func (p *pageText) rows(n *html.Node) (rows [][]tableCell, width int) {
	for part := range n.ChildNodes() {
		var down []tableCell // cells that continue from rows above, by column
		for tr := range part.ChildNodes() {
			if tr.DataAtom != atom.Tr || !p.all && isHidden(tr) {
				continue
			}
			var cells []tableCell
			repeat := func() {
				for i := len(cells); i < len(down) && down[i].again > 0 && p.left > 0; i++ {
					p.left -= len(" |")
					cells = append(cells, down[i])
					down[i].again--
				}
			}
			for td := range tr.ChildNodes() {
				if td.DataAtom != atom.Td && td.DataAtom != atom.Th || !p.all && isHidden(td) {
					continue
				}
				repeat()
				more := intOf(td, "rowspan") - 1
				if more == -1 {
					more = maxTags // to the end of the table
				}
				for i, of := 0, td; i < min(max(intOf(td, "colspan"), 1), maxDepth); i, of = i+1, nil {
					if at := len(cells); at < maxColumns {
						down = append(down, make([]tableCell, max(at+1-len(down), 0))...)
						down[at] = tableCell{of, more}
					}
					cells = append(cells, tableCell{node: of})
				}
			}
			repeat()
			if len(cells) > 0 {
				rows, width = append(rows, cells), max(width, len(cells))
			}
		}
	}
	return rows, width
}

// isHeader reports whether the first row of a table is a header: it has no data cell, or is in thead.
func isHeader(cells []tableCell) bool {
	return cells[0].node.Parent.Parent.DataAtom == atom.Thead ||
		!slices.ContainsFunc(cells, func(c tableCell) bool { return c.node != nil && c.node.DataAtom == atom.Td })
}

// table writes a table; if it has no header, its header is empty.
func (p *pageText) table(n *html.Node) {
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Caption {
			p.node(c)
		}
	}
	rows, width := p.rows(n)
	for i, cells := range rows {
		if i == 0 && !isHeader(cells) {
			p.out.WriteString("|" + strings.Repeat(" |", width) + "\n" + delimiters(width))
		}
		p.out.WriteByte('|')
		for _, c := range cells {
			p.out.WriteByte(' ')
			p.cell(c)
			if p.last() != ' ' {
				p.out.WriteByte(' ')
			}
			p.out.WriteByte('|')
		}
		if i == 0 && isHeader(cells) {
			p.out.WriteString(strings.Repeat(" |", width-len(cells)) + "\n" + delimiters(width))
			continue
		}
		p.out.WriteByte('\n')
	}
}

func delimiters(n int) string { return "|" + strings.Repeat("---|", n) + "\n" }

// cell writes the text of a cell.
func (p *pageText) cell(c tableCell) {
	start := p.out.Len()
	switch {
	case c.node == nil:
	case c.again > 0:
		if text := p.cells[c.node]; len(text) <= p.left {
			p.left -= len(text)
			p.add(text, p.at)
		}
	default:
		p.inCell, p.gap, p.prefix = true, false, ""
		p.children(c.node)
		p.inCell, p.gap = false, false
		if attribute(c.node, "rowspan") != "" {
			p.cells[c.node] = strings.Clone(p.out.String()[start:])
		}
	}
}

// script writes raised or lowered text, with ^ or _ before digits that would continue a number or a word.
func (p *pageText) script(n *html.Node) {
	s, note := p.said(n, maxTag)
	before, _ := utf8.DecodeLastRuneInString(p.out.String())
	digits := strings.TrimLeft(s, "+-−")
	digits = digits[:min(len(digits), 1)]
	glued, mark, end := !p.gap && (unicode.IsLetter(before) || unicode.IsNumber(before) || before == ')'), "^", ""
	switch {
	case digits < "0" || digits > "9" || strings.Contains(s, "["), n.DataAtom == atom.Sub && !(glued && unicode.IsNumber(before)):
		mark = ""
	case note && n.DataAtom == atom.Sup:
		mark, end = "[", "]"
	case !glued:
		mark = ""
	case n.DataAtom == atom.Sub:
		mark = "_"
	case p.overNext(n): // a mixed number such as 2 3/4
		mark, p.gap = "", true
	}
	if strings.Contains(s, " ") && len(mark) == 1 && end == "" {
		mark, end = mark+"(", ")"
	}
	p.glue(mark)
	p.children(n)
	p.glue(end)
	p.raised = digits >= "0" && digits <= "9" && end == ""
}

// overNext reports whether a raised number is the numerator of a fraction.
func (p *pageText) overNext(n *html.Node) bool {
	bar := n.NextSibling
	if bar == nil || bar.DataAtom != atom.Wbr || bar.NextSibling == nil || bar.NextSibling.DataAtom != atom.Sub {
		return false
	}
	s, _ := p.said(bar, maxTag)
	return s == "/" || s == "⁄"
}

// said returns about the first bytes of the text of a node, and whether the node contains a link.
func (p *pageText) said(n *html.Node, bytes int) (s string, link bool) {
	for _, t := range p.run(n) {
		if s += html.UnescapeString(p.source[t.start:t.end]); len(s) > bytes {
			break
		}
	}
	link = n.DataAtom == atom.Wbr && n.Attr == nil
	for c := range n.ChildNodes() {
		if len(s) > bytes {
			break
		}
		more, of := p.said(c, bytes-len(s))
		s, link = s+more, link || of
	}
	return oneLine(s), link
}

// joins are the characters between the parts of formulas (MathML), by element.
var joins = map[string]string{"mfrac": "/", "msub": "_", "msup": "^", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^"}

// formula writes a formula on one line.
func (p *pageText) formula(n *html.Node) {
	var kids []*html.Node
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && c.DataAtom != atom.Wbr {
			kids = append(kids, c)
		}
	}
	marks := joins[n.Data]
	switch {
	case strings.HasPrefix(n.Data, "annotation"):
	case marks != "" && len(kids) == len(marks)+1:
		if last := p.last(); n.Data == "mfrac" && '0' <= last && last <= '9' {
			p.gap = true
		}
		for i, c := range kids {
			if s, _ := p.said(c, maxTag); s == "" {
				continue
			}
			if i > 0 {
				p.glue(marks[i-1 : i])
			}
			p.operand(c)
		}
		p.raised, p.gap = true, kids[0].Data == "mo" // a blank after the limits of a sum
	case n.Data == "msqrt":
		p.glue("√(")
		p.children(n)
		p.glue(")")
	case n.Data == "mroot" && len(kids) == 2:
		p.operand(kids[0])
		p.glue("^(1/")
		p.operand(kids[1])
		p.glue(")")
	default:
		s, _ := p.said(n, maxTag)
		apart := is(n.Data, " mspace mtd mtext mtr ") || n.Data == "mi" && utf8.RuneCountInString(s) > 1
		p.gap = p.gap || apart
		p.children(n)
		p.gap, p.raised = p.gap || apart, p.raised || n.Data == "mn"
	}
}

// operand writes a part of a formula, in brackets if it has operators.
func (p *pageText) operand(n *html.Node) {
	s, _ := p.said(n, maxTag)
	if utf8.RuneCountInString(s) <= 1 || strings.Trim(s, "0123456789.,") == "" {
		p.node(n)
		return
	}
	p.glue("(")
	p.node(n)
	p.glue(")")
}

// glue writes a mark, and no blank after it.
func (p *pageText) glue(mark string) {
	if mark != "" {
		p.space()
		p.out.WriteString(mark)
	}
}

// space writes the prefix or the blank that is due before a word, and reports whether the word begins a block.
func (p *pageText) space() (begins bool) {
	begins = p.prefix != "" || p.last() == '\n'
	if begins {
		p.out.WriteString(p.prefix)
	} else if p.gap && p.last() != ' ' {
		p.out.WriteByte(' ')
	}
	p.prefix, p.gap, p.raised = "", false, false
	return begins
}

// text writes the words of a piece of text.
func (p *pageText) text(t span) {
	raw := p.source[t.start:t.end]
	if p.pre {
		p.verbatim(raw, t.start)
		return
	}
	if p.math { // blanks have no meaning in a formula
		if word := strings.TrimSpace(raw); word != "" {
			p.word(word, t.start+strings.Index(raw, word))
		}
		return
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		if unicode.IsSpace(r) {
			p.gap, i = true, i+n
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
		p.gap = true
		return
	}
	p.gap = p.gap || p.raised && isDigit(word[0]) && !strings.ContainsRune("+-=(,", rune(p.last()))
	if p.space() && !p.head {
		word = escapeLine(word)
	} else {
		word = Inline(word)
	}
	if p.inCell {
		word = inCell.Replace(word)
	}
	p.place(at)
	p.out.WriteString(word)
	p.place(at + len(raw))
}

// place maps the end of the written text to an offset of the page. If the text before maps to a larger offset,
// that one is used.
func (p *pageText) place(at int) {
	p.at = max(p.at, at)
	p.mapping.Add(p.out.Len(), p.at)
}

func (p *pageText) verbatim(raw string, at int) {
	for len(raw) > 0 {
		end := lineEnd(raw, 0)
		p.place(at)
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

// endLine ends the current line, if there is one.
func (p *pageText) endLine() {
	if p.last() != '\n' {
		p.out.WriteByte('\n')
	}
	p.gap = false
}

// endBlock starts a new paragraph.
func (p *pageText) endBlock() {
	p.endLine()
	p.writer.blank()
}
