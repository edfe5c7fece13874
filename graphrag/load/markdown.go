// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Limits of structure, which bound the time of the parser (goldmark). Text beyond them is read as paragraphs.
const (
	maxDepth   = 32
	maxColumns = 128
)

// Blocks reads Markdown, of which plain text is the simplest form: CommonMark's blocks with GFM's tables,
// PHP Markdown Extra's definition lists and front matter. Indented lines are text and not code, as they are
// on scraped pages, and HTML is text as well.
//
// Offsets are into s. It does not fail: text without structure is paragraphs. The time is about
// linear in len(s).
func Blocks(s string) []Block {
	meta := frontLines(s)
	w := walker{source: s, under: -1}
	body := 0
	if len(meta) > 0 {
		w.blocks = meta
		body = frontOf(s).end
	}
	if tooDeep(s[body:]) || !w.parse(body) {
		w.blocks = w.blocks[:len(meta)]
		w.paragraphs(body)
	}
	return w.blocks
}

// blockParser parses blocks, and leaves inline markup as text.
var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(extension.NewDefinitionListParser(), 101),
			util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
		),
	)
})

// walker collects the blocks of one text.
type walker struct {
	source string
	body   int // offset in source of the text that is parsed
	blocks []Block
	under  int // index of the last heading
}

// parse parses the text from the offset body on; it returns false if the parser panicked.
func (w *walker) parse(body int) (ok bool) {
	defer func() {
		if recover() != nil { // the caller reads the text as paragraphs instead
			ok = false
		}
	}()
	w.body = body
	source := []byte(w.source[body:])
	w.children(blockParser().Parse(gtext.NewReader(source)), -1, 0, 0)
	return true
}

// children adds the blocks of a node; lead is the Lead of these blocks.
func (w *walker) children(n ast.Node, lead, level, depth int) {
	if depth > 4*maxDepth {
		return
	}
	before := lead // index of the previous paragraph, the Lead of lists and code
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		first := len(w.blocks)
		switch c := c.(type) {
		case *ast.Heading:
			if w.add(Block{Kind: Heading, Level: c.Level, Lead: -1}, c.Lines()) {
				w.blocks[first].Under = w.parent(c.Level)
				w.under = first
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.CodeBlock:
			w.add(Block{Kind: Paragraph, Lead: lead}, c.Lines())
		case *ast.FencedCodeBlock:
			w.add(Block{Kind: Code, Lead: before}, c.Lines())
		case *ast.List:
			for item := c.FirstChild(); item != nil; item = item.NextSibling() {
				w.item(item, before, level+1, depth+1)
			}
		case *extast.Table:
			w.table(c, before)
		case *extast.DefinitionList:
			w.definitions(c, depth+1)
		default:
			w.children(c, lead, level, depth+1)
		}
		if len(w.blocks) > first && w.blocks[first].Kind == Paragraph {
			before = len(w.blocks) - 1
		} else if len(w.blocks) > first {
			before = lead
		}
	}
}

// item adds an item of a list: its first text as the item, then its other blocks.
func (w *walker) item(n ast.Node, lead, level, depth int) {
	first := len(w.blocks)
	if c := n.FirstChild(); c != nil && (c.Kind() == ast.KindTextBlock || c.Kind() == ast.KindParagraph) &&
		w.add(Block{Kind: Item, Level: level, Lead: lead}, c.Lines()) {
		n.RemoveChild(n, c)
		lead = first
	}
	w.children(n, lead, level, depth)
}

func (w *walker) definitions(n ast.Node, depth int) {
	term := -1
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		first := len(w.blocks)
		if c.Kind() == extast.KindDefinitionTerm {
			if w.add(Block{Kind: Term, Lead: -1}, c.Lines()) {
				term = first
			}
			continue
		}
		w.children(c, term, 0, depth)
		for i := first; i < len(w.blocks); i++ {
			if w.blocks[i].Kind == Paragraph && w.blocks[i].Lead == term {
				w.blocks[i].Kind = Definition
			}
		}
	}
}

