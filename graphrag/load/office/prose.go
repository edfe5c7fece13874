// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// prose is the state of reading the paragraphs, lists and tables of DOCX and PPTX (ECMA-376) and
// of ODT (OpenDocument), whose elements share names only where they mean the same.
type prose struct {
	*pack
	bare   bool           // texts stand in paragraphs, and not in elements of their own
	styles map[string]int // levels of headings, by the ID of the style
	style  string         // that is defined
	hidden int            // depth of what is left out
	text   strings.Builder
	level  int  // of the heading, 0 for other paragraphs
	item   int  // depth in a list, from 1
	lists  int  // open ones of ODT
	first  bool // no paragraph of the item yet
	wide   int  // columns that the last cell of ODT covers
	// The placeholder of a slide that the text is in, and what is done with each paragraph.
	holder string
	write  func(text string)
	place  string
}

// isLeftOut reports whether an element is deleted, said twice, a note between the words, or no text.
func isLeftOut(name string) bool {
	switch name {
	case "del", "moveFrom", "Fallback", "tracked-changes", "annotation", "table-of-content", "note", "desc", "title",
		"automatic-styles", "font-face-decls", "scripts":
		return true
	}
	return false
}

func (o *prose) read(part string) {
	o.scan(part, elements{o.open, o.shut, func(in, s string) {
		if (in == "t" || o.bare) && o.hidden == 0 {
			o.text.WriteString(s)
		}
	}})
}

func (o *prose) open(e xml.StartElement) {
	switch name := e.Name.Local; name {
	case "style", "name", "outlineLvl", "pStyle":
		o.styled(e)
	case "p", "h":
		o.item = o.lists
		switch {
		case name == "h":
			o.level = number(e, "outline-level", 1, 6)
		case o.bare:
			style := attr(e, "style-name")
			o.level = max(o.styles[style], headingStyle(style))
		case o.holder == "body":
			o.item = 1
		}
	case "ilvl":
		o.item = number(e, "val", 0, 32) + 1
	case "pPr":
		if o.holder == "body" {
			o.item += number(e, "lvl", 0, 32)
		}
	case "buNone":
		o.item = 0
	case "list":
		o.lists++
	case "list-item":
		o.first = true
	case "tab", "br", "cr", "s", "line-break":
		o.text.WriteByte(' ')
	case "noBreakHyphen":
		o.text.WriteByte('-')
	case "sp":
		o.holder = ""
	case "ph":
		if o.holder = attr(e, "type"); o.holder == "" {
			o.holder = "body"
		}
	case "tbl", "table":
		o.depth++
	case "gridSpan":
		o.span = number(e, "val", 1, maxColumns)
	case "vMerge":
		o.down = attr(e, "val") != "restart"
	case "tc":
		o.down = attr(e, "vMerge") == "1"
	case "table-cell":
		o.wide = number(e, "number-columns-spanned", 1, maxColumns) - 1
	case "covered-table-cell":
		o.down = o.wide == 0
		o.wide = max(0, o.wide-1)
	default:
		if isLeftOut(name) {
			o.hidden++
		}
	}
}

// block writes a paragraph, a heading of a level from 1, or an item of a list of a depth from 1.
func (p *pack) block(text string, level, item int, place string) {
	switch {
	case level > 0:
		p.Heading(level, text, place)
	case item > 0:
		p.Item(item, "-", text, place)
	default:
		p.Paragraph(text, place)
	}
	p.fail(p.Err())
}

// styled notes the level of a style, or of the paragraph by its style. Names of styles are English
// in every language.
func (o *prose) styled(e xml.StartElement) {
	switch e.Name.Local {
	case "style":
		o.style = attr(e, "styleId") + attr(e, "name")
		o.styles[o.style] = headingStyle(attr(e, "parent-style-name"))
	case "name":
		o.styles[o.style] = headingStyle(attr(e, "val"))
	case "outlineLvl":
		if n := number(e, "val", -1, 9); n >= 0 && n < 6 && o.styles[o.style] == 0 {
			o.styles[o.style] = n + 1
		}
	case "pStyle":
		o.level = o.styles[attr(e, "val")]
	}
}

