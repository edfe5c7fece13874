// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML returns the title and the visible text of a page. Blocks are
// separated by empty lines; scripts, styles and navigation are left out.
func readHTML(page string) (title, text string, lines lineTable) {
	z := html.NewTokenizer(strings.NewReader(page))
	var t pageText
	var hidden atom.Atom // the element whose content is being left out
	depth, line, inTitle := 0, 1, false
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return strings.Join(strings.Fields(title), " "), t.String(), t.lines
		}
		raw := string(z.Raw())
		name, _ := z.TagName()
		tag := atom.Lookup(name)
		switch kind {
		case html.StartTagToken:
			switch {
			case hidden == 0 && isHidden(tag):
				hidden, depth = tag, 1
			case tag == hidden:
				depth++
			case tag == atom.Title:
				inTitle = true
			}
		case html.EndTagToken:
			inTitle = inTitle && tag != atom.Title
			if hidden != 0 && tag == hidden {
				if depth--; depth == 0 {
					hidden = 0
				}
			}
		case html.TextToken:
			switch {
			case inTitle:
				title += html.UnescapeString(raw)
			case hidden == 0:
				t.write(raw, line)
			}
		}
		if kind != html.TextToken && hidden == 0 && isBlock(tag) {
			t.endBlock()
		}
		line += strings.Count(raw, "\n")
	}
}

// pageText gathers the visible text of a page, with blanks collapsed.
type pageText struct {
	strings.Builder
	lines lineTable
	blank bool // a blank is due before the next word
}

// write appends the text of an element that begins on the given line.
func (t *pageText) write(raw string, line int) {
	for i, part := range strings.Split(raw, "\n") {
		words := strings.Fields(html.UnescapeString(part))
		if len(words) == 0 {
			t.blank = t.blank || part != "" || i > 0
			continue
		}
		if t.blank = t.blank || i > 0 || unicode.IsSpace(rune(part[0])); t.blank && t.Len() > 0 && !strings.HasSuffix(t.String(), "\n") {
			t.WriteByte(' ')
		}
		t.lines.add(t.Len(), line+i)
		t.WriteString(strings.Join(words, " "))
		t.blank = unicode.IsSpace(rune(part[len(part)-1]))
	}
}

// endBlock begins a new paragraph.
func (t *pageText) endBlock() {
	if t.Len() > 0 && !strings.HasSuffix(t.String(), "\n\n") {
		t.WriteString("\n\n")
	}
	t.blank = false
}

func isHidden(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Svg, atom.Iframe:
		return true
	}
	return false
}

func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Br, atom.Li, atom.Ul, atom.Ol, atom.Table, atom.Tr, atom.Section, atom.Article, atom.Header, atom.Footer,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Pre, atom.Dt, atom.Dd, atom.Hr, atom.Main, atom.Aside:
		return true
	}
	return false
}
