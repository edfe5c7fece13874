// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
)

// maxColumns limits the columns that a cell of a table covers.
const maxColumns = 128

// prose is the state of reading the paragraphs, lists and tables of DOCX and PPTX (ECMA-376) and of ODT
// (OpenDocument). Elements that have the same name in two of these formats also mean the same.
type prose struct {
	*pack
	*words
	numbers
	rows    []load.Line // rows read so far of the current table
	lists   []string    // list styles of the open lists of ODT, outermost first
	first   bool        // the item has had no paragraph yet
	carried string      // text to be joined with the next paragraph
	place   string
	of      map[string]string // relations of the main part
}

func (p *pack) prose() *prose {
	return &prose{pack: p, words: &words{styles: make(map[string]style)}, numbers: make(numbers)}
}

// block is a paragraph, a heading (level from 1) or an item of a list (depth from 1), with its number in label.
type block struct {
	text         string
	level, depth int
	label        string
	boxes        []*element // text boxes anchored in the block
}

func (o *prose) put(b block) {
	switch text := strings.TrimSpace(b.label + " " + b.text); {
	case strings.TrimSpace(b.text) == "":
	case b.level > 0:
		o.Heading(b.level, text, o.place)
	case b.depth > 0 && ordinal.MatchString(b.label):
		o.Item(b.depth, b.label, b.text, o.place)
	case b.depth > 0:
		o.Item(b.depth, "-", text, o.place)
	default:
		o.Paragraph(text, o.place)
	}
	o.fail(o.Err())
}

// paragraph writes a paragraph, then the text boxes that are anchored in it.
func (o *prose) paragraph(e *element) {
	b := o.block(e)
	o.put(b)
	for _, box := range b.boxes {
		o.content(box)
	}
}

// content writes the paragraphs and tables in an element.
func (o *prose) content(e *element) {
	e.find(func(k *element) {
		switch k.name {
		case "p", "h":
			o.paragraph(k)
		case "sp":
			o.shape(k)
		default:
			k.find(o.row, " tr table-row ")
			o.table(nil)
		}
	}, " p h sp tbl table ")
}

// block reads a paragraph.
func (o *prose) block(e *element) (b block) {
	props := e.at("pPr")
	name := props.at("pStyle").attr("val") + e.attr("style-name")
	s := o.style(name, 16)
	if b.text = o.carried + o.line(e); s.gone {
		b.text = ""
	}
	o.carried, o.fields = "", nil
	b.boxes, o.boxes = o.boxes, nil
	if o.bare {
		return o.open(e, s, b)
	}
	if props.at("rPr", "del") != nil || strings.Contains("drop margin", cmp.Or(props.at("framePr").attr("dropCap"), "none")) {
		o.carried = strings.TrimSuffix(strings.TrimSuffix(b.text, "\n"), " ")
		return block{boxes: b.boxes}
	}
	if l := o.numbers[s.list]; l != nil && name != "" { // the style of the paragraph chooses the level
		s.depth = max(s.depth, slices.IndexFunc(l.levels[:], func(of level) bool { return of.style == name }))
	}
	if b.level = s.level; props.at("outlineLvl") != nil {
		b.level = outline(props.at("outlineLvl"))
	}
	if of := props.at("numPr"); of != nil {
		s.list, s.depth = cmp.Or(of.at("numId").attr("val"), s.list, "?"), of.at("ilvl").number("val", 0, 8)
	}
	if s.list != "" && s.list != "0" {
		b.depth, b.label = s.depth+1, o.next(s.list, s.depth)
	}
	return b
}

// open completes a block of an ODT file: its level, depth and number.
func (o *prose) open(e *element, s style, b block) block {
	if b.level = max(s.level, heading(e.attr("style-name"))); e.name == "h" {
		b.level = e.number("outline-level", 1, 6)
		o.begin("Outline", b.level-1, e)
		if e.attr("is-list-header") != "true" && strings.TrimSpace(b.text) != "" {
			b.label = o.next("Outline", b.level-1)
		}
	}
	if depth := len(o.lists); depth > 0 && o.first {
		if o.lists[depth-1] == "" {
			o.lists[depth-1] = s.list
			o.restart(s.list, e)
		}
		b.depth, b.label = depth, o.next(o.lists[depth-1], depth-1)
	}
	o.first = false
	return b
}

