// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/xml"
	"path"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wildgraph/wildgraph/graphrag"
)

// The fields that every file has: its folder, "." at the top, and its kind, the extension
// without the dot. Front matter of these names takes their place.
const (
	FieldFolder = "folder"
	FieldKind   = "kind"
)

// fieldsOf returns the fields of a file: those of its name, the front matter of its text,
// and what more there is, which goes first.
func fieldsOf(name, text string, more graphrag.Fields) graphrag.Fields {
	f := graphrag.Fields{FieldFolder: path.Dir(name), FieldKind: strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")}
	add := func(key string, value any) {
		if _, ok := f[key]; len(f) < graphrag.MaxFields || ok {
			f[key] = value
		}
	}
	frontFields(strings.TrimPrefix(text, "\ufeff"), add)
	for key, value := range more {
		add(key, value)
	}
	if f.Check() != nil { // a value of megabytes is no field
		return graphrag.Fields{FieldFolder: f[FieldFolder], FieldKind: f[FieldKind]}
	}
	return f
}

// frontFields calls add for the keys of front matter with a value or a list; what is nested
// is left out.
func frontFields(s string, add func(key string, value any)) {
	end := fenceEnd(s)
	if end == 0 {
		return
	}
	open, list := "", []string(nil) // a key whose list stands below it
	for at := lineEnd(s, 0); at < end; {
		next := lineEnd(s, at)
		line := strings.TrimRight(s[at:next], " \t\r\n")
		at = next
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && open != "" {
			list = append(list, unquote(item))
			add(open, list)
			continue
		}
		open, list = "", nil
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key[:1], " \t-#") {
			continue
		}
		if value = strings.TrimSpace(value); value == "" {
			open = key
		} else if v := fieldValue(value); v != nil {
			add(key, v)
		}
	}
}

// fieldValue is a value of front matter: a list between brackets, a truth value, a number, a
// time, or a text; nil of what is none of these.
func fieldValue(s string) any {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return nil
		}
		list := []string{}
		for _, item := range strings.Split(inner, ",") {
			if item = unquote(item); item != "" {
				list = append(list, item)
			}
		}
		return list
	}
	switch {
	case strings.ContainsAny(s[:1], "{}|>&*"):
		return nil
	case s == "true" || s == "false":
		return s == "true"
	case s[0] == '"' || s[0] == '\'':
		return unquote(s)
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n-n == 0 {
		return n
	}
	if t, ok := graphrag.ParseTime(s); ok {
		return t
	}
	return s
}

func unquote(s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }

// metaFields are the meta elements of a page's head that have a name, such as author, and
// Open Graph's properties.
func metaFields(page string) graphrag.Fields {
	f := graphrag.Fields{}
	z := html.NewTokenizer(strings.NewReader(page))
	for len(f) < graphrag.MaxFields {
		switch z.Next() {
		case html.ErrorToken:
			return f
		case html.EndTagToken, html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		t := z.Token()
		switch {
		case t.DataAtom == atom.Body || t.DataAtom == atom.Head && t.Type == html.EndTagToken:
			return f
		case t.DataAtom != atom.Meta:
			continue
		}
		of := map[string]string{}
		for _, a := range t.Attr {
			of[a.Key] = strings.TrimSpace(a.Val)
		}
		name, content := of["name"]+of["property"], of["content"]
		switch {
		case name == "" || content == "" || name == "viewport":
		case name == "keywords":
			f[name] = fieldValue("[" + content + "]")
		default:
			if v := fieldValue(content); v != nil {
				f[name] = v
			}
		}
	}
	return f
}

// fieldNames are the fields that elements of metadata become (Dublin Core, ECMA-376 part 2).
var fieldNames = map[string]string{
	"title": "title", "creator": "author", "subject": "subject", "description": "description", "keywords": "keywords", "category": "category",
	"publisher": "publisher", "language": "language", "date": "date", "created": "created", "modified": "modified",
}

// properties reads metadata as fields; names go before fieldNames.
func (p *pack) properties(part string, names map[string]string) {
	var text strings.Builder
	p.optional(part, elements{
		open: func(xml.StartElement) { text.Reset() },
		text: func(_, s string) { text.WriteString(s) },
		shut: func(element string) {
			name, ok := names[element]
			if !ok {
				name = fieldNames[element]
			}
			if value := single(text.String()); name != "" && value != "" {
				p.field(name, value)
			}
			text.Reset()
		},
	})
}

func (p *pack) field(name, value string) {
	old, twice := p.f.Document.Fields[name]
	switch {
	case name == "keywords":
		list, _ := old.([]string)
		for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' }) {
			if word = strings.TrimSpace(word); word != "" {
				list = append(list, word)
			}
		}
		p.f.Document.Fields[name] = list
	case name == "date" || name == "created" || name == "modified":
		p.f.Document.Fields[name] = fieldValue(value)
	case twice && name == "author" && len(old.(string)) < maxLine:
		p.f.Document.Fields[name] = old.(string) + "; " + value
	case !twice:
		p.f.Document.Fields[name] = value
		if name == "title" {
			p.f.Document.Title = value
		}
	}
}
