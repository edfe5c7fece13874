// SPDX-License-Identifier: Apache-2.0

package office

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
)

// Bounds of XML: how deep elements nest, and how many a paragraph or a row has.
const (
	maxNesting  = 256
	maxElements = 1 << 19
)

// element is an element of XML with what is in it; a text has no name. Methods of nil are those
// of an empty element.
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
			return nil
		}
		var next *element
		for _, k := range e.kids {
			if k.name == name && next == nil {
				next = k
			}
		}
		e = next
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

// find calls f for the outermost elements of some names.
func (e *element) find(f func(*element), names ...string) {
	if e == nil {
		return
	}
	for _, k := range e.kids {
		if strings.Contains(" "+strings.Join(names, " ")+" ", " "+k.name+" ") && k.name != "" {
			f(k)
		} else {
			k.find(f, names...)
		}
	}
}

// all is the text of an element.
func (e *element) all() string {
	if e == nil {
		return ""
	}
	if len(e.kids) == 1 && e.kids[0].name == "" {
		return e.kids[0].text
	}
	var b strings.Builder
	b.WriteString(e.text)
	for _, k := range e.kids {
		b.WriteString(k.all())
	}
	return b.String()
}

// handlers are called for elements of a name with all that is in them. One that is nil leaves the
// element out; those of "<name" and "/name" are called where an element begins and ends
// whose content is gone through.
type handlers map[string]func(*element)

// leftOut are elements that are deleted, said twice, a note between the words, or no text.
var leftOut = map[string]bool{
	"del": true, "moveFrom": true, "Fallback": true, "tracked-changes": true, "annotation": true, "table-of-content": true, "note": true,
	"desc": true, "title": true, "scripts": true, "rPh": true, "rt": true, "ruby-text": true, "footnoteReference": true, "endnoteReference": true,
}

// each reads a part that is XML. What nests too deep is an error, and so are entities of its own.
func (p *pack) each(name string, of handlers) {
	r := p.open(name)
	if r == nil {
		return
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	s := &scan{handlers: of, met: p.met}
	for p.err == nil {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = s.start(t)
		case xml.EndElement:
			s.end(t.Name.Local)
		case xml.CharData:
			if s.skip == 0 && len(s.open) > 0 {
				err = s.add(&element{text: string(t)})
			}
		}
		if err != nil {
			p.fail(fmt.Errorf("%.80q: %w", name, err))
		}
	}
}

// scan is the state of each.
type scan struct {
	handlers
	met   map[string]bool // what was left out
	open  []*element      // of the one that is handed over at its end
	depth int
	skip  int // depth of the one that is left out
	count int
}

func (s *scan) start(t xml.StartElement) error {
	if s.depth++; s.depth > maxNesting {
		return errors.New("its XML nests too deep")
	}
	if s.skip > 0 {
		return nil
	}
	e := &element{name: t.Name.Local, attrs: t.Attr}
	f, known := s.handlers[e.name]
	switch {
	case known && f == nil, !known && leftOut[e.name]:
		s.skip, s.met[e.name] = s.depth, true
	case len(s.open) > 0 || known:
		err := s.add(e)
		s.open = append(s.open, e)
		return err
	case s.handlers["<"+e.name] != nil:
		s.handlers["<"+e.name](e)
	}
	return nil
}

// add adds to the innermost open element.
func (s *scan) add(e *element) error {
	if n := len(s.open); n > 0 {
		s.open[n-1].kids = append(s.open[n-1].kids, e)
	}
	if s.count++; s.count > maxElements {
		return errors.New("a paragraph or a row has too many elements")
	}
	return nil
}

func (s *scan) end(name string) {
	switch n := len(s.open); {
	case s.skip > 0:
		if s.skip == s.depth {
			s.skip = 0
		}
	case n > 0:
		e := s.open[n-1]
		if s.open = s.open[:n-1]; n == 1 {
			s.count = 0
			s.handlers[e.name](e)
		}
	case s.handlers["/"+name] != nil:
		s.handlers["/"+name](nil)
	}
	s.depth = max(0, s.depth-1)
}

// optional is each of a part that need not be there.
func (p *pack) optional(name string, of handlers) {
	if p.parts[name] != nil {
		p.each(name, of)
	}
}
