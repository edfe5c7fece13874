// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Fields contains the metadata of a document, such as author, date and audience. A value is a string, a
// float64, a bool, a [time.Time] or a []string. In JSON a time is the object {"time": "2024-05-01T00:00:00Z"},
// so that it is decoded as a time.
type Fields map[string]any

// Limits of the fields of a document: far above real files, and low enough that no document fills the memory.
const (
	MaxFields     = 256     // most fields of a document
	maxFieldBytes = 1 << 16 // most bytes of all names and values of a document
	maxTitleBytes = 512
	maxIDBytes    = 4096
)

// Normal returns the document in the form that an index stores: numbers in fields are float64, times are UTC,
// and lists are []string; invalid UTF-8 in text and title is replaced by U+FFFD; a title of more than 512 bytes
// is cut, since each chunk has a copy. It returns an error that names the document if its ID or Source has more
// than 4096 bytes or is not UTF-8, an integer is beyond 2^53, or [Fields.Check] rejects its fields.
func (d Document) Normal() (Document, error) {
	if d.Title = strings.ToValidUTF8(d.Title, "\ufffd"); !utf8.ValidString(d.Text) {
		d.Text = strings.ToValidUTF8(d.Text, "\ufffd")
	}
	if !utf8.ValidString(d.ID + d.Source) {
		return d, fmt.Errorf("the document %.80q: its ID or source is not UTF-8", d.ID)
	}
	if len(d.ID) > maxIDBytes || len(d.Source) > maxIDBytes {
		return d, fmt.Errorf("the document %.80q has an ID of %d bytes and a source of %d, want at most %d", d.ID, len(d.ID), len(d.Source), maxIDBytes)
	}
	if len(d.Title) > maxTitleBytes {
		d.Title = strings.ToValidUTF8(d.Title[:maxTitleBytes-len("…")], "") + "…"
	}
	fields := make(Fields, len(d.Fields))
	for name, v := range d.Fields {
		switch v := v.(type) {
		case []string:
			fields[name] = append([]string{}, v...)
		case []any:
			texts := make([]string, len(v))
			for i, x := range v {
				var ok bool
				if texts[i], ok = x.(string); !ok {
					return d, fmt.Errorf("the document %.80q: field %.80q has a %T in a list of strings", d.ID, name, x)
				}
			}
			fields[name] = texts
		default:
			if fields[name] = plain([]any{v})[0]; inexact(v) {
				return d, fmt.Errorf("the document %.80q: field %.80q is %v, a whole number beyond 2^53: write it as a text", d.ID, name, v)
			}
		}
	}
	if d.Fields != nil {
		d.Fields = fields
	}
	if err := fields.Check(); err != nil {
		return d, fmt.Errorf("the document %.80q: %w", d.ID, err)
	}
	return d, nil
}

// inexact reports whether an integer is beyond 2^53, where float64 cannot represent all integers.
func inexact(v any) bool {
	n := reflect.ValueOf(v)
	return n.CanInt() && max(n.Int(), -n.Int()) > 1<<53 || n.CanInt() && n.Int() == math.MinInt64 || n.CanUint() && n.Uint() > 1<<53
}

// Check returns an error for the first field, in the order of names, whose value has another type or exceeds a
// limit: 64 kB for all fields of a document together.
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
				return fmt.Errorf("field %.80q is not a finite number", name)
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
				return fmt.Errorf("field %.80q is not UTF-8", name)
			}
		}
		if name == "" || size > maxFieldBytes {
			return fmt.Errorf("up to the field %.80q the fields have %d bytes, want at most %d, and no empty name", name, size, maxFieldBytes)
		}
	}
	return nil
}

// jsonTime is the form of a time in JSON.
type jsonTime struct {
	Time *time.Time `json:"time"`
}

// MarshalJSON returns an object with its fields in the order of names.
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

// UnmarshalJSON decodes what MarshalJSON returns, and any JSON object of strings, numbers, booleans and lists
// of strings. It skips a null.
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
				return fmt.Errorf("field %.80q: a list may contain only strings: %w", name, err)
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

// dates are the layouts of times that ParseTime tries, in order.
var dates = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// ParseTime parses a time as fields and conditions write it: 2024-05-01, or RFC 3339. Without a zone it is UTC.
func ParseTime(s string) (time.Time, bool) {
	for _, form := range dates {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Terms returns the fields as sorted terms for an inverted index: one for each field, and one for each of its
// values. A term has at most 512 bytes. [Translate] turns a condition into spans of terms.
func (f Fields) Terms() []string {
	var out []string
	for name, v := range f {
		out = append(out, term(name, opIs))
		if list, ok := v.([]string); ok {
			for _, s := range list {
				out = append(out, term(name, opHas+short(s)))
			}
		} else if v != nil {
			out = append(out, term(name, ordered(v)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Span is the range of terms from Low to High, both included, in the order of their bytes.
type Span struct{ Low, High string }

// Translate translates a condition for an engine that indexes [Fields.Terms]. within returns a query for
// documents with a term in one of the spans; join combines queries by "and", "or" or "not", the last with one
// part.
func Translate[T any](c Condition, within func([]Span) T, join func(op string, parts []T) T) T {
	if c.field != "" {
		return within(c.spans())
	}
	parts := make([]T, len(c.of))
	for i, p := range c.of {
		parts[i] = Translate(p, within, join)
	}
	if c.op == "" {
		return join(opAnd, parts)
	}
	return join(c.op, parts)
}

// spans returns the spans of terms whose values meet a condition on one field.
func (c Condition) spans() (out []Span) {
	one := func(value string) { out = append(out, Span{term(c.field, value), term(c.field, value)}) }
	switch c.op {
	case opIs:
		one(opIs)
	case opIn:
		for _, v := range c.values {
			one(ordered(v))
		}
	case opHas:
		for _, v := range c.values {
			s, _ := v.(string)
			one(opHas + short(s))
		}
	default:
		low, high := inclusiveEnd(c.low, 1), inclusiveEnd(c.high, -1)
		if low == "" {
			low = high[:1]
		}
		if high == "" {
			high = low[:1] + "~"
		}
		out = []Span{{term(c.field, low), term(c.field, high)}}
	}
	return out
}

// inclusiveEnd returns the first (sign 1) or last (sign -1) value inside an interval as a term, "" without a
// limit.
func inclusiveEnd(b bound, sign int) string {
	if !b.open {
		return ordered(b.value)
	}
	if t, ok := b.value.(time.Time); ok {
		return ordered(t.Add(time.Duration(sign)))
	}
	x, _ := b.value.(float64)
	return ordered(math.Nextafter(x, math.Inf(sign)))
}

// ordered returns a value as text after a letter for its type, such that numbers and times sort in their order.
func ordered(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return "s" + short(v)
	case float64:
		bits := math.Float64bits(v + 0) // turns -0 into 0
		if bits>>63 == 1 {
			return fmt.Sprintf("n%016x", ^bits)
		}
		return fmt.Sprintf("n%016x", bits|1<<63)
	case time.Time:
		return fmt.Sprintf("t%016x%08x", uint64(v.Unix())^1<<63, v.Nanosecond())
	}
	return fmt.Sprintf("v%v", v)
}

func term(field, value string) string { return short(field) + " " + value }

// short returns a text, or its hash if it is long or contains white space or control characters.
func short(s string) string {
	if len(s) <= 200 && !strings.HasPrefix(s, "#") && strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) < 0 {
		return s
	}
	h := sha256.Sum256([]byte(s))
	return fmt.Sprintf("#%x", h[:16])
}
