// SPDX-License-Identifier: Apache-2.0

package replies

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A form is the Go type that [Decode] reads a reply into. It determines the JSON schema that is sent, how leniently the
// reply is read, and the wording of faults that are reported to the model. Models write numbers as texts, one value in
// place of a list, and objects inside other objects; a value with only one possible meaning is accepted.

// Triple is a fact as models write it: a list of three texts or numbers, a text such as "a | b | c", or an object
// with the usual keys (head, subject or source; relation or predicate; tail, object or target). Fault says what is
// wrong with any other JSON; Raw is the original JSON.
type Triple struct {
	Head, Relation, Tail string
	Fault                string
	Raw                  string
}

// UnmarshalJSON implements json.Unmarshaler. For valid JSON it never fails: a bad triple must not fail its
// list.
func (t *Triple) UnmarshalJSON(data []byte) error {
	*t = Triple{Raw: string(data)}
	v, err := decoded(data)
	if err != nil {
		return err
	}
	var parts []any
	switch v := v.(type) {
	case []any:
		parts = v
	case map[string]any:
		if parts = tripleParts(v); parts == nil {
			parts, _ = inside(v)
		}
	case string:
		parts = partsOf(v)
	}
	if parts == nil {
		t.Fault = "neither a list nor an object of subject, relation and object"
		return nil
	}
	if len(parts) != 3 {
		t.Fault = fmt.Sprintf("a list of %d, not of subject, relation and object", len(parts))
	}
	for i, dst := range []*string{&t.Head, &t.Relation, &t.Tail} {
		if i < len(parts) {
			*dst, _ = nameOf(parts[i])
		}
	}
	if t.Fault == "" && (Nothing(t.Head) || Nothing(t.Tail)) {
		t.Fault = "the subject or the object is empty"
	}
	return nil
}

// partsOf splits a triple in one text, such as "a | b | c". Without a usual separator it returns the text.
func partsOf(text string) (parts []any) {
	text = strings.TrimSpace(text)
	inner := strings.Trim(numbered.ReplaceAllString(text, ""), "()[] ")
	for _, mark := range []string{"<|>", "|", "\t", "->", "=>", "::", "→", " - ", " – ", " — ", ";", ","} {
		if of := strings.Split(inner, mark); len(of) == 3 && (mark != "," || inner != text) {
			return []any{of[0], of[1], of[2]}
		}
	}
	return []any{inner}
}

// tripleParts returns the parts of a triple that was written as an object, or nil if a key is missing.
func tripleParts(object map[string]any) []any {
	var parts []any
	for _, keys := range [][]string{{"head", "subject", "source", "head_entity"}, {"relation", "predicate", "relationship"}, {"tail", "object", "target", "tail_entity"}} {
		at := slices.IndexFunc(keys, func(k string) bool { return lookup(object, k) != nil })
		if at < 0 {
			return nil
		}
		parts = append(parts, lookup(object, keys[at]))
	}
	return parts
}