func headingStyle(name string) int {
	name = strings.ReplaceAll(strings.ToLower(name), "_20_", " ")
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n > 0 {
		return min(n, 6)
	} else if name == "title" {
		return 1
	}
	return 0
}

func (o *prose) shut(name string) {
	switch name {
	case "p", "h":
		text := o.text.String()
		if o.text.Reset(); o.depth > 0 {
			o.cell.WriteString(text + " ")
		} else if o.write != nil {
			o.write(text)
		} else {
			if o.lists > 0 && !o.first { // it goes on in an item
				o.item = 0
			}
			o.block(text, o.level, o.item, o.place)
		}
		o.level, o.item, o.first = 0, 0, false
	case "list":
		o.lists--
	case "tc", "table-cell", "covered-table-cell":
		if o.depth == 1 {
			o.endCell()
		}
	case "tr", "table-row":
		if o.depth == 1 {
			o.endRow(o.place)
		}
	case "tbl", "table":
		if o.depth--; o.depth == 0 {
			o.endTable()
		}
	default:
		if isLeftOut(name) {
			o.hidden--
		}
	}
}

// word reads a DOCX file without tracked deletions. Line counts paragraphs and rows.
func word(p *pack) {
	main, of := p.main("word/document.xml")
	o := &prose{pack: p, styles: make(map[string]int)}
	o.optional(cmp.Or(of["styles"], path.Join(path.Dir(main), "styles.xml")), elements{open: o.styled})
	o.style = ""
	o.read(main)
}

// openText reads an ODT file without tracked deletions, comments, notes and the table of contents.
// Line counts paragraphs and rows.
func openText(p *pack) {
	locked := p.parts["encrypted-package"] != nil
	p.optional("META-INF/manifest.xml", elements{open: func(e xml.StartElement) {
		locked = locked || e.Name.Local == "encryption-data"
	}})
	if locked {
		p.fail(errEncrypted)
	}
	// The creator is who saved it last, and the date is when.
	p.properties("meta.xml", map[string]string{
		"creator": "", "initial-creator": "author", "creation-date": "created", "date": "edited", "keyword": "keywords"})
	o := &prose{pack: p, bare: true, styles: make(map[string]int)}
	o.read("content.xml")
}

// slides reads a PPTX file: a section for each slide that is not hidden, in the order of the
// presentation, under its title, with its notes at the end.
func slides(p *pack) {
	main, of := p.main("ppt/presentation.xml")
	var parts []string
	p.scan(main, elements{open: func(e xml.StartElement) {
		if e.Name.Local == "sldId" {
			parts = append(parts, of[related(e)])
		}
	}})
	for i, part := range parts {
		p.slide(part, i+1)
	}
}

// slide reads a slide twice: its title may stand at the end.
func (p *pack) slide(part string, n int) {
	var title strings.Builder
	holder, shown := "", true
	p.scan(part, elements{func(e xml.StartElement) {
		switch e.Name.Local {
		case "sld":
			shown = attr(e, "show") != "0"
		case "sp":
			holder = ""
		case "ph":
			holder = attr(e, "type")
		}
	}, func(name string) {
		if name == "p" {
			title.WriteByte(' ')
		}
	}, func(in, s string) {
		if in == "t" && isTitle(holder) {
			title.WriteString(s)
		}
	}})
	if !shown {
		return
	}
	place, heading := fmt.Sprintf("slide %d", n), load.Single(title.String())
	if heading != "" && p.Empty() { // the title in the metadata is often the program's
		p.d.Title = heading
	}
	if heading == "" {
		heading = fmt.Sprintf("Slide %d", n)
	}
	p.Heading(2, heading, place)
	o := &prose{pack: p, styles: make(map[string]int), place: place}
	o.write = func(text string) {
		if h := o.holder; !isTitle(h) && h != "sldNum" && h != "dt" && h != "ftr" {
			p.block(text, 0, o.item, place)
		}
	}
	o.read(part)
	label := "Notes: "
	o.write = func(text string) {
		if o.holder == "body" && load.Single(text) != "" {
			p.Paragraph(label+text, place)
			label = ""
		}
	}
	if notes := p.relations(part)["notesSlide"]; notes != "" {
		o.read(notes)
	}
}

func isTitle(holder string) bool { return holder == "title" || holder == "ctrTitle" }