// heading returns the level of a heading by the name of its style, English in every language; 0 for other
// styles.
func heading(name string) int {
	name = strings.ReplaceAll(strings.ToLower(name), "_20_", " ")
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n > 0 {
		return min(n, 6)
	} else if name == "title" {
		return 1
	}
	return 0
}

// outline returns the level of a heading by its outline level, 0 for other paragraphs.
func outline(e *element) int {
	if n := e.number("val", -1, 9); n < 6 {
		return n + 1
	}
	return 0
}

// define stores a style.
func (o *prose) define(e *element) {
	s := style{level: heading(e.at("name").attr("val")), parent: e.at("basedOn").attr("val") + e.attr("parent-style-name"), list: e.attr("list-style-name")}
	if s.level = max(s.level, heading(e.attr("parent-style-name"))); s.level == 0 {
		s.level = outline(e.at("pPr", "outlineLvl"))
	}
	if of := e.at("pPr", "numPr"); of != nil {
		s.list, s.depth = of.at("numId").attr("val"), of.at("ilvl").number("val", 0, 8)
	}
	props := cmp.Or(e.at("text-properties"), e.at("rPr"))
	s.gone, s.script = struck(props), script(props)
	s.kept = !s.gone && (props.at("strike") != nil || props.attr("text-line-through-style") != "")
	o.styles[e.attr("styleId")+e.attr("name")] = s
}

// row adds a row of a table. The text of a vertically merged cell is repeated in each of its rows, the text of
// a horizontally merged one is in its first column only.
func (o *prose) row(e *element) {
	of := e.at("trPr")
	if of.on("hidden") || of.on("del") {
		return
	}
	cells := make([]string, of.at("gridBefore").number("val", 0, maxColumns))
	wide, span := 0, 1 // number of columns that the last cell still covers; largest number of a cell
	e.find(func(k *element) {
		text, n, props := o.cell(k), len(cells), k.at("tcPr")
		down := props.on("vMerge") && props.at("vMerge").attr("val") != "restart" || k.attr("vMerge") == "1" || k.name == "covered-table-cell" && wide == 0
		if last := len(o.rows) - 1; down && text == "" && last >= 0 && n < len(o.rows[last].Cells) {
			text = o.rows[last].Cells[n]
		}
		wide = max(0, wide-1)
		cells = append(cells, slices.Repeat([]string{text}, k.number("number-columns-repeated", 1, maxColumns))...)
		cells = append(cells, make([]string, props.at("gridSpan").number("val", 1, maxColumns)-1)...)
		if k.name == "table-cell" {
			wide = k.number("number-columns-spanned", 1, maxColumns) - 1
		}
		span = max(span, wide+1, k.number("gridSpan", 1, maxColumns), props.at("gridSpan").number("val", 1, maxColumns))
	}, " tc table-cell covered-table-cell ")
	if span >= len(cells) && filled(cells) == 1 { // one cell across the table
		cells = []string{strings.Join(cells, "")}
	}
	if o.room(len(cells)) && len(cells) > 0 {
		o.rows = append(o.rows, load.Line{Cells: cells, Place: o.place})
	}
}

// cell returns the text of a cell, with the text boxes and tables in it.
func (o *prose) cell(e *element) string {
	var b strings.Builder
	e.find(func(p *element) {
		of := o.block(p)
		b.WriteString(of.label + " " + of.text + " ")
		for _, box := range of.boxes {
			b.WriteString(o.cell(box) + " ")
		}
	}, " p h ")
	b.WriteString(o.carried)
	o.carried = ""
	return display.Single(b.String())
}

// room counts cells, and reports whether they are within the limits and there was no error.
func (p *pack) room(cells int) bool {
	p.Room(cells)
	p.fail(p.Err())
	return p.err == nil
}

