// SPDX-License-Identifier: Apache-2.0

package load

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of an archive: the unpacked size of a part, and its ratio to the packed size beyond the
// first megabyte. The ratio of office files is 10 to 30.
const (
	maxPart  = 128 << 20
	maxRatio = 200
	freePart = 1 << 20
)

var errBomb = errors.New("unpacks to far more than it is: left out")

// wordFile reads a DOCX file (ECMA-376): paragraphs, headings by the names of their styles, lists and
// tables, without tracked deletions. Line counts paragraphs.
func wordFile(name string, data []byte) (*File, error) {
	fail := func(err error) (*File, error) { return nil, fmt.Errorf("load: %s: %w", name, err) }
	if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) {
		return fail(errors.New("encrypted, or of Word 97: save it as DOCX without a password"))
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fail(err)
	}
	w := &word{f: &File{unit: "¶"}, styles: make(map[string]int)}
	for _, part := range []struct {
		name string
		read func(*xml.Decoder) error
		must bool
	}{
		{"word/styles.xml", w.readStyles, false},
		{"docProps/core.xml", w.readTitle, false},
		{"word/document.xml", w.readBody, true},
	} {
		content, err := unpack(archive, part.name)
		if err == nil && content != nil {
			err = part.read(xml.NewDecoder(bytes.NewReader(content)))
		}
		if err == nil && content == nil && part.must {
			err = errors.New("there is no " + part.name + " in it")
		}
		if err != nil {
			return fail(err)
		}
	}
	w.f.Document.Text = w.out.String()
	w.f.finish(name, w.f.Document.Text)
	return w.f, nil
}

// unpack returns a part of an archive, nil if it has none of that name.
func unpack(archive *zip.Reader, name string) ([]byte, error) {
	for _, part := range archive.File {
		if part.Name != name {
			continue
		}
		limit := min(maxPart, freePart+maxRatio*min(int64(part.CompressedSize64), maxPart))
		r, err := part.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		content, err := io.ReadAll(io.LimitReader(r, limit+1))
		if err == nil && int64(len(content)) > limit {
			err = errBomb
		}
		return content, err
	}
	return nil, nil
}

// word is the state of reading a DOCX file.
type word struct {
	f      *File
	out    strings.Builder
	styles map[string]int // levels of headings, by the ID of the style

	text  strings.Builder // of the paragraph
	level int             // of the heading, 0 for other paragraphs
	item  int             // depth in a list, from 1
	table int             // nesting depth of tables
	cell  strings.Builder
	cells []string
	rows  int
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// each calls open and closed for elements, and text for the content of w:t.
func each(d *xml.Decoder, open func(xml.StartElement), closed func(string), text func(string)) error {
	inText := false
	for depth := 0; ; {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > 256 {
				return errors.New("its XML nests too deep")
			}
			inText = t.Name.Local == "t" || t.Name.Space == "dc"
			open(t)
		case xml.EndElement:
			depth--
			inText = false
			closed(t.Name.Local)
		case xml.CharData:
			if inText {
				text(string(t))
			}
		}
	}
}

// readStyles finds the styles of headings, whose names are English in every language.
func (w *word) readStyles(d *xml.Decoder) error {
	id := ""
	return each(d, func(e xml.StartElement) {
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
		case "name":
			name := strings.ToLower(attr(e, "val"))
			if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n > 0 {
				w.styles[id] = min(n, 6)
			} else if name == "title" {
				w.styles[id] = 1
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(attr(e, "val")); err == nil && n >= 0 && n < 6 && w.styles[id] == 0 {
				w.styles[id] = n + 1
			}
		}
	}, func(string) {}, func(string) {})
}

func (w *word) readTitle(d *xml.Decoder) error {
	inTitle := false
	return each(d, func(e xml.StartElement) { inTitle = e.Name.Local == "title" }, func(string) { inTitle = false }, func(s string) {
		if inTitle {
			w.f.Document.Title = strings.Join(strings.Fields(s), " ")
		}
	})
}

func (w *word) readBody(d *xml.Decoder) error {
	deleted := 0
	return each(d, func(e xml.StartElement) {
		switch e.Name.Local {
		case "del", "moveFrom":
			deleted++
		case "pStyle":
			w.level = w.styles[attr(e, "val")]
		case "ilvl":
			if n, err := strconv.Atoi(attr(e, "val")); err == nil {
				w.item = min(max(n, 0), maxDepth/4) + 1
			}
		case "tab", "br", "cr":
			w.text.WriteByte(' ')
		case "noBreakHyphen":
			w.text.WriteByte('-')
		case "tbl":
			w.table++
		}
	}, func(name string) {
		switch name {
		case "del", "moveFrom":
			deleted--
		case "p":
			w.paragraph()
		case "tc":
			if w.table == 1 {
				w.cells = append(w.cells, w.cell.String())
				w.cell.Reset()
			}
		case "tr":
			if w.table == 1 {
				w.row()
			}
		case "tbl":
			if w.table--; w.table == 0 && w.rows > 0 {
				w.out.WriteByte('\n')
				w.rows = 0
			}
		}
	}, func(s string) {
		if deleted == 0 {
			w.text.WriteString(s)
		}
	})
}

// paragraph ends a paragraph. In a table its text is added to the cell.
func (w *word) paragraph() {
	text := strings.Join(strings.Fields(w.text.String()), " ")
	level, item := w.level, w.item
	w.text.Reset()
	w.level, w.item = 0, 0
	switch {
	case text == "":
		return
	case w.table > 0:
		w.cell.WriteString(text + " ")
		return
	}
	w.f.lines = append(w.f.lines, w.out.Len())
	switch {
	case level > 0:
		text = strings.Repeat("#", level) + " " + text + "\n"
	case item > 0:
		text = strings.Repeat("    ", item-1) + "- " + text
	default:
		text += "\n"
	}
	w.out.WriteString(text + "\n")
}

// row ends a row of a table. The first row is the header.
func (w *word) row() {
	if len(w.cells) > 0 {
		w.f.lines = append(w.f.lines, w.out.Len())
		for _, c := range w.cells {
			w.out.WriteString("| " + cellText(c) + " ")
		}
		w.out.WriteString("|\n")
		if w.rows == 0 {
			w.out.WriteString("|" + strings.Repeat("---|", len(w.cells)) + "\n")
		}
		w.rows++
	}
	w.cells = w.cells[:0]
}
