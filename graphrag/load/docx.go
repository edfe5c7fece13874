// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/xml"
	"path"
	"strconv"
	"strings"
)

// word reads a DOCX file (ECMA-376): paragraphs, headings by the names of their styles, lists and
// tables, without tracked deletions. Line counts paragraphs and rows.
func word(p *pack) error {
	main, of, err := p.main("word/document.xml")
	if err != nil {
		return err
	}
	styles := of["styles"]
	if styles == "" {
		styles = path.Join(path.Dir(main), "styles.xml")
	}
	w := &wordText{pack: p, styles: make(map[string]int)}
	if err := p.optional(styles, elements{open: w.style}); err != nil {
		return err
	}
	return p.scan(main, elements{open: w.open, shut: w.shut, text: func(in, s string) {
		if in == "t" && w.hidden == 0 {
			w.text.WriteString(s)
		}
	}})
}

// wordText is the state of reading a DOCX file.
type wordText struct {
	*pack
	styles map[string]int // levels of headings, by the ID of the style
	of     string         // the style whose definition is read
	hidden int            // depth of what was deleted, or is said twice

	text  strings.Builder // of the paragraph
	level int             // of the heading, 0 for other paragraphs
	item  int             // depth in a list, from 1
}

// style finds the styles of headings, whose names are English in every language.
func (w *wordText) style(e xml.StartElement) {
	switch e.Name.Local {
	case "style":
		w.of = attr(e, "styleId")
	case "name":
		name := strings.ToLower(attr(e, "val"))
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n > 0 {
			w.styles[w.of] = min(n, 6)
		} else if name == "title" {
			w.styles[w.of] = 1
		}
	case "outlineLvl":
		if n := number(e, "val", -1, 9); n >= 0 && n < 6 && w.styles[w.of] == 0 {
			w.styles[w.of] = n + 1
		}
	}
}

func (w *wordText) open(e xml.StartElement) {
	switch e.Name.Local {
	case "del", "moveFrom", "Fallback":
		w.hidden++
	case "pStyle":
		w.level = w.styles[attr(e, "val")]
	case "ilvl":
		w.item = number(e, "val", 0, maxDepth) + 1
	case "tab", "br", "cr":
		w.text.WriteByte(' ')
	case "noBreakHyphen":
		w.text.WriteByte('-')
	case "tbl":
		w.depth++
	case "gridSpan":
		w.span = number(e, "val", 1, maxColumns)
	case "vMerge":
		w.down = attr(e, "val") != "restart"
	}
}

func (w *wordText) shut(name string) {
	switch name {
	case "del", "moveFrom", "Fallback":
		w.hidden--
	case "p":
		if w.depth > 0 {
			w.cell.WriteString(w.text.String() + " ")
		} else {
			w.paragraph(w.text.String(), w.level, w.item, "")
		}
		w.text.Reset()
		w.level, w.item = 0, 0
	case "tc":
		if w.depth == 1 {
			w.endCell()
		}
	case "tr":
		if w.depth == 1 {
			w.endRow("")
		}
	case "tbl":
		if w.depth--; w.depth == 0 {
			w.endTable()
		}
	}
}