// titled writes leading rows with a single value, such as a title, as paragraphs, and returns the other rows.
func (p *pack) titled(rows []load.Line) []load.Line {
	for len(rows) > 0 && filled(rows[0].Cells) == 1 && rows[0].Cells[len(rows[0].Cells)-1] != "" {
		p.Paragraph(strings.Join(rows[0].Cells, ""), rows[0].Place)
		rows = rows[1:]
	}
	return rows
}

// table writes the rows that were read as a table, under the first row.
func (o *prose) table(*element) {
	if rows := o.titled(o.rows); len(rows) > 0 {
		o.Table(rows[0], rows[1:])
	}
	o.rows = nil
}

// word reads a DOCX file without text that was deleted with change tracking. Line counts paragraphs and rows.
func word(p *pack) {
	main, of := p.main("word/document.xml")
	o := p.prose()
	o.of = of
	beside := func(kind string) string { return cmp.Or(of[kind], path.Join(path.Dir(main), kind+".xml")) }
	o.optional(beside("styles"), handlers{"style": o.define})
	o.optional(beside("numbering"), handlers{"abstractNum": o.numbers.define, "num": o.numbers.define})
	o.each(main, handlers{"p": o.paragraph, "tr": o.row, "/tbl": o.table, "altChunk": o.chunk})
	o.put(block{text: o.carried})
	p.leaves()
}

// chunk writes a document of another format that is embedded to be shown as part of the text (altChunk).
func (o *prose) chunk(e *element) {
	part := o.of[e.related()]
	switch ext := strings.ToLower(path.Ext(part)); ext {
	case ".html", ".htm", ".xhtml", ".txt", ".mht", ".mhtml":
		o.Markdown(o.read(part, "chunk"+strings.Replace(ext, ".mhtml", ".mht", 1)), func(int) string { return "" })
		o.fail(o.Err())
	default:
		o.missing = append(o.missing, "the document in it, "+display.Single(path.Base(part)))
	}
}

// openText reads an ODT file without text that was deleted with change tracking, comments, notes and the table
// of contents. Line counts paragraphs and rows.
func openText(p *pack) {
	locked := p.parts["encrypted-package"] != nil
	p.optional("META-INF/manifest.xml", handlers{"encryption-data": func(*element) { locked = true }})
	if locked {
		p.fail(errEncrypted)
	}
	// In ODT, creator is the last editor, and date the time of the last change.
	p.properties("meta.xml", map[string]string{
		"creator": "", "initial-creator": "author", "creation-date": "created", "date": "edited", "keyword": "keywords"})
	o := p.prose()
	o.bare = true
	header := func(e *element) { p.met[e.name] = p.met[e.name] || strings.TrimSpace(e.all()) != "" }
	o.optional("styles.xml", handlers{"style": o.define, "list-style": o.numbers.define, "outline-style": o.numbers.define, "header": header, "footer": header})
	o.each("content.xml", handlers{
		"style": o.define, "list-style": o.numbers.define, "p": o.paragraph, "h": o.paragraph, "table-row": o.row, "/table": o.table,
		"<list": func(e *element) {
			outer := append([]string{""}, o.lists...)[len(o.lists)]
			name := cmp.Or(e.attr("style-name"), outer)
			if name != outer {
				o.restart(name, e)
			}
			o.lists = append(o.lists, name)
		},
		"/list": func(*element) { o.lists = o.lists[:max(0, len(o.lists)-1)] },
		"<list-item": func(e *element) {
			if o.first = true; len(o.lists) > 0 {
				o.begin(o.lists[len(o.lists)-1], len(o.lists)-1, e)
			}
		},
	})
	p.leaves()
}

// slides reads a PPTX file: each slide that is not hidden is a section under its title, in the order of the
// presentation, with its notes at the end.
func slides(p *pack) {
	main, of := p.main("ppt/presentation.xml")
	var parts []string
	p.each(main, handlers{"sldId": func(e *element) { parts = append(parts, of[e.related()]) }})
	for i, part := range parts {
		p.slide(part, i+1)
	}
	p.leaves()
}

// holder returns the kind of placeholder that a shape fills ("title", "body"), "" for other shapes.
func holder(sp *element) string {
	ph := sp.at("nvSpPr", "nvPr", "ph")
	if kind := ph.attr("type"); ph == nil || kind != "" {
		return strings.ReplaceAll(kind, "ctrTitle", "title")
	}
	return "body"
}

