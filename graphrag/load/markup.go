// SPDX-License-Identifier: Apache-2.0

package load

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// markup converts headings, code and tables of another lightweight markup language to Markdown;
// other lines stay unchanged.
type markup struct {
	writer
	lines []string // without their ends
	at    []int
	open  string // the line that ends the open block: code, a table, a drawer
	code  bool   // it is code
	grid  *grid
	// levels are the adornments of reStructuredText's headings, outermost first.
	levels []string
}

// dialect writes the block that begins at line i, and returns its number of lines; 0 means a line
// that stays unchanged.
type dialect func(m *markup, i int) int

func markupFile(d dialect) func(name, source string) *File {
	return func(name, source string) *File {
		if manyLines(source) {
			return Markdown(name, source)
		}
		m := &markup{}
		for at, line := range lines(source) {
			m.lines, m.at = append(m.lines, strings.TrimRight(line, "\r\n")), append(m.at, at)
		}
		for i := 0; i < len(m.lines); {
			n := d(m, i)
			if n == 0 {
				m.add(m.lines[i]+"\n", m.at[i])
				n = 1
			}
			i += n
		}
		if m.code {
			m.out.WriteString(fence)
		}
		return m.file(name, source)
	}
}

const fence = "```\n"

// heading writes the heading of line i.
func (m *markup) heading(i, level int, title string) {
	m.blank()
	m.add(strings.Repeat("#", min(max(level, 1), 6))+" ", m.at[i])
	m.add(strings.TrimSpace(title)+"\n\n", m.at[i])
}

// fence opens code that ends with the line end, or with "" closes it.
func (m *markup) fence(i int, end string) int {
	if end != "" {
		m.blank()
	}
	m.add(fence, m.at[i])
	m.open, m.code = end, end != ""
	return 1
}

// line returns a line, "" after the last.
func (m *markup) line(i int) string {
	if i < len(m.lines) {
		return m.lines[i]
	}
	return ""
}