// decoded decodes JSON with numbers as [json.Number].
func decoded(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// fit reads a decoded value into a part of a form; at names the part in errors.
func fit(dst reflect.Value, v any, at string) error {
	if u, ok := dst.Addr().Interface().(json.Unmarshaler); ok {
		raw, err := json.Marshal(v)
		if err == nil {
			err = u.UnmarshalJSON(raw)
		}
		return err
	}
	if v = bare(dst.Kind(), v); v == nil {
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		return fit(dst.Elem(), v, at)
	case reflect.String:
		return fitText(dst, v, at)
	case reflect.Bool:
		return fitTruth(dst, v, at)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return fitNumber(dst, v, at)
	case reflect.Slice:
		return fitList(dst, v, at)
	case reflect.Map:
		return fitMap(dst, v, at)
	case reflect.Struct:
		return fitObject(dst, v, at)
	}
	return fmt.Errorf("replies: a form cannot have a field of type %s", dst.Type())
}

// bare unwraps a value: the element of a list of one where a single value is expected, and JSON inside a text.
func bare(wanted reflect.Kind, v any) any {
	many := wanted == reflect.Slice || wanted == reflect.Struct || wanted == reflect.Map
	switch x := v.(type) {
	case []any:
		if len(x) == 1 && !many {
			return x[0]
		}
	case string:
		if many {
			if inner, err := decoded(wholeJSON(x, "[{")); err == nil {
				return inner
			}
		}
	}
	return v
}

// fault returns an error: the part at of a reply holds v, not what was wanted.
func fault(at string, v any, wanted string) error {
	holds := "nothing"
	switch v.(type) {
	case string:
		holds = "a text"
	case json.Number:
		holds = "a number"
	case bool:
		holds = "true or false"
	case []any:
		holds = "a list"
	case map[string]any:
		holds = "an object"
	}
	if at == "" {
		at = "the reply"
	}
	return fmt.Errorf("%s holds %s where %s was expected", at, holds, wanted)
}

// scalar returns a text, a number or a truth value as text, and false for other values.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// nameOf returns a scalar as text; from an object it returns the only value, or the value of "name".
func nameOf(v any) (string, bool) {
	object, ok := v.(map[string]any)
	if !ok {
		return scalar(v)
	}
	if len(object) == 1 {
		return scalar(slices.Collect(maps.Values(object))[0])
	}
	return scalar(lookup(object, "name"))
}

// fitText reads a text. It also accepts a number, a list of texts, and an object with one text or a name.
func fitText(dst reflect.Value, v any, at string) error {
	text, ok := nameOf(v)
	switch x := v.(type) {
	case []any:
		texts := make([]string, len(x))
		ok = true
		for i := 0; i < len(x) && ok; i++ {
			texts[i], ok = scalar(x[i])
		}
		text = strings.Join(texts, " ")
	case map[string]any:
	default:
		if dst.Type() == reflect.TypeFor[json.Number]() {
			if text, ok = numeral(v); !ok {
				return fault(at, v, "a number")
			}
		} else if s, is := v.(string); is {
			text = s // blanks at its ends are kept
		}
	}
	if !ok {
		return fault(at, v, "a text")
	}
	dst.SetString(text)
	return nil
}

func fitTruth(dst reflect.Value, v any, at string) error {
	text, _ := scalar(v)
	switch strings.ToLower(strings.Trim(text, "*.\"' ")) {
	case "true", "yes", "1", "1.0":
		dst.SetBool(true)
	case "false", "no", "0", "0.0":
		dst.SetBool(false)
	default:
		return fault(at, v, "true or false")
	}
	return nil
}

var (
	numbered     = regexp.MustCompile(`^\d{1,3}[.)]\s+`)
	numerals     = regexp.MustCompile(`[-+]?\d+(\.\d+)?`)
	decimalComma = regexp.MustCompile(`^[-+]?\d+,\d\d?$`)
)

// numeral returns the only number in a value such as 4, "**1**" or "passage 3", and the 5 of "5/10" and "5 out
// of 10".
func numeral(v any) (string, bool) {
	text, ok := nameOf(v)
	if !ok {
		return "", false
	}
	text = strings.ReplaceAll(text, "−", "-")
	if decimalComma.MatchString(text) {
		text = strings.Replace(text, ",", ".", 1)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return strings.TrimPrefix(text, "+"), true
	}
	at := numerals.FindAllStringIndex(text, -1)
	if len(at) == 2 {
		if between := strings.TrimSpace(text[at[0][1]:at[1][0]]); between != "/" && between != "out of" {
			return "", false
		}
		at = at[:1]
	}
	if len(at) != 1 {
		return "", false
	}
	return strings.TrimPrefix(text[at[0][0]:at[0][1]], "+"), true
}

func fitNumber(dst reflect.Value, v any, at string) error {
	text, ok := numeral(v)
	f, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil {
		return fault(at, v, "a number")
	}
	if dst.Kind() == reflect.Float64 {
		dst.SetFloat(f)
		return nil
	}
	n := int64(f)
	if float64(n) != f || dst.OverflowInt(n) {
		return fault(at, v, "a whole number")
	}
	dst.SetInt(n)
	return nil
}

// fitList reads a list. It also accepts one element in place of a list, an object around the list, and an
// object with a key for each element.
func fitList(dst reflect.Value, v any, at string) error {
	of := dst.Type().Elem()
	list, ok := v.([]any)
	if object, is := v.(map[string]any); is {
		if list, ok = inside(object); !ok {
			list, ok = keyed(of, object)
		}
	}
	if text, is := v.(string); is {
		list, ok = listed(of, text)
	}
	if of == reflect.TypeFor[Triple]() && len(list) == 3 && !slices.ContainsFunc(list, func(e any) bool { text, is := scalar(e); return !is || len(partsOf(text)) == 3 }) {
		list = []any{list} // one triple without its brackets
	}
	if !ok {
		list = []any{v}
	}
	out := reflect.MakeSlice(dst.Type(), 0, len(list))
	for i, e := range list {
		if e == nil {
			continue
		}
		one := reflect.New(dst.Type().Elem()).Elem()
		if err := fit(one, e, fmt.Sprintf("%s, element %d,", at, i+1)); err != nil {
			if !ok {
				return fault(at, v, "a list")
			}
			return err
		}
		out = reflect.Append(out, one)
	}
	dst.Set(out)
	return nil
}

// listed reads a list that was written as a text: blank for an empty list, or numbers with commas between.
func listed(of reflect.Type, text string) (list []any, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || of.Kind() != reflect.String && Nothing(text) {
		return nil, true
	}
	if of.Kind() != reflect.Int && of.Kind() != reflect.Float64 {
		return nil, false
	}
	for _, part := range strings.Split(text, ",") {
		list = append(list, part)
	}
	return list, len(list) > 1
}

// keyed returns the values of an object in the order of its keys, if each is an element of a list of that type.
func keyed(of reflect.Type, object map[string]any) (list []any, ok bool) {
	if takes(of, object) {
		return nil, false
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !takes(of, object[key]) {
			return nil, false
		}
		list = append(list, object[key])
	}
	return list, len(list) > 0
}

// takes reports whether a value has the form of a type without any wrapping.
func takes(t reflect.Type, v any) bool {
	object, isObject := v.(map[string]any)
	switch {
	case t == reflect.TypeFor[Triple]():
		return isObject && tripleParts(object) != nil
	case t.Kind() != reflect.Struct:
		return false
	case isObject:
		return hasField(fieldsOf(t), object)
	}
	_, isText := v.(string)
	return isText && slices.ContainsFunc(fieldsOf(t), func(f field) bool { return f.alone })
}

// inside returns the list in an object that has no other value.
func inside(object map[string]any) (list []any, ok bool) {
	for _, v := range object {
		list, ok = v.([]any)
	}
	return list, ok && len(object) == 1
}

// pairs returns the entries of an object as texts "key: value", if all its values are scalars.
func pairs(object map[string]any) (list []any, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		text, ok := scalar(object[key])
		if !ok {
			return nil, false
		}
		list = append(list, key+": "+text)
	}
	return list, true
}

