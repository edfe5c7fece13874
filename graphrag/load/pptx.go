// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// slides reads a PPTX file (ECMA-376): a section for each slide that is not hidden, in the order of
// the presentation, under its title, with its notes at the end.
func slides(p *pack) error {
	main, of, err := p.main("ppt/presentation.xml")
	if err != nil {
		return err
	}
	var parts []string
	err = p.scan(main, elements{open: func(e xml.StartElement) {
		if e.Name.Local == "sldId" {
			parts = append(parts, of[related(e)])
		}
	}})
	for i, part := range parts {
		if err == nil {
			err = p.slide(part, i+1)
		}
	}
	return err
}

// shape is a paragraph or a table of a slide.
type shape struct {
	text  string
	item  int // depth in a list, from 1
	lines []line
}

// slideText is the state of reading a slide or its notes.
type slideText struct {
	*pack
	place  string
	title  string
	shapes []shape
	hidden bool // the slide
	twice  int  // depth of what is said twice

	holder string // kind of the placeholder, "" outside of one
	item   int
	text   strings.Builder
}

func (p *pack) slide(part string, n int) error {
	s := &slideText{pack: p, place: fmt.Sprintf("slide %d", n)}
	if err := s.read(part); err != nil || s.hidden {
		return err
	}
	of, err := p.relations(part)
	if err != nil {
		return err
	}
	notes := &slideText{pack: p}
	if of["notesSlide"] != "" {
		err = notes.read(of["notesSlide"])
	}
	if s.title != "" && len(p.f.lines) == 0 { // that of the metadata is often the program's
		p.f.Document.Title = s.title
	}
	if s.title == "" {
		s.title = fmt.Sprintf("Slide %d", n)
	}
	p.paragraph(s.title, 2, 0, s.place)
	for _, x := range s.shapes {
		p.paragraph(x.text, 0, x.item, s.place)
		p.lines = x.lines
		p.endTable()
	}
	label := "Notes: "
	for _, x := range notes.shapes {
		if x.lines == nil && x.text != "" {
			p.paragraph(label+x.text, 0, 0, s.place)
			label = ""
		}
	}
	return err
}

func (s *slideText) read(part string) error {
	return s.scan(part, elements{open: s.open, shut: s.shut, text: func(in, text string) {
		if in == "t" && s.twice == 0 {
			s.text.WriteString(text)
		}
	}})
}

func (s *slideText) open(e xml.StartElement) {
	switch e.Name.Local {
	case "sld":
		s.hidden = attr(e, "show") == "0"
	case "Fallback":
		s.twice++
	case "sp":
		s.holder = ""
	case "ph":
		if s.holder = attr(e, "type"); s.holder == "" {
			s.holder = "body"
		}
	case "p":
		s.item = 0
		if s.holder == "body" {
			s.item = 1
		}
	case "pPr":
		if s.item > 0 {
			s.item += number(e, "lvl", 0, maxDepth)
		}
	case "buNone":
		s.item = 0
	case "br", "tab":
		s.text.WriteByte(' ')
	case "tbl":
		s.depth++
	case "tc":
		s.span, s.down = 1, attr(e, "vMerge") == "1"
	}
}

func (s *slideText) shut(name string) {
	switch name {
	case "Fallback":
		s.twice--
	case "p":
		text := single(s.text.String())
		s.text.Reset()
		switch {
		case s.depth > 0:
			s.cell.WriteString(text + " ")
		case (s.holder == "title" || s.holder == "ctrTitle") && len(s.title) < maxTitle:
			s.title = single(s.title + " " + text)
		case s.holder != "sldNum" && s.holder != "dt" && s.holder != "ftr" && s.holder != "hdr":
			s.shapes = append(s.shapes, shape{text: text, item: s.item})
		}
	case "tc":
		s.endCell()
	case "tr":
		s.endRow(s.place)
	case "tbl":
		if s.depth--; s.depth == 0 {
			s.shapes = append(s.shapes, shape{lines: s.lines})
			s.lines = nil
		}
	}
}
