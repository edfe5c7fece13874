// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/xml"
	"strings"
)

// openText reads an ODT file (OASIS OpenDocument): paragraphs, headings, lists and tables, without
// tracked deletions, comments and the table of contents. Line counts paragraphs and rows.
func openText(p *pack) error {
	locked := false
	if err := p.optional("META-INF/manifest.xml", elements{open: func(e xml.StartElement) {
		locked = locked || e.Name.Local == "encryption-data" || e.Name.Local == "encrypted-key"
	}}); err != nil {
		return err
	}
	if locked || p.parts["encrypted-package"] != nil {
		return errEncrypted
	}
	// The creator is who saved it last, and the date is when.
	if err := p.properties("meta.xml", map[string]string{
		"creator": "", "initial-creator": "author", "creation-date": "created", "date": "modified", "keyword": "keywords",
	}); err != nil {
		return err
	}
	o := &openState{pack: p, titles: map[string]bool{"Title": true}}
	return p.scan("content.xml", elements{open: o.open, shut: o.shut, text: func(_, s string) {
		if o.inside > 0 && o.hidden == 0 {
			o.text.WriteString(s)
		}
	}})
}

// openState is the state of reading an ODT file.
type openState struct {
	*pack
	titles map[string]bool // styles of the title
	text   strings.Builder // of the outermost paragraph
	inside int             // depth of paragraphs: those of notes stand in others
	hidden int             // depth of what is left out
	level  int             // of the heading
	item   int             // depth in lists
	first  bool            // paragraph of the item
	wide   int             // columns that the last cell covers
}

// isUnread reports whether an element is left out.
func isUnread(name string) bool {
	switch name {
	case "tracked-changes", "annotation", "table-of-content", "note-citation", "desc", "title":
		return true
	}
	return false
}

func (o *openState) open(e xml.StartElement) {
	switch name := e.Name.Local; name {
	case "style":
		if o.titles[attr(e, "parent-style-name")] {
			o.titles[attr(e, "name")] = true
		}
	case "p", "h":
		if o.inside++; o.inside > 1 {
			o.text.WriteByte(' ')
			return
		}
		o.level = 0
		if name == "h" {
			o.level = number(e, "outline-level", 1, 6)
		} else if o.titles[attr(e, "style-name")] {
			o.level = 1
		}
	case "s", "tab", "line-break":
		o.text.WriteByte(' ')
	case "list":
		o.item++
	case "list-item":
		o.first = true
	case "table":
		o.depth++
	case "table-cell":
		o.wide = number(e, "number-columns-spanned", 1, maxColumns) - 1
	case "covered-table-cell":
		o.down = o.wide == 0
		o.wide = max(0, o.wide-1)
	default:
		if isUnread(name) {
			o.hidden++
		}
	}
}

func (o *openState) shut(name string) {
	switch name {
	case "p", "h":
		if o.inside--; o.inside > 0 {
			o.text.WriteByte(' ')
			return
		}
		if o.depth > 0 {
			o.cell.WriteString(o.text.String() + " ")
		} else if o.first || o.item == 0 {
			o.paragraph(o.text.String(), o.level, o.item, "")
		} else { // one that goes on in an item
			o.paragraph(o.text.String(), o.level, 0, "")
		}
		o.first = false
		o.text.Reset()
	case "list":
		o.item--
	case "table-cell", "covered-table-cell":
		if o.depth == 1 {
			o.endCell()
		}
	case "table-row":
		if o.depth == 1 {
			o.endRow("")
		}
	case "table":
		if o.depth--; o.depth == 0 {
			o.endTable()
		}
	default:
		if isUnread(name) {
			o.hidden--
		}
	}
}
