// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// notJSON matches texts, which stay as they are, and numbers such as NaN that JSON does not allow.
var notJSON = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b`)

// otherNumbers maps invalid numbers to texts of the same length.
var otherNumbers = map[string]string{"NaN": `"" `, "-NaN": `""  `, "Infinity": `"∞"   `, "-Infinity": `"-∞"   `}

// lenient returns JSON with texts in the place of invalid numbers.
func lenient(source string) string {
	return notJSON.ReplaceAllStringFunc(source, func(s string) string { return cmp.Or(otherNumbers[s], s) })
}

// jsonFile reads JSON, or JSONL line by line, whatever the extension. A list of objects with few short values
// becomes a table. Other objects become sections: a heading with their name, long texts as paragraphs, the rest
// as lists of keys and values. Invalid JSON stays unchanged.
func jsonFile(name, source string) *File {
	w, left := &writer{}, maxValues
	if strings.EqualFold(path.Ext(name), ".json") {
		root, err := parseJSON(source, 0, &left)
		if err != nil && left >= 0 {
			root, err = parseJSON(lenient(source), 0, &left)
		}
		if err == nil {
			list := root.kids
			if root.kind != '[' {
				list = []node{root}
			}
			w.records(list)
			return w.file(name, source)
		}
		left = maxValues
		if _, err := parseJSON(source[:lineEnd(source, 0)], 0, &left); err != nil {
			return Markdown(name, source)
		}
		left = maxValues
	}
	var list []node
	for at, line := range eachLine(source) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		n, err := parseJSON(line, at, &left)
		if left < 0 {
			return Markdown(name, source)
		}
		if err != nil {
			n = node{at: at, text: strings.TrimSpace(line)}
		}
		list = append(list, n)
	}
	w.records(list)
	return w.file(name, source)
}

// node is a value of JSON.
type node struct {
	key  string
	kind byte // '{' or '[', 0 for other values
	text string
	at   int // offset in the file
	kids []node
}

var errLarge = errors.New("the JSON is nested too deep, or has too many values")

// parseJSON parses one value. base is the offset of s in the file, left the number of values still allowed.
func parseJSON(s string, base int, left *int) (node, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	p := &jsonParser{d: d, s: s, base: base, left: left}
	n, err := p.value(0)
	if err == nil && strings.Trim(s[d.InputOffset():], " \t\r\n") != "" {
		err = errors.New("there is more than one JSON value")
	}
	return n, err
}

type jsonParser struct {
	d    *json.Decoder
	s    string
	base int
	left *int
}

func (p *jsonParser) value(depth int) (n node, err error) {
	rest := p.s[p.d.InputOffset():]
	n.at = p.base + len(p.s) - len(strings.TrimLeft(rest, " \t\r\n,:"))
	t, err := p.d.Token()
	if err != nil {
		return n, err
	}
	if *p.left--; *p.left < 0 || depth > maxDepth {
		return n, errLarge
	}
	switch t := t.(type) {
	case json.Delim:
		n.kind = byte(t)
		for p.d.More() && err == nil {
			var key json.Token
			if t == '{' {
				key, err = p.d.Token()
			}
			if err == nil {
				var kid node
				kid, err = p.value(depth + 1)
				kid.key, _ = key.(string)
				n.kids = append(n.kids, kid)
			}
		}
		if err == nil {
			_, err = p.d.Token()
		}
	case string:
		n.text, n.at = t, n.at+1
	case json.Number:
		n.text = t.String()
	case bool:
		n.text = strconv.FormatBool(t)
	}
	return n, err
}

// shortValue is the largest length, in bytes, of a value in a cell, rowKeys the most keys of a table row.
const (
	shortValue = 160
	rowKeys    = 24
)

// records writes a list of values: as a table if they are objects of short values.
func (w *writer) records(list []node) {
	header, ok := columns(list)
	if !ok {
		for _, n := range list {
			w.record(n, len(list) > 1)
		}
		return
	}
	g := &grid{w: w, header: header}
	for _, n := range list {
		cells, at := make([]string, len(header)), make([]int, len(header))
		for i := range at {
			at[i] = n.at
		}
		for _, kid := range n.kids {
			i := slices.Index(header, kid.key)
			cells[i], at[i] = kid.text, kid.at
		}
		for i := 1; i < len(at); i++ { // offsets increase even if the keys have another order
			at[i] = max(at[i], at[i-1])
		}
		g.row(cells, at)
	}
}

// columns returns the union of the keys of objects, and whether the objects can be rows of a table.
func columns(list []node) (header []string, ok bool) {
	for _, n := range list {
		if n.kind != '{' {
			return nil, false
		}
		for i, kid := range n.kids {
			twice := slices.IndexFunc(n.kids, func(k node) bool { return k.key == kid.key }) < i
			if kid.kind != 0 || len(kid.text) > shortValue || twice {
				return nil, false
			}
			if !slices.Contains(header, kid.key) {
				if header = append(header, kid.key); len(header) > rowKeys {
					return nil, false
				}
			}
		}
	}
	return header, len(list) > 1 && len(header) > 0 && narrow(header)
}

// nameKeys are keys whose values name a record, in order of preference. The keys in textKeys are not written
// before their text.
var (
	nameKeys = []string{"title", "name", "question", "heading", "subject", "id", "url"}
	textKeys = []string{"text", "content", "contents", "body", "passage", "abstract", "description"}
)

func (w *writer) record(n node, headed bool) {
	w.blank()
	if n.kind != '{' {
		w.values([]node{n}, 0)
		return
	}
	kids := n.kids
	if i := nameOf(kids); headed && i >= 0 {
		w.add("## ", kids[i].at)
		w.add(oneLine(kids[i].text)+"\n\n", kids[i].at)
		kids = slices.Delete(slices.Clone(kids), i, i+1)
	}
	w.values(kids, 0)
}

func nameOf(kids []node) int {
	for _, key := range nameKeys {
		if i := slices.IndexFunc(kids, func(k node) bool {
			return strings.EqualFold(k.key, key) && k.kind == 0 && k.text != "" && len(k.text) <= shortValue
		}); i >= 0 {
			return i
		}
	}
	return -1
}

// values writes keys and values as items of a list, long texts as paragraphs, and lists of records under their
// key as heading.
func (w *writer) values(kids []node, level int) {
	indent := strings.Repeat("  ", level)
	for _, kid := range kids {
		label := kid.key
		if label != "" {
			label += ": "
		}
		long := len(kid.text) > shortValue || strings.Contains(kid.text, "\n")
		switch {
		case kid.kind == '[' && level == 0 && len(kid.kids) > 1 && kid.kids[0].kind == '{':
			w.blank()
			w.add("## "+kid.key+"\n\n", kid.at)
			w.records(kid.kids)
		case kid.kind != 0:
			w.add(indent+"- "+strings.TrimRight(label, " ")+"\n", kid.at)
			w.values(kid.kids, level+1)
		case long && level == 0:
			w.blank()
			if !slices.ContainsFunc(textKeys, func(k string) bool { return strings.EqualFold(k, kid.key) }) {
				w.add(label, kid.at)
			}
			w.add(kid.text, kid.at)
			w.blank()
		case kid.text != "":
			w.add(indent+"- "+label, kid.at)
			w.add(oneLine(kid.text)+"\n", kid.at)
		}
	}
}
