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

// fieldsOf returns the fields of a file: its place, the front matter of its text, and, first in
// precedence, more. problem names keys that are not fields.
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

// fieldValue is a value that a file writes in a text: a truth value, a number, a time, or the text.
func fieldValue(s string) any {
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

// addMeta adds what a meta element of a page's head says, if it has a name, such as author, or
// a property of Open Graph.
func addMeta(f graphrag.Fields, z *html.Tokenizer, more bool) {
	of := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		of[string(key)] = strings.TrimSpace(string(value))
	}
	name, content := of["name"]+of["property"], of["content"]
	switch {
	case name == "" || content == "" || name == "viewport" || len(f) == graphrag.MaxFields:
	case name == "keywords":
		keys := strings.Split(content, ",")
		for i, key := range keys {
			keys[i] = strings.TrimSpace(key)
		}
		f[name] = slices.DeleteFunc(keys, func(key string) bool { return key == "" })
	default:
		f[name] = fieldValue(content)
	}
}
