// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"github.com/wildgraph/wildgraph/graphrag"
)

// maxValue is the largest length in bytes of a text that becomes a field: longer texts are not compared.
const maxValue = 1024

// Rows yields the records of a file (.csv or .tsv with a header, .jsonl), each as a document of its own, so
// that questions can have conditions on its columns, which are its fields. The text has a line "column: value"
// for each column, then the value of the column named text, content, body or alike. If there is such a column,
// the title (of the column title, name or alike) and the ID (of the column id or _id) are not repeated as
// lines. Without an ID column the ID is the name of the file, a slash and the number of the row. The file is
// read in pieces, and may be larger than memory; a record has at most [MaxFile] bytes. All texts together are
// at most eight times as long as the file. An error ends the sequence. problem, unless it is nil, is called at most
// once with what [File.Problem] says of a file whose encoding is a guess or whose bytes are damaged.
func Rows(name string, r io.Reader, problem func(error)) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		p := &pieces{guess: func(guess string) {
			if problem != nil {
				problem(readAs(name, guess))
			}
			problem = nil
		}}
		n, size := 0, int64(0)
		take := func(names []string, record, values map[string]any) error {
			n++
			d := row(names, record, values)
			d.Source = fmt.Sprintf("%s/%d", name, n)
			d.ID = cmp.Or(d.ID, d.Source)
			if size += int64(len(d.Text)); size > maxLabels*p.read {
				return fmt.Errorf("row %d: the texts are more than %d times as long as the file, since each value has the name of its column: shorten the names", n, maxLabels)
			}
			if !yield(d, nil) {
				return errEnough
			}
			return nil
		}
		read := csvRows
		if strings.EqualFold(path.Ext(name), ".jsonl") {
			read = jsonRows
		}
		var err error
		if err = p.open(r); err == nil {
			err = read(name, p, take)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(graphrag.Document{}, fmt.Errorf("load: %s: %w", name, err))
		}
	}
}

// errEnough stops the reading when the caller wants no more records.
var errEnough = errors.New("enough")

// pieceSize is the number of bytes of the file that are read at once.
var pieceSize = 1 << 22

// pieces reads a text in pieces of pieceSize bytes.
type pieces struct {
	from io.Reader
	text string // current piece
	read int64  // number of bytes read so far, the current piece included
	last bool   // the current piece is the last one

	guess func(string) // called with the name of an encoding that is a guess
}

// next reads the next piece, and puts the unread rest of the current one before it.
func (p *pieces) next(left string) error {
	if len(left) > MaxFile {
		return fmt.Errorf("a record has more than %d MiB", MaxFile>>20)
	}
	piece := make([]byte, len(left)+pieceSize)
	n, err := io.ReadFull(p.from, piece[copy(piece, left):])
	p.last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !p.last {
		return err
	}
	p.text, p.read = string(piece[:len(left)+n]), p.read+int64(n)
	if strings.ContainsRune(p.text[len(left):], utf8.RuneError) {
		p.guess("text of which some bytes are damaged")
	}
	return nil
}

// csvRows calls take for each row below the header.
func csvRows(name string, p *pieces, take func(names []string, record, values map[string]any) error) error {
	if err := p.next(""); err != nil {
		return err
	}
	s := newSheet(name, p.text)
	feeds := strings.Contains(p.text, "\n")
	var header, names []string
	for n := 0; ; {
		if s.tooWide() {
			return fmt.Errorf("a line has more than %d cells", maxCells)
		}
		left := ""
		s.open = len(s.source)
		for cells, at := range s.records() {
			unclosed := s.open < len(s.source) && len(s.source)-at[0] < MaxFile // the quote may be closed in the next piece
			if !p.last && (unclosed || s.end == len(s.source)) {
				left = s.source[at[0]:]
				break
			}
			if n++; n <= s.titles {
				continue
			}
			if header == nil {
				header = slices.Clone(cells)
				continue
			}
			if len(cells) > len(names) {
				names = columnNames(header, len(cells))
			}
			record, values := make(map[string]any), make(map[string]any)
			for i, value := range cells {
				if value = strings.TrimSpace(value); value != "" {
					record[names[i]], values[names[i]] = value, fieldValue(value)
				}
			}
			if err := take(names, record, values); err != nil {
				return err
			}
		}
		if p.last && header == nil {
			return errors.New("there is no header: the first line must name the columns")
		}
		if p.last {
			return nil
		}
		if err := p.next(left); err != nil {
			return err
		}
		if s.source, s.start = p.text, 0; !feeds {
			s.source = strings.ReplaceAll(p.text, "\r", "\n")
		}
	}
}

