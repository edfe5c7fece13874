// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Fields contains the metadata of a document: who wrote it, when, for whom. A value is a
// string, a float64, a bool, a [time.Time] or a []string. In JSON a time is the object
// {"time": "2024-05-01T00:00:00Z"}, so that it comes back as a time.
type Fields map[string]any

// Bounds of the fields of a document: far above what files have, and low enough that one
// document does not fill the memory.
const (
	MaxFields     = 256     // of a document
	maxFieldBytes = 1 << 16 // of all names and values together
	maxTitleBytes = 512
	maxIDBytes    = 4096
)

// Normal returns the document as an index keeps it: numbers in fields are float64, times are UTC and lists
// []string, what is no UTF-8 in text and title is U+FFFD, and a title of more than 512 bytes is cut, since
// each chunk has a copy. An ID or Source of more than 4096 bytes, or fields that [Fields.Check] refuses,
// are an error that names the document.
func (d Document) Normal() (Document, error) {
	d.Text, d.Title = strings.ToValidUTF8(d.Text, "\ufffd"), strings.ToValidUTF8(d.Title, "\ufffd")
	if !utf8.ValidString(d.ID + d.Source) {
		return d, fmt.Errorf("the document %.80q: its ID or source is no UTF-8", d.ID)
	}
	if len(d.ID) > maxIDBytes || len(d.Source) > maxIDBytes {
		return d, fmt.Errorf("the document %.80q has an ID of %d bytes and a source of %d, want at most %d", d.ID, len(d.ID), len(d.Source), maxIDBytes)
	}
	if len(d.Title) > maxTitleBytes {
		d.Title = strings.ToValidUTF8(d.Title[:maxTitleBytes-len("…")], "") + "…"
	}
	fields := make(Fields, len(d.Fields))
	for name, v := range d.Fields {
		list, ok := v.([]any)
		switch texts, is := v.([]string); {
		case is:
			fields[name] = append([]string{}, texts...)
			continue
		case !ok:
			if fields[name] = plain([]any{v})[0]; inexact(v) {
				return d, fmt.Errorf("the document %.80q: field %.80q is %v, a whole number beyond 2^53: write it as a text", d.ID, name, v)
			}
			continue
		}
		texts := make([]string, len(list))
		for i := range list {
			if texts[i], ok = list[i].(string); !ok {
				return d, fmt.Errorf("the document %.80q: field %.80q has a %T in a list of strings", d.ID, name, list[i])
			}
		}
		fields[name] = texts
	}
	if d.Fields != nil {
		d.Fields = fields
	}
	if err := fields.Check(); err != nil {
		return d, fmt.Errorf("the document %.80q: %w", d.ID, err)
	}
	return d, nil
}

// inexact reports whether a whole number has neighbours with the same float64.
func inexact(v any) bool {
	n := reflect.ValueOf(v)
	return n.CanInt() && max(n.Int(), -n.Int()) > 1<<53 || n.CanInt() && n.Int() == math.MinInt64 || n.CanUint() && n.Uint() > 1<<53
}

// Check returns an error that names the first field, in the order of names, with a value of
// another type, or beyond the bounds: 64 kB for all fields of a document together.
func (f Fields) Check() error {
	if len(f) > MaxFields {
		return fmt.Errorf("%d fields, want at most %d", len(f), MaxFields)
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(f)) {
		texts := []string{name}
		switch v := f[name].(type) {
		case string:
			texts = append(texts, v)
		case []string:
			texts = append(texts, v...)
		case float64:
			if v-v != 0 {
				return fmt.Errorf("field %.80q is no finite number", name)
			}
		case time.Time:
			if v.Year() < 0 || v.Year() > 9999 {
				return fmt.Errorf("field %.80q is a time of the year %d, want 0 to 9999", name, v.Year())
			}
		case bool:
		default:
			return fmt.Errorf("field %.80q is a %T, want a string, a float64, a bool, a time.Time or a []string", name, v)
		}
		for _, s := range texts {
			if size += len(s); !utf8.ValidString(s) {
				return fmt.Errorf("field %.80q is no UTF-8", name)
			}
		}
		if name == "" || size > maxFieldBytes {
			return fmt.Errorf("with the field %.80q the fields have %d bytes, want at most %d and no empty name", name, size, maxFieldBytes)
		}
	}
	return nil
}

// jsonTime is a time in JSON.
type jsonTime struct {
	Time *time.Time `json:"time"`
}

// MarshalJSON writes an object in the order of names.
func (f Fields) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("null"), nil
	}
	out := make(map[string]any, len(f))
	for name, v := range f {
		if t, ok := v.(time.Time); ok {
			v = jsonTime{&t}
		}
		out[name] = v
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes, and any JSON object of strings, numbers, truth
// values and lists of strings. A null is no field.
func (f *Fields) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*f = make(Fields, len(raw))
	for name, r := range raw {
		var (
			list []string
			at   jsonTime
			v    any
		)
		switch err := error(nil); {
		case r[0] == '[':
			if err = json.Unmarshal(r, &list); err != nil {
				return fmt.Errorf("field %.80q: a list holds strings: %w", name, err)
			}
			(*f)[name] = list
		case r[0] == '{':
			if err = json.Unmarshal(r, &at); err != nil || at.Time == nil {
				return fmt.Errorf("field %.80q is an object: want a string, a number, true, false, a list of strings or {\"time\": \"2024-05-01T00:00:00Z\"}", name)
			}
			(*f)[name] = *at.Time
		default:
			if err = json.Unmarshal(r, &v); err != nil {
				return err
			}
			if v != nil {
				(*f)[name] = v
			}
		}
	}
	return f.Check()
}

// dates are the forms of times in texts, the first of all that is read.
var dates = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// ParseTime reads a time as fields and conditions write it: 2024-05-01, or RFC 3339. Without
// a zone it is UTC.
func ParseTime(s string) (time.Time, bool) {
	for _, form := range dates {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
