// SPDX-License-Identifier: Apache-2.0

package office

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Limits of an archive: unpacked bytes of all parts, and their ratio to the bytes of the archive above the
// first megabyte (usual ratios are 10 to 30).
const (
	maxUnpacked = 256 << 20
	maxRatio    = 200
	freePart    = 1 << 20
)

var (
	errBomb      = errors.New("the archive unpacks to far more than its size: left out")
	errEncrypted = errors.New("the file is encrypted: save it without a password or protection")
)

// pack is a ZIP archive of parts, such as an office document, and the document that is written from it.
type pack struct {
	load.Writer
	d       graphrag.Document
	name    string
	parts   map[string]*zip.File
	left    int64    // number of bytes that may still be unpacked
	err     error    // the first error; then nothing more is read
	missing []string // names of kinds of parts that are not read
	met     map[string]bool
}

// archived makes a format of a function that reads an archive.
func archived(read func(*pack)) load.Format {
	return func(name string, data []byte) (*load.File, error) {
		p := &pack{d: graphrag.Document{Fields: graphrag.Fields{}}, name: name, parts: make(map[string]*zip.File), met: make(map[string]bool)}
		p.left = min(maxUnpacked, freePart+maxRatio*int64(len(data)))
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) {
			err = errors.New("the file is encrypted, or of Office 97: save it as DOCX, XLSX or PPTX without a password")
		}
		pictures := false
		if p.err = err; err == nil {
			for _, part := range archive.File {
				p.parts[strings.ReplaceAll(part.Name, `\`, "/")] = part
				pictures = pictures || strings.Contains(part.Name, "media/") || strings.Contains(part.Name, "Pictures/")
			}
			read(p)
		}
		f, err := p.File(name, "¶", p.d)
		if err = cmp.Or(p.err, err); err != nil {
			return nil, fmt.Errorf("load: %s: %w", name, err)
		}
		switch {
		case p.Empty() && pictures:
			f.Problem = fmt.Errorf("load: %s is read, but there is no text in it: its pictures need text recognition", name)
		case len(p.missing) > 0:
			slices.Sort(p.missing)
			f.Problem = load.Partial{Name: name, Without: strings.Join(slices.Compact(p.missing), ", ")}
		}
		return f, nil
	}
}

// aside matches the names of parts that have text and are not read.
var aside = regexp.MustCompile(`charts/chart|comments|diagrams/data|footer\d|header\d`)

// unread names the content that is not read, by the names of elements and of parts.
var unread = map[string]string{
	"annotation": "comments", "note": "footnotes", "footnoteReference": "footnotes", "endnoteReference": "endnotes", "object": "objects",
	"charts/chart": "charts", "comments": "comments", "diagrams/data": "diagrams", "header": "headers", "footer": "footers",
}

// leaves lists in missing the content that is not read.
func (p *pack) leaves() {
	if p.err != nil {
		return
	}
	for name := range p.parts {
		kind := strings.TrimRight(aside.FindString(name), "0123456789")
		text := func(e *element) { p.met[kind] = p.met[kind] || strings.TrimSpace(e.all()) != "" }
		if kind != "" {
			p.each(name, handlers{"t": text, "v": text, "text": text})
			p.err = nil // an error would depend on the order of the map
		}
	}
	for name := range p.met {
		if p.met[name] && unread[name] != "" {
			p.missing = append(p.missing, unread[name])
		}
	}
}

func (p *pack) fail(err error) { p.err = cmp.Or(p.err, err) }

// part calls read with the content of a part, unless there was an error, within the limits of the archive.
func (p *pack) part(name string, read func(io.Reader) error) {
	part := p.parts[name]
	switch {
	case part == nil:
		p.fail(fmt.Errorf("the archive has no part %.80q", name))
	case part.Flags&1 != 0:
		p.fail(errEncrypted)
	}
	if p.err != nil {
		return
	}
	r, err := part.Open()
	if err == nil {
		defer r.Close()
		err = read(unpacked{r, p})
	}
	if err != nil {
		p.fail(fmt.Errorf("part %.80q: %w", name, err))
	}
}

type unpacked struct {
	io.Reader
	p *pack
}

func (u unpacked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if u.p.left -= int64(n); u.p.left < 0 {
		err = errBomb
	}
	return n, err
}

// read returns the text of a part, which is read as a file named as: a page, a text or a message.
func (p *pack) read(name, as string) (text string) {
	p.part(name, func(r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		f, err := load.Options{Formats: map[string]load.Format{".mht": mailFile}}.Read(as, data)
		if err == nil {
			text = f.Document.Text
		}
		return err
	})
	return text
}

// relations returns the names of the parts to which a part refers, by "#" and the ID of the relationship, and
// by the kind ("styles") for the first of each kind. References out of the archive are left out.
func (p *pack) relations(name string) map[string]string {
	of := make(map[string]string)
	dir, base := path.Split(name)
	p.optional(dir+"_rels/"+base+".rels", handlers{"Relationship": func(e *element) {
		if e.attr("TargetMode") == "External" {
			return
		}
		to := strings.ReplaceAll(e.attr("Target"), `\`, "/")
		if !strings.HasPrefix(to, "/") {
			to = dir + to
		}
		to = path.Join("/", to)[1:]
		of["#"+e.attr("Id")] = to
		if kind := path.Base(e.attr("Type")); of[kind] == "" {
			of[kind] = to
		}
	}})
	return of
}

// main returns the first part of an office document and its relations, and reads the fields of the document.
func (p *pack) main(usual string) (string, map[string]string) {
	if to := p.relations("")["officeDocument"]; p.parts[to] != nil {
		usual = to
	}
	p.properties("docProps/core.xml", nil)
	return usual, p.relations(usual)
}

// fieldNames maps elements of metadata to fields (Dublin Core, ECMA-376 part 2).
var fieldNames = map[string]string{
	"title": "title", "creator": "author", "subject": "subject", "description": "description", "keywords": "keywords", "category": "category",
	"publisher": "publisher", "language": "language", "date": "date", "created": "created", "modified": "edited",
}

// maxAuthors limits the length of the field author, which joins all names, in bytes.
const maxAuthors = 400

// properties reads metadata as fields; names takes precedence over fieldNames.
func (p *pack) properties(part string, names map[string]string) {
	of := handlers{}
	for _, table := range []map[string]string{fieldNames, names} {
		for name, field := range table {
			of[name] = func(e *element) { p.field(field, display.Single(e.all())) }
		}
	}
	p.optional(part, of)
}

func (p *pack) field(name, value string) {
	old, twice := p.d.Fields[name]
	switch {
	case name == "" || value == "":
	case name == "keywords":
		list, _ := old.([]string)
		for key := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
			if key = strings.TrimSpace(key); key != "" {
				list = append(list, key)
			}
		}
		p.d.Fields[name] = list
	case name == "date" || name == "created" || name == "edited":
		p.d.Fields[name] = value
		if t, ok := graphrag.ParseTime(value); ok {
			p.d.Fields[name] = t
		}
	case twice && name == "author" && len(old.(string)) < maxAuthors:
		p.d.Fields[name] = old.(string) + "; " + value
	case !twice:
		p.d.Fields[name] = value
		if name == "title" {
			p.d.Title = value
		}
	}
}

// ebook reads an EPUB file (W3C EPUB 3): its pages in reading order, without the table of contents. A place is
// the heading of a page and the paragraph under it.
func ebook(p *pack) {
	root, locked := "", false
	p.each("META-INF/container.xml", handlers{"rootfile": func(e *element) { root = cmp.Or(root, e.attr("full-path")) }})
	p.optional("META-INF/encryption.xml", handlers{"EncryptionMethod": func(e *element) {
		by := e.attr("Algorithm") // pages are readable if only fonts are encrypted
		locked = locked || !strings.HasPrefix(by, "http://www.idpf.org/2008/embedding") && !strings.HasPrefix(by, "http://ns.adobe.com/pdf/enc")
	}})
	if locked {
		p.fail(errEncrypted)
	}
	p.properties(root, map[string]string{"subject": "keywords"})
	pages := make(map[string]string)
	var spine []string
	p.each(root, handlers{
		"item": func(e *element) {
			href, err := url.PathUnescape(strings.SplitN(e.attr("href"), "#", 2)[0])
			if err == nil && !strings.Contains(" "+e.attr("properties")+" ", " nav ") {
				pages[e.attr("id")] = path.Join("/", path.Dir(root), href)[1:]
			}
		},
		"itemref": func(e *element) { spine = append(spine, pages[e.attr("idref")]) },
	})
	for _, name := range spine {
		if p.parts[name] != nil && p.err == nil {
			p.page(name)
		}
	}
	if p.Empty() {
		p.fail(errors.New("no page of the book has text"))
	}
}

// page writes a page of a book.
func (p *pack) page(name string) {
	text, under, n := p.read(name, "page.html"), display.Single(path.Base(name)), 0
	p.Markdown(text, func(at int) string {
		n++
		first, _, _ := strings.Cut(text[at:], "\n")
		if title := strings.TrimLeft(first, "#"); len(title) < len(first) && strings.HasPrefix(title, " ") {
			under = display.Single(load.Plain(strings.Trim(title, "# ")))
		}
		return fmt.Sprintf("%.*s ¶%d", maxPlace, under, n)
	})
	p.fail(p.Err())
}

// Limits of XML: the nesting of elements, and the elements of a paragraph or a row.
const (
	maxNesting  = 256
	maxElements = 1 << 19
)

// element is an XML element with its content. A text is an element without a name. The methods of a nil element
// return the same as for an empty one.
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

// number returns an attribute as a number between least and most; least if it is not a number.
func (e *element) number(name string, least, most int) int {
	n, err := strconv.Atoi(e.attr(name))
	if err != nil {
		return least
	}
	return min(max(n, least), most)
}

// related returns "#" and the attribute r:id, which names a relationship.
func (e *element) related() string {
	for _, a := range e.attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return "#" + a.Value
		}
	}
	return ""
}

// at returns the first descendant on a path of names; nil if there is none.
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

// on reports whether a property is present and not switched off.
func (e *element) on(name string) bool {
	k := e.at(name)
	switch k.attr("val") {
	case "0", "false", "off", "none":
		return false
	}
	return k != nil
}

// find calls f for the outermost elements with one of the names, which are separated and surrounded by blanks.
func (e *element) find(f func(*element), names string) {
	for _, k := range e.kids {
		if k.name != "" && strings.Contains(names, " "+k.name+" ") {
			f(k)
		} else {
			k.find(f, names)
		}
	}
}

// all returns the text of an element and of its descendants.
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

// handlers are called with elements of a name and all their content. A nil handler leaves the element out.
// Handlers of "<name" and "/name" are called where an element begins and where it ends; then handlers are
// called for the elements in it.
type handlers map[string]func(*element)

// leftOut are elements whose content is deleted, repeated elsewhere, a note within the text, or not text.
var leftOut = map[string]bool{
	"del": true, "moveFrom": true, "Fallback": true, "tracked-changes": true, "annotation": true, "table-of-content": true, "note": true,
	"desc": true, "title": true, "scripts": true, "rPh": true, "rt": true, "ruby-text": true, "footnoteReference": true, "endnoteReference": true, "object": true,
}

// each reads a part that is XML. Too deep nesting is an error, and so are entities that the file defines.
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

// scan is the state of each while it reads a part.
type scan struct {
	*xml.Decoder
	handlers
	pack  *pack
	open  []*element // open elements; nil for an element whose content is not collected
	count int
}

// start handles the start of an element.
func (s *scan) start(e *element) error {
	f, known := s.handlers[e.name]
	in := s.open[len(s.open)-1]
	ends := in != nil && strings.HasSuffix(in.name, "rPr") // here "del" means a deleted paragraph mark
	hidden := e.name != "text-properties" && (e.attr("display") == "none" || e.attr("is-hidden") == "true")
	switch {
	case len(s.open) > maxNesting:
		return errors.New("the XML is nested too deep")
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

// end handles the end of an element: it calls the handler unless an outer element is collected.
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

// add adds a child to the innermost open element if its content is collected.
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

// optional is each for a part that may be missing.
func (p *pack) optional(name string, of handlers) {
	if p.parts[name] != nil {
		p.each(name, of)
	}
}