// jsonRows calls take for the JSON object of each line.
func jsonRows(_ string, p *pieces, take func(names []string, record, values map[string]any) error) error {
	left := ""
	for n := 1; !p.last; {
		if err := p.next(left); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		left = ""
		for at, line := range eachLine(p.text) {
			if !p.last && at+len(line) == len(p.text) {
				left = line
				break
			}
			if err := jsonRow(line, take); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			n++
		}
	}
	return nil
}

// jsonRow calls take for the JSON object of a line, unless the line is blank.
func jsonRow(line string, take func(names []string, record, values map[string]any) error) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	record := map[string]any{}
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber() // keeps all digits of large integers
	err := d.Decode(&record)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(line[d.InputOffset():]) != "":
		return errors.New("the line has more than one JSON value")
	case len(record) > maxCells:
		return fmt.Errorf("the object has %d keys, want at most %d", len(record), maxCells)
	}
	return take(slices.Sorted(maps.Keys(record)), record, record)
}

// row returns a record as a document.
func row(names []string, record, values map[string]any) graphrag.Document {
	column := func(of ...string) string {
		for _, key := range of {
			for _, name := range names {
				if strings.EqualFold(name, key) && record[name] != nil {
					return name
				}
			}
		}
		return ""
	}
	d := graphrag.Document{Fields: FieldsOf(values)}
	id, title, body := column("id", "_id"), column(nameKeys...), column(textKeys...)
	if id != "" {
		d.ID = said(record[id])
	}
	if title != "" {
		d.Title = oneLine(said(record[title]))
	}
	var text strings.Builder
	for _, name := range names {
		if body != "" && (name == id || name == title || name == body) {
			continue
		}
		if value := said(record[name]); value != "" {
			fmt.Fprintf(&text, "%s: %s\n", name, oneLine(value))
		}
	}
	if body != "" {
		text.WriteString("\n" + said(record[body]) + "\n")
		delete(d.Fields, body)
	}
	d.Text = strings.TrimPrefix(text.String(), "\n")
	return d
}

// said returns a value as text: lists and objects as JSON.
func said(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	data, _ := json.Marshal(v) // it was decoded from JSON
	return strings.Trim(string(data), `"`)
}

// FieldsOf returns the values of a record that can be fields: numbers, truth values, lists of texts, times, and
// texts of up to 1,024 bytes, which become times if they have the form of one. A value of a nested object is
// named by the keys of both, joined with a dot.
func FieldsOf(record map[string]any) graphrag.Fields {
	f := graphrag.Fields{}
	for _, name := range slices.Sorted(maps.Keys(record)) {
		v := record[name]
		switch of := v.(type) {
		case string:
			if t, ok := graphrag.ParseTime(of); ok {
				v = t
			} else if len(of) > maxValue {
				continue
			}
		case json.Number:
			v = fieldValue(of.String())
		case nil:
			continue
		case map[string]any:
			inner := FieldsOf(of)
			for _, key := range slices.Sorted(maps.Keys(inner)) {
				if len(f) < graphrag.MaxFields {
					f[name+"."+key] = inner[key]
				}
			}
			continue
		case []any:
			list := make([]string, 0, len(of))
			for _, item := range of {
				if s, ok := item.(string); ok {
					list = append(list, s)
				}
			}
			v = list
		}
		if len(f) < graphrag.MaxFields && (graphrag.Fields{name: v}).Check() == nil {
			f[name] = v
		}
	}
	return f
}

// The fields of a file's location: its folder, "." at the top, and its extension. Scopes are checked by these
// fields, so the text of a file cannot set them.
const (
	FieldFolder = "folder"
	FieldKind   = "kind"
)