// slide writes a slide that is not hidden, and its notes.
func (p *pack) slide(part string, n int) {
	o := p.prose()
	o.place = fmt.Sprintf("slide %d", n)
	shown := false
	p.each(part, handlers{"sld": func(e *element) {
		if shown = e.attr("show") != "0"; !shown {
			return
		}
		title := ""
		e.find(func(sp *element) {
			if holder(sp) == "title" {
				title += o.line(sp) + " "
			}
		}, " sp ")
		if title = display.Single(title); title != "" && p.Empty() { // the metadata often has a title of the program
			p.d.Title = title
		}
		o.put(block{text: cmp.Or(title, fmt.Sprintf("Slide %d", n)), level: 2})
		o.content(e)
	}})
	notes := p.relations(part)["notesSlide"]
	if notes == "" || !shown {
		return
	}
	label := "Notes: "
	p.each(notes, handlers{"sp": func(e *element) {
		e.find(func(k *element) {
			if text := display.Single(o.line(k)); text != "" && holder(e) == "body" {
				o.put(block{text: label + text})
				label = ""
			}
		}, " p ")
	}})
}

// shape writes the paragraphs of a shape; in a body they are items of a list, unless they have no bullet.
func (o *prose) shape(e *element) {
	kind := holder(e)
	if e.at("nvSpPr", "cNvPr").attr("hidden") == "1" || kind == "title" || kind == "sldNum" || kind == "dt" || kind == "ftr" {
		return
	}
	delete(o.numbers, "auto")
	e.find(func(k *element) {
		b := o.block(k)
		props := k.at("pPr")
		depth := props.number("lvl", 0, 8)
		of := props.at("buAutoNum")
		if props.at("buNone") == nil && (kind == "body" || of != nil) {
			b.depth = depth + 1
		}
		if strings.TrimSpace(b.text) != "" {
			b.label = o.auto(of, depth)
		}
		o.put(b)
	}, " p ")
}

// numbers holds the automatic numbering of headings, clauses and items: lists by the ID that paragraphs refer
// to, and DOCX's abstract lists by "#" and their ID.
type numbers map[string]*counter

// counter is a list with its current numbers.
type counter struct {
	levels  [9]level
	link    string  // style that defines the levels
	count   *[9]int // current number plus one by level, 0 before the first; lists of one base share it
	restart map[int]int
}

// level says how a level of a list is numbered.
type level struct {
	first        int
	format, text string // "lowerRoman", "%1.%2)"
	style        string // style of its paragraphs
	legal        bool   // shows all numbers as decimals
	after        int    // restarts after an item of level up to after-1; 0: of any outer level; 1: never
}

// wordLevel reads a level of a DOCX list.
func wordLevel(e *element) level {
	return level{
		first: e.at("start").number("val", 0, 1<<20), after: e.at("lvlRestart").number("val", -1, 9) + 1,
		format: e.at("numFmt").attr("val"), text: e.at("lvlText").attr("val"), style: e.at("pStyle").attr("val"), legal: e.on("isLgl"),
	}
}

// openLevel reads a level of an ODT list.
func openLevel(e *element, depth int) level {
	kind, text := e.attr("num-format"), ""
	for at := depth + 1 - e.number("display-levels", 1, depth+1); at <= depth && kind != ""; at++ {
		text += ".%" + strconv.Itoa(at+1)
	}
	text = e.attr("num-prefix") + strings.TrimPrefix(text, ".") + e.attr("num-suffix")
	return level{first: e.number("start-value", 1, 1<<20), format: cmp.Or(kind, "none"), text: text}
}

