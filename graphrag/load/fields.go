// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wildgraph/wildgraph/graphrag"
)

// The fields of a file's place: its folder, "." at the top, and its kind, the extension without
// the dot. No text of a file can set them, nor file and modified: scopes rest on them.
const (
	FieldFolder = "folder"
	FieldKind   = "kind"
)

func ofPlace(key string) bool {
	return key == FieldFolder || key == FieldKind || key == "file" || key == "modified"
}

// fieldsOf returns the fields of a file: those of its place, the front matter of its text,
// and what more there is, which goes first. problem names what is no field.
func fieldsOf(name, text string, more graphrag.Fields) (f graphrag.Fields, problem error) {
	f = graphrag.Fields{FieldFolder: path.Dir(name), FieldKind: strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")}
	front := frontOf(strings.TrimPrefix(text, "\ufeff"))
	problem = front.problem
	for _, from := range []graphrag.Fields{front.fields, more} {
		for _, key := range slices.Sorted(maps.Keys(from)) {
			if ofPlace(key) {
				continue
			}
			old, was := f[key]
			f[key] = from[key]
			if err := f.Check(); err != nil {
				if delete(f, key); was {
					f[key] = old
				}
				problem = cmp.Or(problem, err)
			}
		}
	}
	return f, problem
}

// fieldValue is a value that a file writes in a text: a list between brackets, a truth value, a
// number, a time, or the text.
func fieldValue(s string) any {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return nil
		}
		list := []string{}
		for _, item := range strings.Split(inner, ",") {
			if item = strings.Trim(strings.TrimSpace(item), `"'`); item != "" {
				list = append(list, item)
			}
		}
		return list
	}
	if s == "true" || s == "false" {
		return s == "true"
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n-n == 0 {
		if i, err := strconv.ParseInt(s, 10, 64); len(s) > 15 && (err != nil || int64(n) != i) && strings.Trim(s, "+-0123456789") == "" {
			return s // an identifier
		}
		return n
	}
	if t, ok := graphrag.ParseTime(s); ok {
		return t
	}
	return s
}

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
