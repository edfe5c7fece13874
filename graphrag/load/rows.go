// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// maxValue is the longest text that is a field, in bytes: one that is compared, not read.
const maxValue = 1024

// Rows reads a file of records (.csv or .tsv with a header, .jsonl), each as a document of its own, for conditions on
// them: its columns are its fields, and its text "column: value" in lines, then the column named text, content, body or
// alike as it is. Its title is the column title, name or alike, its ID the column id or _id, or else the name of the
// file, a slash and the number of the row. All texts together are at most eight times as long as the file.
func Rows(name string, data []byte) ([]graphrag.Document, error) {
	var docs []graphrag.Document
	seen := map[string]bool{}
	source, _, err := decoded(data)
	if err != nil {
		return nil, err
	}
	read := csvRows
	if strings.EqualFold(path.Ext(name), ".jsonl") {
		read = jsonRows
	}
	left := maxLabels * len(source)
	err = read(name, source, func(names []string, record, values map[string]any) error {
		d := row(names, record, values)
		d.Source = fmt.Sprintf("%s/%d", name, len(docs)+1)
		if d.ID = cmp.Or(d.ID, d.Source); seen[d.ID] {
			return fmt.Errorf("row %d has the ID %.80q of another row: give each its own", len(docs)+1, d.ID)
		}
		if left -= len(d.Text); left < 0 {
			return fmt.Errorf("row %d: the names of columns, which stand with each value, take %d times the file: shorten them", len(docs)+1, maxLabels)
		}
		seen[d.ID] = true
		docs = append(docs, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	return docs, nil
}

// csvRows reads the rows below a header.
func csvRows(name, source string, take func(names []string, record, values map[string]any) error) error {
	s := newSheet(name, strings.TrimPrefix(source, "\ufeff"))
	if s.tooWide() {
		return fmt.Errorf("a line has more than %d cells", maxCells)
	}
	var header, names []string
	n := 0
	for cells := range s.records() {
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
	if header == nil {
		return errors.New("no header: the first line names the columns")
	}
	return nil
}

// jsonRows reads an object a line.
func jsonRows(_, source string, take func(names []string, record, values map[string]any) error) error {
	for at, line := range eachLine(source) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		record := map[string]any{}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber() // 64 bits stay as they are written
		err := d.Decode(&record)
		if err == nil && strings.TrimSpace(line[d.InputOffset():]) != "" {
			err = errors.New("more than one value")
		}
		if err == nil && len(record) > maxCells {
			err = fmt.Errorf("%d keys, want at most %d", len(record), maxCells)
		}
		if err == nil {
			err = take(slices.Sorted(maps.Keys(record)), record, record)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", 1+strings.Count(source[:at], "\n"), err)
		}
	}
	return nil
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
	title, body := column(nameKeys...), column(textKeys...)
	if id := column("id", "_id"); id != "" {
		d.ID = said(record[id])
	}
	if title != "" {
		d.Title = oneLine(said(record[title]))
	}
	var text strings.Builder
	for _, name := range names {
		if value := said(record[name]); value != "" && name != body {
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

// FieldsOf returns what can be fields: numbers, truth values, lists of texts, times, texts of up to 1,024 bytes.
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