// table adds the rows of a table; caption is the index of the paragraph before it.
func (w *walker) table(n ast.Node, caption int) {
	header := caption
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b := Block{Kind: Row, Under: w.under, Lead: header, Start: -1}
		if c.Kind() == extast.KindTableHeader {
			b.Kind = Header
		}
		for cell := c.FirstChild(); cell != nil; cell = cell.NextSibling() {
			p := text.Span{}
			if lines := cell.Lines(); lines != nil && lines.Len() > 0 && lines.At(0).Stop > lines.At(0).Start {
				start, end := w.body+lines.At(0).Start, w.body+lines.At(0).Stop
				if b.End = end; b.Start < 0 {
					b.Start = start
				}
				p = text.Span{Start: start - b.Start, End: end - b.Start}
			}
			b.Cells = append(b.Cells, p)
		}
		if b.Start < 0 || strings.TrimSpace(w.source[b.Start:max(b.Start, b.End)]) == "" {
			continue
		}
		b.Text = w.source[b.Start:b.End]
		if b.Kind == Header {
			header = len(w.blocks)
		}
		w.blocks = append(w.blocks, b)
	}
}

// add appends a block that consists of lines; it returns false if they are blank.
func (w *walker) add(b Block, lines *gtext.Segments) bool {
	var kept []text.Span // spans of the lines, relative to b.Start
	for i := range lines.Len() {
		l := lines.At(i)
		if l.Stop <= l.Start {
			continue
		}
		if len(kept) == 0 {
			b.Start = w.body + l.Start
		}
		p := text.Span{Start: w.body + l.Start - b.Start, End: w.body + l.Stop - b.Start}
		if n := len(kept); n > 0 && kept[n-1].End == p.Start {
			kept[n-1].End = p.End
		} else {
			kept = append(kept, p)
		}
	}
	whole := ""
	if len(kept) == 1 {
		whole = kept[0].In(w.source[b.Start:])
	} else if len(kept) > 1 {
		var out strings.Builder
		for _, p := range kept {
			out.WriteString(p.In(w.source[b.Start:]))
		}
		whole, b.source = out.String(), text.NewMapping(kept)
	}
	b.Text = strings.TrimRight(whole, " \t\r\n")
	if strings.TrimSpace(b.Text) == "" {
		return false
	}
	b.End = b.Start + kept[len(kept)-1].End - (len(whole) - len(b.Text))
	b.Under = w.under
	w.blocks = append(w.blocks, b)
	return true
}

// parent returns the index of the heading above a heading of a level.
func (w *walker) parent(level int) int {
	h := w.under
	for h >= 0 && w.blocks[h].Level >= level {
		h = w.blocks[h].Under
	}
	return h
}

// paragraphs adds the text from the offset body on as paragraphs, which blank lines separate.
func (w *walker) paragraphs(body int) {
	begin, stop := -1, 0
	for at, line := range eachLine(w.source[body:] + "\n\n") {
		blank := strings.TrimSpace(line) == ""
		switch {
		case !blank && begin < 0:
			begin = body + at + len(line) - len(strings.TrimLeft(line, " \t\r\n"))
			fallthrough
		case !blank:
			stop = body + at + len(strings.TrimRight(line, " \t\r\n"))
		case begin >= 0:
			w.blocks = append(w.blocks, Block{Kind: Paragraph, Text: w.source[begin:stop], Under: -1, Lead: -1, Start: begin, End: stop})
			begin = -1
		}
	}
}

// tooDeep reports whether a line exceeds the limits of nesting or of columns.
func tooDeep(s string) bool {
	for _, line := range eachLine(s) {
		marks := 0
		for i := 0; i < len(line) && strings.IndexByte("> \t-+*0123456789.):", line[i]) >= 0; i++ {
			if strings.IndexByte(">-+*.):", line[i]) >= 0 && (line[i] == '>' || i+1 < len(line) && line[i+1] == ' ') {
				marks++
			}
		}
		if marks > maxDepth || len(line) > 2*maxColumns && isDelimiter(line) && strings.Count(line, "|") > maxColumns {
			return true
		}
	}
	return false
}

// frontLines returns the lines of front matter with a key and a value, without lists and nested values of YAML.
func frontLines(s string) (out []Block) {
	first := lineEnd(s, 0)
	for at, line := range eachLine(s[first:max(first, frontOf(s).end)]) {
		line = strings.TrimRight(line, " \t\r\n")
		mark := ":"
		if strings.HasPrefix(s, "+++") {
			mark = "="
		}
		key, value, ok := strings.Cut(line, mark)
		if value = strings.Trim(strings.TrimSpace(value), `"'[]{}>|`); ok && value != "" && key == strings.TrimSpace(key) {
			at += first
			out = append(out, Block{Kind: Meta, Text: line, Under: -1, Lead: -1, Start: at, End: at + len(line)})
		}
	}
	return out
}