// isAdornment reports whether a line underlines a heading.
func isAdornment(line string) bool {
	return len(line) > 2 && strings.IndexByte("=-`:'\"~^_*+#<>.", line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

var directive = regexp.MustCompile(`^\.\. (?:code|code-block|sourcecode|literalinclude)::`)

// reStructured is the dialect of reStructuredText: adorned headings, code after "::".
func reStructured(m *markup, i int) int {
	line, next := m.line(i), m.line(i+1)
	switch {
	case isAdornment(line) && m.line(i+2) == line && strings.TrimSpace(next) != "":
		m.heading(i+1, m.level(line[:1]+line[:1]), next)
		return 3
	case isAdornment(next) && strings.TrimSpace(line) != "" && indentOf(line) == 0 && !isAdornment(line) && len(next) >= utf8.RuneCountInString(line):
		m.heading(i, m.level(next[:1]), line)
		return 2
	case directive.MatchString(line):
		return 1 + m.indented(i+1)
	case strings.HasSuffix(line, "::") && !strings.HasPrefix(line, ".. "):
		if text := strings.TrimSuffix(strings.TrimSuffix(line, ":"), ":"); text != "" {
			m.add(text+":\n", m.at[i])
		}
		return 1 + m.indented(i+1)
	}
	return 0
}

// level returns the level of an adornment: levels have the order of first occurrence.
func (m *markup) level(adornment string) int {
	for i, l := range m.levels {
		if l == adornment {
			return i + 1
		}
	}
	m.levels = append(m.levels, adornment)
	return len(m.levels)
}

// indented writes the indented block that begins at line i as code, without the options of a
// directive, and returns its number of lines.
func (m *markup) indented(i int) int {
	end := i
	for j := i; j < len(m.lines); j++ {
		if indentOf(m.lines[j]) > 0 && strings.TrimSpace(m.lines[j]) != "" {
			end = j + 1
		} else if strings.TrimSpace(m.lines[j]) != "" {
			break
		}
	}
	first := i
	for first < end && (strings.TrimSpace(m.lines[first]) == "" || strings.HasPrefix(strings.TrimSpace(m.lines[first]), ":")) {
		first++
	}
	if first < end {
		m.fence(first, "::")
		for j := first; j < end; j++ {
			m.add(m.lines[j]+"\n", m.at[j])
		}
		m.fence(end-1, "")
	}
	return end - i
}

var asciiHeading = regexp.MustCompile(`^(={1,6}) +(\S.*)$`)

// asciiDoc is the dialect of AsciiDoc: headings, listings, tables of one row a line.
func asciiDoc(m *markup, i int) int {
	line := strings.TrimRight(m.line(i), " \t")
	switch {
	case m.grid != nil && line == m.open:
		m.open, m.grid = "", nil
		return 1
	case m.grid != nil:
		return m.asciiRow(i)
	case m.open != "" && line == m.open:
		return m.fence(i, "")
	case m.open != "":
		return 0
	case line == "|===":
		m.open, m.grid = line, &grid{w: &m.writer}
		return 1
	case len(line) >= 4 && (strings.Trim(line, "-") == "" || strings.Trim(line, ".") == ""):
		return m.fence(i, line)
	case strings.HasPrefix(line, "//") || strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
		return 1 // a comment, or attributes of what follows
	}
	if h := asciiHeading.FindStringSubmatch(line); h != nil {
		m.heading(i, len(h[1]), h[2])
		return 1
	}
	return 0
}

// asciiRow writes a row; the first one is the header.
func (m *markup) asciiRow(i int) int {
	line, ok := strings.CutPrefix(strings.TrimSpace(m.line(i)), "|")
	if !ok {
		return 1
	}
	cells := strings.Split(line, "|")
	if m.grid.header == nil && len(cells) <= maxColumns {
		m.grid.header, m.grid.at = cells, []int{m.at[i]}
		return 1
	}
	m.grid.row(cells, []int{m.at[i]})
	return 1
}

var (
	orgHeading = regexp.MustCompile(`^(\*+) +(\S.*)$`)
	orgBlock   = regexp.MustCompile(`(?i)^\s*#\+begin_(src|example)\b`)
	orgTitle   = regexp.MustCompile(`(?i)^#\+title: *(.+)$`)
	orgRule    = regexp.MustCompile(`^\s*\|[-+|]+\|?\s*$`)
)

// orgMode is the dialect of Org: headings, blocks of code, tables, without drawers.
func orgMode(m *markup, i int) int {
	line := m.line(i)
	switch {
	case m.open == ":END:":
		if strings.EqualFold(strings.TrimSpace(line), m.open) {
			m.open = ""
		}
		return 1
	case m.open != "" && strings.EqualFold(strings.TrimSpace(line), m.open):
		return m.fence(i, "")
	case m.open != "":
		return 0
	case orgRule.MatchString(line):
		m.add(strings.ReplaceAll(line, "+", "|")+"\n", m.at[i])
		return 1
	case strings.EqualFold(strings.TrimSpace(line), ":PROPERTIES:"):
		m.open = ":END:"
		return 1
	}
	if h := orgHeading.FindStringSubmatch(line); h != nil {
		m.heading(i, len(h[1]), h[2])
		return 1
	}
	if h := orgTitle.FindStringSubmatch(line); h != nil {
		m.heading(i, 1, h[1])
		return 1
	}
	if b := orgBlock.FindStringSubmatch(line); b != nil {
		return m.fence(i, "#+end_"+strings.ToLower(b[1]))
	}
	if strings.HasPrefix(line, "#+") {
		return 1 // a setting
	}
	return 0
}

// codeExtensions are the extensions of source code and configuration, which are read line by line.
const codeExtensions = ".go .py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx .hpp .hh .cs .rs .swift .m .mm " +
	".rb .php .pl .pm .lua .r .jl .ex .exs .erl .hs .ml .fs .clj .el .lisp .dart .zig .nim .sh .bash .zsh .fish .ps1 .bat .sql .proto .graphql " +
	".css .scss .vue .svelte .tf .cmake .mk .gradle .yaml .yml .toml .ini .cfg .conf .properties .xml .tex"

var definition = regexp.MustCompile(`^(?i:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|abstract|final|async|unsafe|override|create(?: or replace)?) +)*` +
	`(?i:func|fn|fun|def|defn|defp|defmodule|class|struct|enum|interface|trait|impl|type|function|module|namespace|object|record|protocol|message|service|table|view|procedure)\b.*`)

// codeFile reads source code: each definition at the start of a line is a section with that line as
// its heading, and includes the comment before it.
func codeFile(name, source string) *File {
	if manyLines(source) {
		return Markdown(name, source)
	}
	w := &writer{}
	mark := fence
	if strings.Contains(source, "```") {
		mark = "~~~~~~\n"
	}
	open := false
	var pending []int // lines of a comment, which may belong to the next definition
	var text []string
	var at []int
	write := func(i int) {
		if !open && strings.TrimSpace(text[i]) != "" {
			w.add(mark, at[i])
			open = true
		}
		if open {
			w.add(text[i]+"\n", at[i])
		}
	}
	flush := func() {
		for _, i := range pending {
			write(i)
		}
		pending = pending[:0]
	}
	for offset, line := range lines(source) {
		i := len(text)
		text, at = append(text, strings.TrimRight(line, "\r\n")), append(at, offset)
		switch {
		case isComment(text[i]):
			pending = append(pending, i)
			continue
		case len(text[i]) <= maxLine && definition.MatchString(text[i]):
			if open {
				w.out.WriteString(mark)
				open = false
			}
			w.blank()
			w.add("## ", offset)
			w.add(strings.TrimRight(text[i], " \t{:(")+"\n\n", offset)
		}
		flush()
		write(i)
	}
	flush()
	if open {
		w.out.WriteString(mark)
	}
	f := w.file(name, source)
	f.Document.Title = path.Base(name)
	return f
}

// isComment reports whether a line without indentation is a comment or an annotation.
func isComment(line string) bool {
	for _, mark := range []string{"//", "#", "/*", " *", "*/", "--", ";;", "@", `"""`} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// writer writes the text of a document as Markdown, with a mapping to the file.
type writer struct {
	out     strings.Builder
	anchors anchors
}

// add writes a piece of text from an offset of the file.
func (w *writer) add(s string, at int) {
	w.anchors.add(w.out.Len(), at)
	w.out.WriteString(s)
}

// from is the offset of a cell in the file, or in the text if at has none.
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
	f := &File{anchors: w.anchors}
	f.Document.Text = w.out.String()
	f.finish(name, source)
	return f
}

// maxHeader is the longest header of a table that Lead can find, and headerEvery the distance after
// which the header is repeated, in bytes.
const (
	maxHeader   = 3 * maxLine / 2
	headerEvery = maxBack / 4
)

// grid writes a table.
type grid struct {
	w      *writer
	header []string
	at     []int // offsets of the header; nil: that of the first row
	began  int   // offset of the last header in the text
	rows   int   // 0 before the header
}

// row writes one row; at are the offsets of its cells, none for those in the text.
func (g *grid) row(cells []string, at []int) {
	if g.rows == 0 || g.w.out.Len()-g.began > headerEvery {
		if g.at == nil {
			g.at = at[:min(1, len(at))]
		}
		g.head(g.at)
		g.at = nil
	}
	g.line(cells, at)
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

var inCell = strings.NewReplacer(`\`, `\\`, "|", `\|`)

// cellText returns a text as a cell: on one line, with bars escaped.
func cellText(s string) string { return inCell.Replace(strings.Join(strings.Fields(s), " ")) }

// narrow reports whether a header can be that of a Markdown table: it has few enough columns, and
// Lead can find it.
func narrow(header []string) bool {
	size := 0
	for _, h := range header[:min(len(header), maxColumns)] {
		size += len(cellText(h)) + len(" | ---|")
	}
	return len(header) <= maxColumns && size <= maxHeader
}