// fitMap reads a map. For a map of lists it also accepts an object in place of a list: {"a": "b"} for ["a: b"].
func fitMap(dst reflect.Value, v any, at string) error {
	object, ok := v.(map[string]any)
	if list, is := v.([]any); is {
		object, ok = merged(list)
	}
	if !ok {
		return fault(at, v, "an object")
	}
	out := reflect.MakeMap(dst.Type())
	for _, key := range slices.Sorted(maps.Keys(object)) {
		one := reflect.New(dst.Type().Elem()).Elem()
		value := object[key]
		if inner, is := value.(map[string]any); is && one.Type() == reflect.TypeFor[[]string]() {
			if list, ok := pairs(inner); ok {
				value = list
			}
		}
		if err := fit(one, value, at+"."+key); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key), one)
	}
	dst.Set(out)
	return nil
}

// merged turns a list of objects into one object. Each has one key and its value, or two keys: then the value
// of "name", "entity" or "key" is the key, and the other value its value.
func merged(list []any) (map[string]any, bool) {
	out := make(map[string]any)
	for _, e := range list {
		object, _ := e.(map[string]any)
		belongs := ""
		for _, key := range []string{"name", "entity", "key"} {
			if text, ok := lookup(object, key).(string); ok && belongs == "" && len(object) == 2 {
				belongs = text
			}
		}
		if len(object) != 1 && belongs == "" {
			return nil, false
		}
		for key, value := range object {
			switch {
			case belongs == "":
				out[key] = value
			case value != belongs:
				out[belongs] = value
			}
		}
	}
	return out, true
}

