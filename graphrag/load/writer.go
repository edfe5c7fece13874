// SPDX-License-Identifier: Apache-2.0

package load

import "strings"

// writer writes the text of a document as Markdown, and where each piece of it stands
// in the file.
type writer struct {
	out     strings.Builder
	anchors anchors
}

// add writes a piece that stands at an offset of the file.
func (w *writer) add(s string, at int) {
	w.anchors.add(w.out.Len(), at)
	w.out.WriteString(s)
}

// blank ends a paragraph.
func (w *writer) blank() {
	switch s := w.out.String(); {
	case s == "", strings.HasSuffix(s, "\n\n"):
	case strings.HasSuffix(s, "\n"):
		w.out.WriteByte('\n')
	default:
		w.out.WriteString("\n\n")
	}
}

func (w *writer) file(name, source string) *File {
	f := &File{anchors: w.anchors}
	f.Document.Text = w.out.String()
	f.finish(name, source)
	return f
}

// maxHeader is the longest header of a table that Lead finds again, and headerEvery how
// far behind it rows may stand before it is written anew, in bytes.
const (
	maxHeader   = 3 * maxLine / 2
	headerEvery = maxBack / 4
)

// grid writes a table.
type grid struct {
	w      *writer
	header []string
	at     []int // where the header stands; nil is before the first row
	began  int   // where the header was last written
	rows   int
}

// row writes one row; at says where the cells stand.
func (g *grid) row(cells []string, at []int) {
	if g.rows == 0 || g.w.out.Len()-g.began > headerEvery {
		g.w.blank()
		g.began = g.w.out.Len()
		if g.at == nil {
			g.at = at[:1]
		}
		g.line(g.header, func(i int) int { return g.at[min(i, len(g.at)-1)] })
		g.at = nil
		g.w.out.WriteString("|" + strings.Repeat("---|", len(g.header)) + "\n")
	}
	g.rows++
	g.line(cells, func(i int) int { return at[min(i, len(at)-1)] })
}

func (g *grid) line(cells []string, at func(int) int) {
	g.w.add("|", at(0))
	for i := range g.header {
		cell := ""
		if i < len(cells) {
			cell = cellText(cells[i])
		}
		g.w.out.WriteByte(' ')
		g.w.add(cell, at(i))
		g.w.out.WriteString(" |")
	}
	g.w.out.WriteByte('\n')
}

var inCell = strings.NewReplacer(`\`, `\\`, "|", `\|`)

// cellText is a text as it stands in a cell: on one line, without bars.
func cellText(s string) string { return inCell.Replace(strings.Join(strings.Fields(s), " ")) }

// narrow tells whether a header can stand before rows: Markdown's tables have as many
// columns, and Lead finds it again.
func narrow(header []string) bool {
	size := 0
	for _, h := range header {
		size += len(cellText(h)) + len(" | ---|")
	}
	return len(header) <= maxColumns && size <= maxHeader
}
