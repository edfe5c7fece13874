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
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Bounds of an archive: the bytes that are unpacked in all, their ratio to the file beyond the
// first megabyte (that of office files is 10 to 30).
const (
	maxUnpacked = 256 << 20
	maxRatio    = 200
	freePart    = 1 << 20
)

var (
	errBomb      = errors.New("unpacks to far more than it is: left out")
	errEncrypted = errors.New("encrypted: save it without a password or protection")
)

// pack is an archive of parts, such as an office document, and the document that is written of it.
type pack struct {
	load.Writer
	d     graphrag.Document
	name  string
	parts map[string]*zip.File
	left  int64 // bytes that may still be unpacked
	err   error // the first one; nothing is read after it
	grids
}

// archived makes a format of archives.
func archived(read func(*pack)) load.Format {
	return func(name string, data []byte) (*load.File, error) {
		p := &pack{d: graphrag.Document{Fields: graphrag.Fields{}}, name: name, parts: make(map[string]*zip.File)}
		p.left = min(maxUnpacked, freePart+maxRatio*int64(len(data)))
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) {
			err = errors.New("encrypted, or of Office 97: save it as DOCX, XLSX or PPTX without a password")
		}
		if p.err = err; err == nil {
			for _, part := range archive.File {
				p.parts[part.Name] = part
			}
			read(p)
		}
		f, err := p.File(name, "¶", p.d)
		if err = cmp.Or(p.err, err); err != nil {
			return nil, fmt.Errorf("load: %s: %w", name, err)
		}
		return f, nil
	}
}

func (p *pack) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// open returns a part, which is read within the bounds of the whole archive; nil after an error.
func (p *pack) open(name string) io.ReadCloser {
	part := p.parts[name]
	switch {
	case part == nil:
		p.fail(fmt.Errorf("there is no %.80q in it", name))
	case part.Flags&1 != 0:
		p.fail(errEncrypted)
	}
	if p.err != nil {
		return nil
	}
	r, err := part.Open()
	if err != nil {
		p.fail(err)
		return nil
	}
	return unpacked{r, p}
}

type unpacked struct {
	io.ReadCloser
	p *pack
}

func (u unpacked) Read(b []byte) (int, error) {
	n, err := u.ReadCloser.Read(b)
	if u.p.left -= int64(n); u.p.left < 0 {
		err = errBomb
	}
	return n, err
}

// elements are called for the elements of a part and the texts in them; in is the innermost element.
type elements struct {
	open func(e xml.StartElement)
	shut func(name string)
	text func(in, s string)
}

// scan reads a part that is XML. What nests too deep is an error, and so are entities of its own.
func (p *pack) scan(name string, of elements) {
	r := p.open(name)
	if r == nil {
		return
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	inside := []string{""}
	for p.err == nil {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			p.fail(fmt.Errorf("%.80q: %w", name, err))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if inside = append(inside, t.Name.Local); len(inside) > 256 {
				p.fail(fmt.Errorf("%.80q: its XML nests too deep", name))
			}
			if of.open != nil {
				of.open(t)
			}
		case xml.EndElement:
			inside = inside[:max(1, len(inside)-1)]
			if of.shut != nil {
				of.shut(t.Name.Local)
			}
		case xml.CharData:
			if of.text != nil {
				of.text(inside[len(inside)-1], string(t))
			}
		}
	}
}

// optional is scan of a part that need not be there.
func (p *pack) optional(name string, of elements) {
	if p.parts[name] != nil {
		p.scan(name, of)
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// number is an attribute within bounds, the lower one if it is none.
func number(e xml.StartElement, name string, least, most int) int {
	n, err := strconv.Atoi(attr(e, name))
	if err != nil {
		return least
	}
	return min(max(n, least), most)
}

// related is the attribute r:id, which names a relationship.
func related(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return "#" + a.Value
		}
	}
	return ""
}

// relations are the parts that a part refers to, by "#" and the ID of the relationship, and the
// first of each kind ("styles"). What is outside of the archive has no name in it.
func (p *pack) relations(name string) map[string]string {
	of := make(map[string]string)
	dir, base := path.Split(name)
	p.optional(dir+"_rels/"+base+".rels", elements{open: func(e xml.StartElement) {
		if e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
			return
		}
		to := attr(e, "Target")
		if !strings.HasPrefix(to, "/") {
			to = dir + to
		}
		to = path.Join("/", to)[1:]
		of["#"+attr(e, "Id")] = to
		if kind := path.Base(attr(e, "Type")); of[kind] == "" {
			of[kind] = to
		}
	}})
	return of
}

// main is the part that an office document begins with, with its relations and the fields of the document.
func (p *pack) main(usual string) (string, map[string]string) {
	if to := p.relations("")["officeDocument"]; p.parts[to] != nil {
		usual = to
	}
	p.properties("docProps/core.xml", nil)
	return usual, p.relations(usual)
}

// maxColumns bounds the columns that a cell of a table covers.
const maxColumns = 128

// grids is the table that is being read.
type grids struct {
	depth int // of tables in tables, which are text of the cells
	cell  strings.Builder
	span  int  // columns of the cell
	down  bool // it continues the cell above
	cells []string
	lines []load.Line
}

// endCell ends a cell. What is merged stands in its first column, and in each of its rows.
func (p *pack) endCell() {
	text := load.Single(p.cell.String())
	if n := len(p.cells); p.down && text == "" && len(p.lines) > 0 && n < len(p.lines[len(p.lines)-1].Cells) {
		text = p.lines[len(p.lines)-1].Cells[n]
	}
	p.cells = append(p.cells, text)
	for i := 1; i < p.span && len(p.cells) < maxColumns; i++ {
		p.cells = append(p.cells, "")
	}
	p.cell.Reset()
	p.span, p.down = 1, false
}

func (p *pack) endRow(place string) {
	if p.room(len(p.cells)) && len(p.cells) > 0 {
		p.lines = append(p.lines, load.Line{Cells: slices.Clone(p.cells), Place: place})
	}
	p.cells = p.cells[:0]
}

// room reports whether there is room for more cells, and no error.
func (p *pack) room(cells int) bool {
	if !p.Room(cells) {
		p.fail(p.Err())
	}
	return p.err == nil
}

// endTable writes the table under its first row.
func (p *pack) endTable() {
	if len(p.lines) > 0 {
		p.Table(p.lines[0], p.lines[1:])
	}
	p.lines = nil
}