// bareKey returns a key in lower case without underscores and hyphens.
func bareKey(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// lookup returns the value of a key; the object may write the key with other case, underscores or hyphens.
func lookup(object map[string]any, key string) any {
	if v, ok := object[key]; ok {
		return v
	}
	for _, k := range slices.Sorted(maps.Keys(object)) {
		if bareKey(k) == bareKey(key) {
			return object[k]
		}
	}
	return nil
}

// fitObject reads a struct. It also accepts an object inside another, a list for a form with one list, and a
// text for a form with a field marked "alone". An object without any key of the form is a fault: it must not be
// taken for an empty answer.
func fitObject(dst reflect.Value, v any, at string) error {
	fields := fieldsOf(dst.Type())
	if list, is := v.([]any); is && len(list) == 1 && takes(dst.Type(), list[0]) {
		v = list[0]
	}
	object, ok := v.(map[string]any)
	if !ok || !hasKey(fields, object) {
		if inner, is := unwrapped(dst.Type(), fields, object); is {
			return fitObject(dst, inner, at)
		}
		if only, is := soleField(dst.Type(), fields, v); is {
			return fitField(dst, only, v, at)
		}
	}
	switch {
	case !ok:
		return fault(at, v, "an object")
	case !hasField(fields, object) && (at == "" || !hasKey(fields, object)):
		return missingFields(fields, object, at)
	}
	for _, f := range fields {
		if err := fitField(dst, f, lookup(object, f.key), at); err != nil {
			return err
		}
	}
	return nil
}

// fitField reads a value into a field. A listed value may differ in case, or be in quotes or asterisks.
func fitField(of reflect.Value, f field, v any, at string) error {
	dst := of.Field(f.index)
	err := fit(dst, v, strings.TrimPrefix(at+"."+f.key, "."))
	for _, value := range f.values {
		if dst.Kind() == reflect.String && strings.EqualFold(value, strings.Trim(dst.String(), "*.\"' ")) {
			dst.SetString(value)
		}
	}
	return err
}

// soleField returns the field to which a value without its object belongs: a list or an element to the only
// list of the form, a text or a number to the field marked "alone".
func soleField(t reflect.Type, fields []field, v any) (field, bool) {
	_, isList := v.([]any)
	object, isObject := v.(map[string]any)
	var lists []field
	for _, f := range fields {
		if of := t.Field(f.index).Type; of.Kind() == reflect.Slice && of != reflect.TypeFor[json.RawMessage]() {
			lists = append(lists, f)
		}
	}
	if len(lists) == 1 && (isList || isObject && takes(t.Field(lists[0].index).Type.Elem(), v)) {
		return lists[0], true
	}
	at := slices.IndexFunc(fields, func(f field) bool { return f.alone })
	if isList || isObject && len(object) != 1 || at < 0 {
		return field{}, false
	}
	return fields[at], true
}

// hasField reports whether an object has a key of the form whose value is not null.
func hasField(fields []field, object map[string]any) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return lookup(object, f.key) != nil })
}

// hasKey reports whether an object has a key of the form, or is empty.
func hasKey(fields []field, object map[string]any) bool {
	return len(object) == 0 || slices.ContainsFunc(fields, func(f field) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(object)), func(k string) bool { return bareKey(k) == bareKey(f.key) })
	})
}

// unwrapped returns the only value inside an object, at any depth, that has the form.
func unwrapped(t reflect.Type, fields []field, object map[string]any) (inner any, ok bool) {
	for _, v := range object {
		is := false
		switch x := v.(type) {
		case map[string]any:
			if is = hasField(fields, x); !is {
				v, is = unwrapped(t, fields, x)
			}
		case []any:
			if is = len(x) == 1 && takes(t, x[0]); !is && len(x) > 0 {
				_, is = soleField(t, fields, x)
			}
		}
		if is && ok {
			return nil, false
		}
		if is {
			inner, ok = v, true
		}
	}
	return inner, ok
}

func missingFields(fields []field, object map[string]any, at string) error {
	var want []string
	for _, f := range fields {
		want = append(want, strconv.Quote(f.key))
	}
	if len(object) == 0 {
		return fmt.Errorf("the object is empty, without %s", strings.Join(want, ", "))
	}
	if hasKey(fields, object) {
		return fmt.Errorf("%s has nothing under %s", cmp.Or(at, "the object"), strings.Join(want, ", "))
	}
	have := slices.Sorted(maps.Keys(object))
	return fmt.Errorf("%s has %s, not %s", cmp.Or(at, "the object"), clip(strings.Join(have, ", "), 100), strings.Join(want, ", "))
}
