// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Terms returns the fields as terms for an inverted index, which has a field and one of its values in
// each: at most 512 bytes with one blank, in order. [Translate] makes of a condition spans of them.
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

// Span is the terms from Low to High, both included, in the order of their bytes.
type Span struct{ Low, High string }

// Translate writes a condition in the language of an engine that indexes [Fields.Terms]. within is met
// by fields with a term in one of the spans; join takes "and", "or" or "not", the last with one part.
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

// spans are the terms of the values that meet a condition on one field.
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

// inclusiveEnd is the end of an interval as the first or last term inside; sign says which. "" is no end.
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

// ordered writes a value after a letter for its type, numbers and times in their order.
func ordered(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return "s" + short(v)
	case float64:
		bits := math.Float64bits(v + 0) // of both zeros the positive
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

// short is a text, or its hash where it is long or has letters that split terms.
func short(s string) string {
	if len(s) <= 200 && !strings.HasPrefix(s, "#") && strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) < 0 {
		return s
	}
	h := sha256.Sum256([]byte(s))
	return fmt.Sprintf("#%x", h[:16])
}