// define stores a list of DOCX (ECMA-376 part 1, 17.9) or ODT.
func (n numbers) define(e *element) {
	l := counter{count: new([9]int), link: e.at("numStyleLink").attr("val")}
	if base := n["#"+e.at("abstractNumId").attr("val")]; base != nil {
		l = *cmp.Or(n["="+base.link], base)
	}
	l.restart = make(map[int]int)
	for _, k := range e.kids {
		switch depth := k.number("ilvl", 0, 8); k.name {
		case "lvl":
			l.levels[depth] = wordLevel(k)
		case "lvlOverride":
			if of := k.at("lvl"); of != nil {
				l.levels[depth] = wordLevel(of)
			}
			if start := k.at("startOverride"); start != nil {
				l.restart[depth] = start.number("val", 0, 1<<20)
			}
		case "list-level-style-number", "outline-level-style":
			depth = k.number("level", 1, 9) - 1
			l.levels[depth] = openLevel(k, depth)
		}
	}
	id := e.attr("numId") + e.attr("name")
	if e.name == "abstractNum" {
		id = "#" + e.attr("abstractNumId")
		if of := e.at("styleLink"); of != nil {
			n["="+of.attr("val")] = &l
		}
	}
	n[id] = &l
}

// restart makes an ODT list begin with its first number again, unless it continues another list.
func (n numbers) restart(name string, e *element) {
	if l := n[name]; l != nil && e.attr("continue-numbering") != "true" && e.attr("continue-list") == "" {
		l.count = new([9]int)
	}
}

// begin sets the next number of a list at a depth, if the element names one.
func (n numbers) begin(name string, depth int, e *element) {
	if l := n[name]; l != nil && e.attr("start-value") != "" {
		l.restart[depth] = e.number("start-value", 0, 1<<20)
	}
}

// next returns the label of the next item of a list at a depth from 0, "" for a list without numbers.
func (n numbers) next(name string, depth int) string {
	l := n[name]
	if l == nil || depth < 0 || depth > 8 {
		return ""
	}
	of := l.levels[depth]
	if start, ok := l.restart[depth]; ok {
		delete(l.restart, depth)
		l.count[depth] = start + 1
	} else if l.count[depth] == 0 {
		l.count[depth] = of.first + 1
	} else {
		l.count[depth]++
	}
	for i := range depth { // a level that was left out counts as begun
		l.count[i] = cmp.Or(l.count[i], l.levels[i].first+1)
	}
	for i := depth + 1; i < 9; i++ {
		if after := l.levels[i].after; after == 0 || after > depth+1 {
			l.count[i] = 0
		}
	}
	if of.format == "bullet" {
		return ""
	}
	return numberAt.ReplaceAllStringFunc(strings.ToValidUTF8(of.text[:min(len(of.text), maxLabel)], ""), func(s string) string {
		i := int(s[1] - '1')
		count := cmp.Or(l.count[i], l.levels[i].first+1) - 1
		if of.legal {
			return strconv.Itoa(count)
		}
		return display.Numeral(l.levels[i].format, count)
	})
}

// maxLabel limits the text of a level, in bytes.
const maxLabel = 64

// numberAt matches the placeholder of a number in the text of a level.
var numberAt = regexp.MustCompile(`%[1-9]`)

// ordinal matches a label that Markdown reads as the number of an item.
var ordinal = regexp.MustCompile(`^[0-9]{1,9}[.)]$`)

// autoKind matches a numbering of PPTX, such as "romanUcParenBoth".
var autoKind = regexp.MustCompile(`^(arabic|alphaLc|alphaUc|romanLc|romanUc)\w*?(Period|ParenR|ParenBoth|Plain)$`)

// autoTexts are texts of levels by the end of the numbering's name.
var autoTexts = map[string]string{"Period": "%n.", "ParenR": "%n)", "ParenBoth": "(%n)", "Plain": "%n"}

// auto returns the label of a paragraph of PPTX. A nil e is a paragraph without a number, which ends the list
// at depth 0.
func (n numbers) auto(e *element, depth int) string {
	m := autoKind.FindStringSubmatch(e.attr("type"))
	l := n["auto"]
	if l == nil || m == nil && depth == 0 {
		l = &counter{count: new([9]int)}
		n["auto"] = l
	}
	if m == nil {
		return ""
	}
	if l.levels[depth].format != m[1] {
		l.count[depth] = 0
	}
	l.levels[depth] = level{first: e.number("startAt", 1, 1<<20), format: m[1], text: strings.ReplaceAll(autoTexts[m[2]], "n", strconv.Itoa(depth+1))}
	return n.next("auto", depth)
}