// fieldsOf returns the fields of a file: from more, which takes precedence, from its location, and from the
// front matter of its text. problem names keys that cannot be fields.
func fieldsOf(name, text string, more graphrag.Fields) (f graphrag.Fields, problem error) {
	f = graphrag.Fields{FieldFolder: path.Dir(name), FieldKind: strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")}
	front := frontOf(strings.TrimPrefix(text, "\ufeff"))
	problem = front.problem
	for _, from := range []graphrag.Fields{front.fields, more} {
		for _, key := range slices.Sorted(maps.Keys(from)) {
			if slices.Contains([]string{FieldFolder, FieldKind, "file", "modified"}, key) {
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

// fieldValue returns a value written as text: a truth value, a number, a time, or else the text.
func fieldValue(s string) any {
	if s == "true" || s == "false" {
		return s == "true"
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n-n == 0 {
		if i, err := strconv.ParseInt(s, 10, 64); len(s) > 15 && (err != nil || int64(n) != i) && strings.Trim(s, "+-0123456789") == "" {
			return s // an identifier with more digits than a float64 keeps
		}
		return n
	}
	if t, ok := graphrag.ParseTime(s); ok {
		return t
	}
	return s
}

// addMeta adds the content of a meta element in the head of a page, if it has a name, such as author, or a
// property of Open Graph.
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

// maxFront limits the length of front matter, in bytes.
const maxFront = 64 << 10

// frontMatter is metadata at the beginning of a text: YAML between lines "---", TOML between lines "+++", or
// JSON between lines "{" and "}".
type frontMatter struct {
	end     int // offset of the text after the front matter, 0 without one
	fields  graphrag.Fields
	problem error // names a key that cannot be a field, or says why the lines are not front matter
}

// frontEnds are the lines that end front matter, by its first line.
var frontEnds = map[string]string{"---": "--- ...", "+++": "+++", "{": "}"}

// frontKey matches the key of a line of front matter, tomlKey the keys of TOML, tomlTable the headers of its
// tables.
var (
	frontKey  = regexp.MustCompile(`^(?:[\pL\pN_.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*[:=](?:\s|$)`)
	tomlKey   = regexp.MustCompile(`(?m)^[ \t]*([\pL\pN_.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*=[ \t]*`)
	tomlTable = regexp.MustCompile(`(?m)^[ \t]*\[([^\[\]\n]+)\]`)
)

// frontOf reads the front matter of a text. Lines without a key are not front matter.
func frontOf(s string) frontMatter {
	first := lineEnd(s, 0)
	mark := strings.TrimRight(s[:first], " \t\r\n")
	if frontEnds[mark] == "" || !strings.ContainsAny(s[first:min(len(s), first+maxFront)], ":=") {
		return frontMatter{}
	}
	source, end := "", 0
	for at, line := range eachLine(s[first:]) {
		if at += first; at > maxFront {
			break
		}
		if slices.Contains(strings.Fields(frontEnds[mark]), strings.TrimRight(line, " \t\r\n")) {
			source, end = s[first:at], at+len(line)
			break
		}
	}
	switch {
	case end == 0 && len(s) > maxFront && frontKey.MatchString(s[first:min(len(s), first+maxTitle)]):
		return frontMatter{problem: fmt.Errorf("front matter of more than %d bytes, or without a closing line, is read as text", maxFront)}
	case end == 0 || mark == "{" && strings.HasPrefix(strings.TrimSpace(s[end:]), "{"): // lines of JSON
		return frontMatter{}
	}
	front, doc := source, yaml.Node{}
	if mark == "{" {
		source = "{" + source + "}"
	} else if mark == "+++" { // keys of tables follow all other keys
		at := append(tomlTable.FindStringIndex(source), len(source))[0]
		source = tomlKey.ReplaceAllString(source[:at], "$1: ") + tomlTable.ReplaceAllString(tomlKey.ReplaceAllString(source[at:], " $1: "), "$1:")
	}
	err := yaml.Unmarshal([]byte(source), &doc)
	switch {
	case err == nil && len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode && len(doc.Content[0].Content) > 0:
		f := frontMatter{end: end, fields: graphrag.Fields{}}
		f.add("", doc.Content[0])
		return f
	case err != nil && frontKey.MatchString(front):
		return frontMatter{problem: fmt.Errorf("front matter that is not valid YAML is read as text: %s", strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	return frontMatter{}
}

// add adds the values of a mapping. A value of a nested mapping is named by both keys, joined with a dot.
func (f *frontMatter) add(prefix string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := prefix+n.Content[i].Value, n.Content[i+1]
		if _, twice := f.fields[key]; twice {
			f.fail(key, errors.New("occurs twice"))
			continue
		}
		switch value.Kind {
		case yaml.MappingNode:
			f.add(key+".", value)
		case yaml.ScalarNode:
			if v := scalar(value); v != nil {
				f.fields[key] = v
			}
		case yaml.SequenceNode:
			list := []string{}
			for _, item := range value.Content {
				if item.Kind != yaml.ScalarNode {
					f.fail(key, errors.New("is a list with values that are not text"))
				} else if item.Value != "" {
					list = append(list, item.Value)
				}
			}
			f.fields[key] = list
		default:
			f.fail(key, errors.New("refers to another value"))
		}
	}
}

func (f *frontMatter) fail(key string, err error) {
	f.problem = cmp.Or(f.problem, fmt.Errorf("the key %.80q of the front matter %w", key, err))
}

// scalar returns a truth value, a number, a time or a text; nil for null. A quoted value is a text.
func scalar(n *yaml.Node) any {
	text := strings.TrimSpace(n.Value)
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return nil
	case tag == "!!bool":
		return strings.EqualFold(text, "true")
	case tag == "!!int" || tag == "!!float":
		var v float64
		if err := n.Decode(&v); err == nil && v-v == 0 {
			return v
		}
	case n.Style == 0:
		if t, ok := graphrag.ParseTime(text); ok {
			return t
		}
	}
	return text
}
