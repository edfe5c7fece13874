// SPDX-License-Identifier: Apache-2.0

package office

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
)

// Bounds of XML: how deep elements nest, and how many a paragraph or a row has.
const (
	maxNesting  = 256
	maxElements = 1 << 19
)

// element is an element of XML with its content; a text has no name. Methods of nil are as of an empty one.
type element struct {
	name, text string
	attrs      []xml.Attr
	kids       []*element
}

func (e *element) attr(name string) string {
	if e != nil {
		for _, a := range e.attrs {
			if a.Name.Local == name {
				return a.Value
			}
		}
	}
	return ""
}

// number is an attribute within bounds, the lower one if it is none.
func (e *element) number(name string, least, most int) int {
	n, err := strconv.Atoi(e.attr(name))
	if err != nil {
		return least
	}
	return min(max(n, least), most)
}

// related is the attribute r:id, which names a relationship.
func (e *element) related() string {
	for _, a := range e.attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return "#" + a.Value
		}
	}
	return ""
}

// at is the first element on a path of names; nil if there is none.
func (e *element) at(path ...string) *element {
	for _, name := range path {
		if e == nil {
			break
		}
		i := slices.IndexFunc(e.kids, func(k *element) bool { return k.name == name })
		if i < 0 {
			return nil
		}
		e = e.kids[i]
	}
	return e
}

// on reports whether a property is there and not switched off.
func (e *element) on(name string) bool {
	k := e.at(name)
	switch k.attr("val") {
	case "0", "false", "off", "none":
		return false
	}
	return k != nil
}

// find calls f for the outermost elements of some names, with blanks around each.
func (e *element) find(f func(*element), names string) {
	for _, k := range e.kids {
		if k.name != "" && strings.Contains(names, " "+k.name+" ") {
			f(k)
		} else {
			k.find(f, names)
		}
	}
}

// all is the text of an element.
func (e *element) all() string {
	if e == nil {
		return ""
	}
	parts := []string{e.text}
	for _, k := range e.kids {
		parts = append(parts, k.all())
	}
	return strings.Join(parts, "")
}

// handlers are called for elements, nil leaves them out; "<name" and "/name" are at the ends, others within.
type handlers map[string]func(*element)

// leftOut are elements that are deleted, said twice, a note between the words, or no text.
var leftOut = map[string]bool{
	"del": true, "moveFrom": true, "Fallback": true, "tracked-changes": true, "annotation": true, "table-of-content": true, "note": true,
	"desc": true, "title": true, "scripts": true, "rPh": true, "rt": true, "ruby-text": true, "footnoteReference": true, "endnoteReference": true, "object": true,
}

// each reads a part that is XML. What nests too deep is an error, and so are entities of its own.
func (p *pack) each(name string, of handlers) {
	p.part(name, func(r io.Reader) error {
		s := &scan{Decoder: xml.NewDecoder(r), handlers: of, pack: p, open: []*element{nil}}
		s.CharsetReader = charset.NewReaderLabel
		for p.err == nil {
			t, err := s.Token()
			switch t := t.(type) {
			case xml.StartElement:
				err = s.start(&element{name: t.Name.Local, attrs: t.Attr})
			case xml.EndElement:
				s.end(t.Name.Local)
			case xml.CharData:
				err = s.add(&element{text: string(t)})
			}
			if errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
		return nil
	})
}

// scan is the state of each.
type scan struct {
	*xml.Decoder
	handlers
	pack  *pack
	open  []*element // nil for one that is gone through
	count int
}

// start begins an element.
func (s *scan) start(e *element) error {
	f, known := s.handlers[e.name]
	in := s.open[len(s.open)-1]
	ends := in != nil && strings.HasSuffix(in.name, "rPr") // the end of a paragraph or a row is deleted
	hidden := e.name != "text-properties" && (e.attr("display") == "none" || e.attr("is-hidden") == "true")
	switch {
	case len(s.open) > maxNesting:
		return errors.New("its XML nests too deep")
	case known && f == nil, !known && (hidden || leftOut[e.name] && !ends):
		s.pack.met[e.name] = true
		return s.Skip()
	case in == nil && !known:
		if f := s.handlers["<"+e.name]; f != nil {
			f(e)
		}
		e = nil
	}
	err := s.add(e)
	s.open = append(s.open, e)
	return err
}

// end ends an element, and hands it over unless it is in another one.
func (s *scan) end(name string) {
	last := len(s.open) - 1
	e := s.open[last]
	s.open = s.open[:last]
	if e == nil {
		name = "/" + name
	}
	if f := s.handlers[name]; f != nil && s.open[last-1] == nil {
		s.count = 0
		f(e)
	}
}

// add adds to an element that is handed over with all that is in it.
func (s *scan) add(k *element) error {
	if e := s.open[len(s.open)-1]; e != nil {
		e.kids = append(e.kids, k)
		s.count++
	}
	if s.count > maxElements {
		return errors.New("a paragraph or a row has too many elements")
	}
	return nil
}

// optional is each of a part that need not be there.
func (p *pack) optional(name string, of handlers) {
	if p.parts[name] != nil {
		p.each(name, of)
	}
}
