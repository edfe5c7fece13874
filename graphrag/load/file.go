// SPDX-License-Identifier: Apache-2.0

package load

import (
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// File is a document and what is known of the file it came from.
type File struct {
	// Document has the text: that of the file as it is, or, of HTML, as Markdown.
	Document graphrag.Document

	anchors anchors // from the text to the file; empty if they are the same
	lines   []int   // where the lines of the file begin, or its pages or paragraphs
	size    int     // of the file
	unit    string  // what is counted, see Place
}

// Blocks are the structure of the text, see [Blocks].
func (f *File) Blocks() []Block { return Blocks(f.Document.Text) }

// Source is where a piece of the document's text stands in the file.
func (f *File) Source(p text.Span) text.Span {
	start := f.anchors.source(p.Start)
	end := start
	if p.End > p.Start {
		end = f.anchors.source(p.End-1) + 1
	}
	return text.Span{Start: min(start, f.size), End: min(max(start, end), f.size)}
}

// Line is the line of the file, from 1, in which an offset of the document's text
// stands.
func (f *File) Line(offset int) int {
	return max(1, sort.SearchInts(f.lines, f.anchors.source(offset)+1))
}

// Place tells people where in the file an offset of the text stands: its line ("12"),
// the page of a PDF ("p3"), the paragraph of a word processor's file ("¶7").
func (f *File) Place(offset int) string { return f.unit + strconv.Itoa(f.Line(offset)) }

// Paged makes a file of pages that were read from a format without lines, such as PDF.
// Line counts its pages, and [File.Source] is in its text.
func Paged(name, title string, pages []string) *File {
	f := &File{unit: "p"}
	var text strings.Builder
	for _, page := range pages {
		f.lines = append(f.lines, text.Len())
		if page = strings.TrimSpace(page); page != "" {
			text.WriteString(page + "\n\n")
		}
	}
	f.Document.Title = strings.Join(strings.Fields(title), " ")
	f.Document.Text = strings.TrimSuffix(text.String(), "\n")
	f.finish(name, f.Document.Text)
	return f
}

// finish fills in what all formats have.
func (f *File) finish(name, source string) {
	f.Document.ID, f.Document.Source, f.size = name, name, len(source)
	if f.lines == nil {
		f.lines = lineStarts(source)
	}
	if f.Document.Title == "" {
		f.Document.Title = titleOf(f.Document.Text, name)
	}
}

// Markdown reads a Markdown file, as it is. Its title is that of the front matter,
// else a heading or a short line by itself that it begins with, else the name of the file.
func Markdown(name, source string) *File {
	f := &File{Document: graphrag.Document{Text: source}}
	f.finish(name, source)
	return f
}

// Text reads a text file, as it is.
func Text(name, source string) *File { return Markdown(name, source) }

// maxTitle is the longest line, in bytes, that is taken for a title.
const maxTitle = 120

func titleOf(s, name string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	if fenceEnd(s) > 0 {
		if title := meta(frontMatter(s), "title"); title != "" {
			return Plain(title)
		}
		s = s[fenceEnd(s):]
	}
	s = strings.TrimLeft(s, " \t\r\n")
	end := lineEnd(s, 0)
	line := strings.TrimSpace(s[:end])
	alone := end == len(s) || strings.TrimSpace(s[end:lineEnd(s, end)]) == "" || strings.Trim(strings.TrimSpace(s[end:lineEnd(s, end)]), "=-") == ""
	if t := Plain(strings.Trim(line, "# ")); t != "" && len(t) <= maxTitle &&
		(headingLevel(line) > 0 || alone && !strings.ContainsAny(t[len(t)-1:], ".!?:;|") && !isRow(line) && !isItem(line) && !strings.HasPrefix(line, "```")) {
		return t
	}
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// anchors lead from offsets in a text to offsets in the file it was made of. Each
// says that from text on, what is written stands at file.
type anchors struct{ text, file []int }

func (a *anchors) add(text, file int) {
	n := len(a.text)
	if n > 0 && a.text[n-1] == text {
		a.file[n-1] = file
		return
	}
	if n > 0 && text-a.text[n-1] == file-a.file[n-1] {
		return // as far from the last one here as there
	}
	a.text, a.file = append(a.text, text), append(a.file, file)
}

func (a anchors) source(offset int) int {
	if len(a.text) == 0 {
		return offset
	}
	i := sort.SearchInts(a.text, offset+1) - 1
	if i < 0 {
		return a.file[0]
	}
	at := a.file[i] + offset - a.text[i]
	if i+1 < len(a.file) && a.file[i+1] >= a.file[i] {
		at = min(at, a.file[i+1])
	}
	return at
}
