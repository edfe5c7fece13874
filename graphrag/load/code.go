// SPDX-License-Identifier: Apache-2.0

package load

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

const fence = "```\n"

// codeExtensions are the extensions of source code and configuration, which are read line by line.
const codeExtensions = ".go .py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx .hpp .hh .cs .rs .swift .m .mm " +
	".rb .php .pl .pm .lua .r .jl .ex .exs .erl .hs .ml .fs .clj .el .lisp .dart .zig .nim .sh .bash .zsh .fish .ps1 .bat .sql .proto .graphql " +
	".css .scss .vue .svelte .tf .cmake .mk .gradle .yaml .yml .toml .ini .cfg .conf .properties .xml .tex"

var definition = regexp.MustCompile(`^(?i:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|abstract|final|async|unsafe|override|create(?: or replace)?) +)*` +
	`(?i:func|fn|fun|def|defn|defp|defmodule|class|struct|enum|interface|trait|impl|type|function|module|namespace|object|record|protocol|message|service|table|view|procedure)\b.*`)

// codeFile reads source code: each definition at the start of a line begins a section, which includes the
// comment before it; the line is its heading.
func codeFile(name, source string) *File {
	if strings.Count(source, "\n") > maxLines {
		return Markdown(name, source)
	}
	w := &writer{}
	begin, comment := 0, -1 // offset of the section, offset of the comment before the line
	heading := func() {}    // writes the heading of the section
	for at, line := range eachLine(source) {
		switch line = strings.TrimRight(line, "\r\n"); {
		case isComment(line) && comment < 0:
			comment = at
			continue
		case isComment(line):
			continue
		case len(line) <= maxLine && definition.MatchString(line):
			end := at
			if comment >= 0 {
				end = comment
			}
			heading()
			w.code(source[begin:end], begin)
			begin, heading = end, func() {
				w.blank()
				w.add("## ", at)
				w.add(strings.TrimRight(line, " \t{:(")+"\n\n", at)
			}
		}
		comment = -1
	}
	heading()
	w.code(source[begin:], begin)
	f := w.file(name, source)
	f.Document.Title = path.Base(name)
	return f
}

// code writes the lines of a section, which is at offset begin, between fences, from the first nonblank one.
func (w *writer) code(section string, begin int) {
	mark, open := fenceOf(section), false
	for at, line := range eachLine(section) {
		if !open && strings.TrimSpace(line) == "" {
			continue
		}
		if !open {
			w.add(mark, begin+at)
			open = true
		}
		w.add(strings.TrimRight(line, "\r\n")+"\n", begin+at)
	}
	if open {
		w.out.WriteString(mark)
	}
}

// fenceOf returns the line before and after code.
func fenceOf(source string) string {
	if strings.Contains(source, "```") {
		return "~~~~~~\n"
	}
	return fence
}

// isComment reports whether a line without indentation is a comment or an annotation.
func isComment(line string) bool {
	marks := []string{"//", "#", "/*", " *", "*/", "--", ";;", "@", `"""`}
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

// writer writes the text of a document as Markdown, with a mapping to the file.
type writer struct {
	out     strings.Builder
	mapping text.Mapping
}

// add writes a text that is at the offset at of the file.
func (w *writer) add(s string, at int) {
	w.mapping.Add(w.out.Len(), at)
	w.out.WriteString(s)
}

// from returns the offset of a cell in the file. If at has no offsets, it is the offset in the written text.
func (w *writer) from(at []int, cell int) int {
	if len(at) == 0 {
		return w.out.Len()
	}
	return at[min(cell, len(at)-1)]
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
	f := &File{in: layout{Mapping: w.mapping}}
	f.Document.Text = w.out.String()
	f.finish(name, source)
	return f
}

// Limits of the column names repeated in rows that are lists: bytes of a name, and of all names as a multiple
// of the size of the file.
const (
	maxLabel  = 200
	maxLabels = 8
)

// maxHeader is the longest header that Lead finds, headerEvery the distance of repeated headers, in bytes.
const (
	maxHeader   = 3 * maxLine / 2
	headerEvery = maxBack / 4
)

// grid writes a table, or its rows as lists if the header is too wide.
type grid struct {
	w      *writer
	header []string
	at     []int // offsets of the header's cells; nil: the offsets of the first row
	began  int   // offset in the text of the last header
	rows   int   // number of rows since the header became wider
	wide   bool
	labels int // number of bytes of column names that lists may still have
}

// row writes one row; at are the offsets of its cells, empty if the file is not text. A row with more cells
// than the header begins another table.
func (g *grid) row(cells []string, at []int) {
	if more := len(cells) - len(g.header); more > 0 {
		g.header, g.rows = append(g.header, make([]string, more)...), 0
	}
	if g.rows == 0 {
		g.wide = g.wide || !narrow(g.header)
	}
	if g.wide {
		g.items(cells, at)
		return
	}
	if g.rows == 0 || g.w.out.Len()-g.began > headerEvery {
		if g.at == nil {
			g.at = at[:min(1, len(at))]
		}
		g.head(g.at)
		g.at = nil
	}
	g.line(cells, at)
}

// items writes a row as a list with an item for each cell, after the name of its column.
func (g *grid) items(cells []string, at []int) {
	g.w.blank()
	g.rows++
	for i, cell := range cells {
		if cell = oneLine(cell); cell == "" {
			continue
		}
		label := "- "
		name := oneLine(strings.ToValidUTF8(g.header[i][:min(len(g.header[i]), maxLabel)], ""))
		if name != "" && name != cell && len(name) <= g.labels {
			label += name + ": "
			g.labels -= len(name)
		}
		g.w.add(label, g.w.from(at, i))
		g.w.add(cell+"\n", g.w.from(at, i))
	}
}

// head writes the header.
func (g *grid) head(at []int) {
	g.w.blank()
	g.began = g.w.out.Len()
	g.line(g.header, at)
	g.w.out.WriteString("|" + strings.Repeat("---|", len(g.header)) + "\n")
	g.rows++
}

func (g *grid) line(cells []string, at []int) {
	g.w.add("|", g.w.from(at, 0))
	for i := range g.header {
		cell := ""
		if i < len(cells) {
			cell = cellText(cells[i])
		}
		g.w.out.WriteByte(' ')
		g.w.add(cell, g.w.from(at, i))
		g.w.out.WriteString(" |")
	}
	g.w.out.WriteByte('\n')
}

var inCell = strings.NewReplacer("|", `\|`)

// cellText returns a text as a cell: on one line, with markup escaped.
func cellText(s string) string { return inCell.Replace(Inline(oneLine(s))) }

// narrow reports whether a header is possible in Markdown: it has few enough columns, and Lead can find it.
func narrow(header []string) bool {
	size := 0
	for _, h := range header[:min(len(header), maxColumns)] {
		size += len(cellText(h)) + len(" | ---|")
	}
	return len(header) <= maxColumns && size <= maxHeader
}

// oneLine returns a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
