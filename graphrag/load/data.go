// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tableFile reads comma- or tab-separated values as a table: RFC 4180, and the deviations of
// spreadsheets (semicolons, stray quotes, rows of any length). The first row is the header unless
// it contains a number.
func tableFile(name, source string) *File {
	comma := delimiter(name, source)
	if manyCells(source, comma) {
		return Markdown(name, source)
	}
	r := csv.NewReader(strings.NewReader(source))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = comma, true, -1, true
	lines := lineStarts(source)
	w := &writer{}
	labels := maxLabels * len(source)
	var g *grid
	wide := false // the header, and so every longer one
	for {
		cells, err := r.Read()
		if err != nil {
			break // the end: with lazy quotes there is no other error
		}
		at := make([]int, len(cells))
		for i := range cells {
			line, column := r.FieldPos(i)
			at[i] = min(lines[min(line, len(lines))-1]+column-1, len(source))
		}
		if g == nil {
			g = &grid{w: w, header: make([]string, len(cells))}
			wide = !narrow(g.header)
			if !slices.ContainsFunc(cells, isNumber) {
				copy(g.header, cells)
				g.at = at
				wide = !narrow(g.header)
				continue
			}
		}
		if more := len(cells) - len(g.header); more > 0 {
			g.header = append(g.header, make([]string, more)...)
			g.rows = 0 // another table from here on
			wide = wide || !narrow(g.header)
		}
		if !wide {
			g.row(cells, at)
		} else {
			labels -= w.items(g.header, cells, at, labels)
		}
	}
	if g != nil && w.out.Len() == 0 { // a header alone is a row
		g.row(g.header, []int{0})
	}
	return w.file(name, source)
}

// Bounds of the column names that are repeated for rows too wide for a table: bytes of one name, and
// of all names as a multiple of the file, so that the text stays proportional to the file.
const (
	maxLabel  = 200
	maxLabels = 8
)

// items writes a row that is too wide for a table as a list with an item for each cell, with the
// names of columns up to left bytes in all. It returns the bytes of the names.
func (w *writer) items(header, cells []string, at []int, left int) (named int) {
	w.blank()
	for i, cell := range cells {
		if cell = strings.Join(strings.Fields(cell), " "); cell == "" {
			continue
		}
		label := "- "
		if name := strings.ToValidUTF8(header[i][:min(len(header[i]), maxLabel)], ""); named+len(name) <= left {
			label += strings.Join(strings.Fields(name), " ") + ": "
			named += len(name)
		}
		w.add(label, w.from(at, i))
		w.add(cell, w.from(at, i))
		w.out.WriteByte('\n')
	}
	return named
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(strings.ReplaceAll(s, ",", ".")), 64)
	return err == nil
}

// delimiter returns the most frequent delimiter of the first line.
func delimiter(name, source string) rune {
	if strings.EqualFold(path.Ext(name), ".tsv") {
		return '\t'
	}
	first, _, _ := strings.Cut(source, "\n")
	best, most := ',', 0
	for _, d := range ",;\t|" {
		if n := strings.Count(first, string(d)); n > most {
			best, most = d, n
		}
	}
	return best
}

// manyCells reports whether a line has too many cells to be parsed.
func manyCells(source string, comma rune) bool {
	for _, line := range lines(source) {
		if strings.Count(line, string(comma)) > maxCells {
			return true
		}
	}
	return false
}

// jsonFile reads JSON, and JSONL line by line. A list of objects with few short values becomes a
// table; other objects become sections: a heading with their name, long texts as paragraphs, the
// rest as lists of keys and values. Invalid JSON stays unchanged.
func jsonFile(name, source string) *File {
	w := &writer{}
	if strings.EqualFold(path.Ext(name), ".json") {
		left := maxValues
		root, err := parseJSON(source, 0, &left)
		if err != nil {
			return Markdown(name, source)
		}
		list := root.kids
		if root.kind != '[' {
			list = []node{root}
		}
		w.records(list)
		return w.file(name, source)
	}
	var list []node
	left := maxValues
	for at, line := range lines(source) {
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
	kind byte // '{', '[', or 0 of a scalar
	text string
	at   int // offset in the file
	kids []node
}

var errLarge = errors.New("JSON nests too deep, or has too many values")

// parseJSON parses one value; base is the offset of s in the file, left the number of values that
// may still be read.
func parseJSON(s string, base int, left *int) (node, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	p := &jsonParser{d: d, s: s, base: base, left: left}
	n, err := p.value(0)
	if err == nil && strings.Trim(s[d.InputOffset():], " \t\r\n") != "" {
		err = errors.New("more than one value")
	}
	return n, err
}

type jsonParser struct {
	d    *json.Decoder
	s    string
	base int
	left *int
}

// next returns a token and its offset.
func (p *jsonParser) next() (json.Token, int, error) {
	at := int(p.d.InputOffset())
	for at < len(p.s) && strings.IndexByte(" \t\r\n,:", p.s[at]) >= 0 {
		at++
	}
	t, err := p.d.Token()
	return t, p.base + at, err
}

func (p *jsonParser) value(depth int) (node, error) {
	t, at, err := p.next()
	n := node{at: at}
	if err != nil {
		return n, err
	}
	if *p.left--; *p.left < 0 || depth > maxDepth {
		return n, errLarge
	}
	switch t := t.(type) {
	case json.Delim:
		n.kind = byte(t)
		for p.d.More() {
			key := ""
			if t == '{' {
				k, _, err := p.next()
				if err != nil {
					return n, err
				}
				key, _ = k.(string)
			}
			kid, err := p.value(depth + 1)
			if err != nil {
				return n, err
			}
			kid.key = key
			n.kids = append(n.kids, kid)
		}
		_, _, err = p.next()
	case string:
		n.text, n.at = t, at+1
	case json.Number:
		n.text = t.String()
	case bool:
		n.text = map[bool]string{true: "true", false: "false"}[t]
	}
	return n, err
}

// The bytes of a value that fits into a cell, and the number of keys of a record that can be a row.
const (
	shortValue = 160
	rowKeys    = 24
)

// records writes a list of values, as a table if they are objects of short values.
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
		for i := 1; i < len(at); i++ { // keys in another order
			at[i] = max(at[i], at[i-1])
		}
		g.row(cells, at)
	}
}

// columns returns the keys of objects that can be rows of a table.
func columns(list []node) (header []string, ok bool) {
	for _, n := range list {
		if n.kind != '{' {
			return nil, false
		}
		for _, kid := range n.kids {
			if kid.kind != 0 || len(kid.text) > shortValue {
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

// The keys of names of records, in order of preference, and the keys of texts, which are not
// written before the text.
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
		w.add(strings.Join(strings.Fields(kids[i].text), " ")+"\n\n", kids[i].at)
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

// values writes keys and values as items, long texts as paragraphs, and lists of records under
// their key.
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
			w.add(strings.Join(strings.Fields(kid.text), " ")+"\n", kid.at)
		}
	}
}
