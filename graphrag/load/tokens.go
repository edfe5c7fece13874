// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// token is a tag, or a piece of text, and where it stands.
type token struct {
	kind       html.TokenType
	tag        atom.Atom
	hidden     bool // by its own attributes
	layout     bool // a table that is no table
	span       int  // columns of a cell
	start, end int
}

// tokenize cuts a page. Tables that serve for layout are marked.
func tokenize(page string) []token {
	z := html.NewTokenizer(strings.NewReader(page))
	var out []token
	var tables []int // open ones
	at := 0
	for {
		kind := z.Next()
		n := len(z.Raw())
		if kind == html.ErrorToken {
			return out
		}
		t := token{kind: kind, start: at, end: at + n, span: 1}
		at += n
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken || kind == html.EndTagToken {
			name, more := z.TagName()
			t.tag = atom.Lookup(name)
			t.attributes(z, more)
			switch {
			case t.tag == atom.Table && kind == html.StartTagToken:
				for _, i := range tables {
					out[i].layout = true
				}
				if len(tables) < maxDepth {
					tables = append(tables, len(out))
				}
			case t.tag == atom.Table && len(tables) > 0:
				tables = tables[:len(tables)-1]
			case len(tables) > 0 && isLarge(t.tag):
				out[tables[len(tables)-1]].layout = true
			}
		}
		if kind != html.CommentToken && kind != html.DoctypeToken {
			out = append(out, t)
		}
	}
}

// attributes reads those that matter.
func (t *token) attributes(z *html.Tokenizer, more bool) {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "hidden":
			t.hidden = true
		case "style":
			style := strings.ReplaceAll(strings.ToLower(string(value)), " ", "")
			t.hidden = t.hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
		case "colspan":
			if n, err := strconv.Atoi(string(value)); err == nil {
				t.span = min(max(n, 1), maxDepth)
			}
		}
	}
}

// isLarge tells whether an element does not stand in a cell of a table of data.
func isLarge(tag atom.Atom) bool {
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Dl, atom.Pre, atom.Article, atom.Section:
		return true
	}
	return false
}

func isHidden(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe:
		return true
	}
	return false
}

// isFurniture tells whether an element is the site's and not the page's.
func isFurniture(tag atom.Atom) bool {
	switch tag {
	case atom.Nav, atom.Footer, atom.Button, atom.Select, atom.Textarea:
		return true
	}
	return false
}

func isVoid(tag atom.Atom) bool {
	switch tag {
	case atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isBlock tells whether an element stands by itself.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Br, atom.Section, atom.Article, atom.Header, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Blockquote, atom.Dl, atom.Hr, atom.Main, atom.Aside, atom.Figure, atom.Figcaption, atom.Caption, atom.Form, atom.Option,
		atom.Address, atom.Summary, atom.Details, atom.Li, atom.Dt, atom.Dd, atom.Ul, atom.Ol, atom.Pre:
		return true
	}
	return false
}
