// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Limits of a written document: bytes of its text, cells of its tables.
const (
	maxText  = 64 << 20
	maxSlots = 4 << 20
)

var errLong = errors.New("the document has more than 64 MiB of text or 4 million cells: split it")

// A Writer writes a document as Markdown, block by block, each with its place in the file; readers of formats
// use it. After more than 64 MiB of text or 4 million cells it writes nothing more.
type Writer struct {
	writer
	slots int // number of cells so far
	marks []int
	names []string
}

// Line is a row of a table and its place in the file.
type Line struct {
	Cells []string
	Place string
}

// HasNumbers reports whether a cell is a number other than a year, so that the row is not a header.
func (l Line) HasNumbers() bool {
	return slices.ContainsFunc(l.Cells, func(c string) bool { return isNumber(c) && !isYear(c) })
}

// Err returns an error if the document is too long.
func (w *Writer) Err() error {
	if w.out.Len() > maxText || w.slots > maxSlots {
		return errLong
	}
	return nil
}

// full reports whether text of more bytes exceeds the limits.
func (w *Writer) full(more int) bool {
	if w.out.Len()+more > maxText {
		w.slots = maxSlots + 1
	}
	return w.Err() != nil
}

// Room counts cells that are read before their table is written, and reports whether they are allowed.
func (w *Writer) Room(cells int) bool {
	w.slots += cells
	return !w.full(0)
}

// Empty reports whether nothing was written.
func (w *Writer) Empty() bool { return w.out.Len() == 0 }

// mark records the place of the block at an offset of the text; "" is the number of the block.
func (w *Writer) mark(at int, place string) {
	w.marks = append(w.marks, at)
	if place != "" {
		w.names = append(w.names, place)
	}
}

// Heading writes a heading of a level from 1.
func (w *Writer) Heading(level int, text, place string) {
	w.block(strings.Repeat("#", min(level, 6))+" ", text, place, false)
}

// Paragraph writes a paragraph.
func (w *Writer) Paragraph(text, place string) { w.block("", text, place, false) }

// Item writes an item of a list after a mark such as "-" or "2."; the outermost depth is 1.
func (w *Writer) Item(depth int, mark, text, place string) {
	w.block(strings.Repeat("    ", min(depth, maxDepth/4)-1)+mark+" ", text, place, true)
}

func (w *Writer) block(prefix, text, place string, item bool) {
	if text = display.Single(text); strings.HasPrefix(prefix, "#") {
		text = Inline(text)
	} else {
		text = escapeLine(text)
	}
	if text == "" || w.full(len(text)) {
		return
	}
	if !item {
		w.blank()
	}
	w.mark(w.out.Len(), place)
	w.add(prefix+text+"\n", w.out.Len())
	if !item {
		w.out.WriteByte('\n')
	}
}

// Markdown writes a text that is Markdown. place returns the place of the paragraph at an offset of text.
func (w *Writer) Markdown(text string, place func(at int) string) {
	if text = strings.TrimRight(text, "\n"); text == "" || w.full(len(text)) {
		return
	}
	text += "\n"
	w.blank()
	empty := true
	for at, line := range eachLine(text) {
		blank := strings.TrimSpace(line) == ""
		if empty && !blank {
			w.mark(w.out.Len()+at, place(at))
		}
		empty = blank
	}
	w.add(text, w.out.Len())
	w.out.WriteString(openFence(text))
}

// Code writes code between fences.
func (w *Writer) Code(source, language, place string) {
	if source != "" && !w.full(len(source)) {
		w.blank()
		w.mark(w.out.Len(), place)
		mark := strings.TrimSpace(fenceOf(source))
		w.out.WriteString(mark + language + "\n" + source + "\n" + mark + "\n")
	}
}

// Table writes rows under a header, and repeats the header in long tables. If the header is too wide, each row
// becomes a list.
func (w *Writer) Table(header Line, rows []Line) {
	width := len(header.Cells)
	for _, l := range rows {
		width = max(width, len(l.Cells))
	}
	size := func(l Line) int {
		n := 3 * min(width, maxColumns)
		for _, c := range l.Cells {
			n += len(c) + 3
		}
		return n
	}
	g := &grid{w: &w.writer, header: append(slices.Clone(header.Cells), make([]string, width-len(header.Cells))...)}
	wide := !narrow(g.header)
	if wide && len(rows) == 0 { // a header without rows
		rows = []Line{header}
	}
	w.blank()
	g.labels = maxLabels * size(header)
	if !wide && !w.full(size(header)) {
		w.mark(w.out.Len(), header.Place)
		g.head(nil)
	}
	for _, l := range rows {
		if w.full(size(l)) {
			return
		}
		g.labels += maxLabels * size(l)
		if wide {
			w.blank()
		}
		w.mark(w.out.Len(), l.Place)
		g.row(l.Cells, nil)
	}
	w.blank()
}

// File returns the written document as the file name, with the title and the fields of d. A place without a
// name is unit and the number of the block.
func (w *Writer) File(name, unit string, d graphrag.Document) (*File, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	f := &File{Document: d, in: layout{Unit: unit, Lines: w.marks, Places: w.names}}
	f.Document.Text = w.out.String()
	f.finish(name, f.Document.Text)
	return f, nil
}
