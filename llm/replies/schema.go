// SPDX-License-Identifier: Apache-2.0

package replies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Schema returns the JSON schema of T that [Decode] sends, for callers of [Read]; nil if T has none.
//
// A type with raw JSON, its own UnmarshalJSON or a struct of optional keys alone has none. Keys have the order of the
// fields; those with omitempty are optional. The tag llm:"enum=a|b" lists the values of a text, or of the texts of a
// list; a reply may have others.
func Schema[T any]() json.RawMessage {
	var b bytes.Buffer
	if !writeSchema(&b, reflect.TypeFor[T](), nil) {
		return nil
	}
	return b.Bytes()
}

func writeSchema(b *bytes.Buffer, t reflect.Type, values []string) bool {
	switch {
	case t == reflect.TypeFor[Triple]():
		b.WriteString(`{"type":"array","items":{"type":"string"}}`)
		return true
	case t == reflect.TypeFor[json.Number]():
		b.WriteString(`{"type":"number"}`)
		return true
	case t == reflect.TypeFor[json.RawMessage]() || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return false
	}
	switch t.Kind() {
	case reflect.Pointer:
		return writeSchema(b, t.Elem(), values)
	case reflect.String:
		b.WriteString(`{"type":"string"`)
		if values != nil {
			fmt.Fprintf(b, `,"enum":["%s"]`, strings.Join(values, `","`))
		}
		b.WriteByte('}')
	case reflect.Bool:
		b.WriteString(`{"type":"boolean"}`)
	case reflect.Int, reflect.Int32, reflect.Int64:
		b.WriteString(`{"type":"integer"}`)
	case reflect.Float64:
		b.WriteString(`{"type":"number"}`)
	case reflect.Slice, reflect.Map:
		around := `{"type":"array","items":`
		if t.Kind() == reflect.Map {
			around = `{"type":"object","additionalProperties":`
		}
		b.WriteString(around)
		ok := writeSchema(b, t.Elem(), values)
		b.WriteByte('}')
		return ok
	case reflect.Struct:
		return writeObject(b, t)
	default:
		return false
	}
	return true
}

func writeObject(b *bytes.Buffer, t reflect.Type) bool {
	var required []string
	b.WriteString(`{"type":"object","additionalProperties":false,"properties":{`)
	for i, f := range fieldsOf(t) {
		if i > 0 {
			b.WriteByte(',')
		}
		if !f.optional {
			required = append(required, f.key)
		}
		fmt.Fprintf(b, "%q:", f.key)
		if !writeSchema(b, t.Field(f.index).Type, f.values) {
			return false
		}
	}
	keys, err := json.Marshal(required)
	fmt.Fprintf(b, `},"required":%s}`, keys)
	return err == nil && required != nil
}

// field is a field of a form: its key in JSON and its options.
type field struct {
	index    int
	key      string
	optional bool     // marked omitempty: a reply may lack the key
	alone    bool     // tag llm:"alone": a text in place of the object is this field
	values   []string // texts listed in the tag llm:"enum=a|b"
}

func fieldsOf(t reflect.Type) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		key, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" {
			key = strings.ToLower(f.Name)
		}
		one := field{index: i, key: key, optional: strings.Contains(rest, "omitempty")}
		for part := range strings.SplitSeq(f.Tag.Get("llm"), ",") {
			one.alone = one.alone || part == "alone"
			if list, ok := strings.CutPrefix(part, "enum="); ok {
				one.values = strings.Split(list, "|")
			}
		}
		out = append(out, one)
	}
	return out
}
