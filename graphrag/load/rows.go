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
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// maxValue is the longest text that is a field, in bytes: one that is compared, not read.
const maxValue = 1024

// Rows yields the records of a file (.csv or .tsv with a header, .jsonl), each as a document of its own,
// for conditions on them: its columns are its fields, and its text "column: value" in lines, then
// the column named text, content, body or alike as it is. Its title is the column title, name or
// alike, its ID the column id or _id, or else the name of the file, a slash and the number of the
// row; beside a text neither of them is a line. The file is read piece by piece, and may be larger than memory;
// a record has at most [MaxFile] bytes. All texts together are at most eight times as long as the file. An error is the last.
func Rows(name string, r io.Reader) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		p := &pieces{}
		n, size := 0, int64(0)
		take := func(names []string, record, values map[string]any) error {
			n++
			d := row(names, record, values)
			d.Source = fmt.Sprintf("%s/%d", name, n)
			d.ID = cmp.Or(d.ID, d.Source)
			if size += int64(len(d.Text)); size > maxLabels*p.read {
				return fmt.Errorf("row %d: the names of columns, which stand with each value, take %d times the file: shorten them", n, maxLabels)
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
		if p.from, err = decodedStream(r); err == nil {
			err = read(name, p, take)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(graphrag.Document{}, fmt.Errorf("load: %s: %w", name, err))
		}
	}
}

// errEnough ends the reading of records that are not wanted.
var errEnough = errors.New("enough")

// pieceSize is the number of bytes that are read at once.
var pieceSize = 1 << 22

// pieces is a text that is read piece by piece.
type pieces struct {
	from io.Reader
	text string // the piece
	read int64  // bytes so far, the piece included
	last bool   // the text ends with the piece
}

// next reads the next piece, which begins with the rest of the piece before.
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
	return nil
}

// csvRows reads the rows below a header.
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
			unclosed := s.open < len(s.source) && len(s.source)-at[0] < MaxFile // perhaps it is closed behind the piece
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
			return errors.New("no header: the first line names the columns")
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

// jsonRows reads an object a line.
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

// jsonRow reads the object of a line, unless it is blank.
func jsonRow(line string, take func(names []string, record, values map[string]any) error) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	record := map[string]any{}
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber() // 64 bits stay as they are written
	err := d.Decode(&record)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(line[d.InputOffset():]) != "":
		return errors.New("more than one value")
	case len(record) > maxCells:
		return fmt.Errorf("%d keys, want at most %d", len(record), maxCells)
	}
	return take(slices.Sorted(maps.Keys(record)), record, record)
}

// row is a record as a document.
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

// said is a value as text: nested values are JSON.
func said(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	data, _ := json.Marshal(v) // what JSON held
	return strings.Trim(string(data), `"`)
}

// FieldsOf returns the values of a record that can be fields: numbers, truth values, lists of
// texts, times, and texts of up to 1,024 bytes, which are times if they are written as such. The values of an
// object within have the names of both, with a dot between.
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
