// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Condition selects documents by their [Fields]. It is parsed by [ParseCondition], or built of [Equal], [In],
// [Has], [Between], [And], [Or] and [Not]. The zero Condition selects all documents. Its JSON is its text.
type Condition struct {
	op     string // and, or, not, in, has, between or is; "" selects all
	field  string
	values []any // for in and has
	low    bound // for between
	high   bound
	of     []Condition
}

// bound is an end of an interval; a nil value means no limit.
type bound struct {
	value any
	open  bool // the interval excludes the value itself
}

// The operators of conditions.
const (
	opAnd, opOr, opNot    = "and", "or", "not"
	opIn, opHas, opWithin = "in", "has", "between"
	opIs                  = "is" // the field exists; ParseCondition has no syntax for it
)

// And is true if all of the conditions are true.
func And(all ...Condition) Condition { return Condition{op: opAnd, of: all} }

// Or is true if at least one of the conditions is true.
func Or(some ...Condition) Condition { return Condition{op: opOr, of: some} }

// Not is true if c is false, so also for documents without the field.
func Not(c Condition) Condition { return Condition{op: opNot, of: []Condition{c}} }

// Equal is true for documents whose field has the value: a string, a number, a bool or a time.Time.
func Equal(field string, value any) Condition { return In(field, value) }

// In is true for documents whose field has one of the values.
func In(field string, values ...any) Condition {
	return Condition{op: opIn, field: field, values: plain(values)}
}

// Has is true for documents whose field is a list that contains one of the values.
func Has(field string, values ...string) Condition {
	c := Condition{op: opHas, field: field}
	for _, v := range values {
		c.values = append(c.values, v)
	}
	return c
}

// Between is true for documents whose field is from low to high, both included: two numbers or two times; nil
// means no limit.
func Between(field string, low, high any) Condition {
	ends := plain([]any{low, high})
	return Condition{op: opWithin, field: field, low: bound{value: ends[0]}, high: bound{value: ends[1]}}
}

// Exists is true for documents that have the field. ParseCondition has no syntax for it.
func Exists(field string) Condition { return Condition{op: opIs, field: field} }

// plain converts numbers of any type to float64, types based on string and bool to these, and times to UTC.
func plain(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
		if t, ok := v.(time.Time); ok {
			out[i] = t.UTC().Round(0)
			continue
		}
		if n, ok := v.(interface{ Float64() (float64, error) }); ok { // json.Number and types like it
			if f, err := n.Float64(); err == nil {
				v = f
			}
		}
		switch n := reflect.ValueOf(v); {
		case n.CanInt():
			out[i] = float64(n.Int())
		case n.CanUint():
			out[i] = float64(n.Uint())
		case n.CanFloat():
			out[i] = n.Float()
		case n.Kind() == reflect.String:
			out[i] = n.String()
		case n.Kind() == reflect.Bool:
			out[i] = n.Bool()
		}
	}
	return out
}

// Check returns an error for a value of a type that no field has, a number that is not finite, a field without
// a name or with a backquote in it, an interval without limits or with limits of two types, and more than 500
// nested conditions. Systems check the conditions they are given.
func (c Condition) Check() error { return c.check(1) }

// maxDepth is more than parsed conditions have: and, or and not in each of maxNested parentheses.
const maxDepth = 500

func (c Condition) check(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d nested conditions", maxDepth)
	}
	for _, p := range c.of {
		if err := p.check(depth + 1); err != nil {
			return err
		}
	}
	if c.op == "" || c.op == opAnd || c.op == opOr || c.op == opNot {
		return nil
	}
	values := c.values
	if c.op == opWithin {
		values = slices.DeleteFunc([]any{c.low.value, c.high.value}, func(v any) bool { return v == nil })
		ok := len(values) > 0
		if ok {
			_, ok = compare(values[0], values[len(values)-1])
		}
		if !ok {
			return fmt.Errorf("field %.80q is compared with %v: want one or two numbers, or one or two times", c.field, values)
		}
	}
	if c.field == "" || strings.Contains(c.field, "`") {
		return fmt.Errorf("%.80q cannot be the name of a field: it is empty or contains a backquote", c.field)
	}
	for _, v := range values {
		switch v := v.(type) {
		case string, bool, time.Time:
			continue
		case float64:
			if v-v == 0 {
				continue
			}
		}
		return fmt.Errorf("field %.80q is compared with %v, a %T: want a string, a finite number, a bool or a time", c.field, v, v)
	}
	return nil
}

// Compile returns a function that reports whether fields meet the condition. If a document lacks the field, or
// its value has another type, only a negation is true.
func (c Condition) Compile() func(Fields) bool {
	switch c.op {
	case "":
		return func(Fields) bool { return true }
	case opAnd, opOr:
		parts := make([]func(Fields) bool, len(c.of))
		for i, p := range c.of {
			parts[i] = p.Compile()
		}
		return func(f Fields) bool {
			for _, p := range parts {
				if p(f) != (c.op == opAnd) {
					return c.op == opOr
				}
			}
			return c.op == opAnd
		}
	case opNot:
		part := c.of[0].Compile()
		return func(f Fields) bool { return !part(f) }
	default:
		meets := c.leaf()
		return func(f Fields) bool { return meets(f[c.field]) }
	}
}

// leaf returns a function that reports whether a value (nil if there is none) meets a condition on one field.
func (c Condition) leaf() func(v any) bool {
	set := c.set()
	switch c.op {
	case opIs:
		return func(v any) bool { return v != nil }
	case opIn:
		return func(v any) bool {
			switch v := v.(type) {
			case string, float64, bool:
				return set[v]
			case time.Time:
				return set[v.UTC().Round(0)]
			}
			return false
		}
	case opHas:
		return func(v any) bool {
			list, _ := v.([]string)
			return slices.ContainsFunc(list, func(s string) bool { return set[s] })
		}
	default:
		return c.within
	}
}

// Select returns the set of the documents, of n, that meet the condition: document i is bit i%64 of word i/64.
// column returns the distinct values of a field and, for each document, the index of its value, or -1 if it has
// none.
func (c Condition) Select(n int, column func(field string) (values []any, of []int32)) []uint64 {
	out := make([]uint64, (n+63)/64)
	if c.field != "" {
		values, of := column(c.field)
		meets := c.leaf()
		met := make([]bool, len(values))
		for i, v := range values {
			met[i] = meets(v)
		}
		for doc, v := range of {
			if v >= 0 && met[v] {
				out[doc/64] |= 1 << (doc % 64)
			}
		}
		return out
	}
	for i := range out {
		if c.op != opOr {
			out[i] = ^uint64(0) >> max(0, 64*(i+1)-n)
		}
	}
	for _, part := range c.of {
		for i, word := range part.Select(n, column) {
			switch c.op {
			case opOr:
				out[i] |= word
			case opNot:
				out[i] &^= word
			default:
				out[i] &= word
			}
		}
	}
	return out
}

// set returns the values of in or has as a set.
func (c Condition) set() map[any]bool {
	set := make(map[any]bool, len(c.values))
	for _, v := range c.values {
		switch v.(type) {
		case string, float64, bool, time.Time:
			set[v] = true
		}
	}
	return set
}

// within reports whether a number or a time is in the interval of between.
func (c Condition) within(v any) bool {
	after := func(end bound, sign int) bool { // reports whether v is inside of one end of the interval
		if end.value == nil {
			return true
		}
		order, ok := compare(v, end.value)
		return ok && (order*sign > 0 || order == 0 && !end.open)
	}
	return v != nil && after(c.low, 1) && after(c.high, -1)
}

// compare compares two numbers or two times; ok is false for other types.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), true
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), true
		}
	}
	return 0, false
}

// Names returns the names of the fields in the condition, sorted, each once.
func (c Condition) Names() []string {
	var names []string
	var walk func(Condition)
	walk = func(c Condition) {
		if c.field != "" {
			names = append(names, c.field)
		}
		for _, p := range c.of {
			walk(p)
		}
	}
	walk(c)
	slices.Sort(names)
	return slices.Compact(names)
}

// String returns the condition in the syntax of [ParseCondition].
func (c Condition) String() string {
	switch c.op {
	case opAnd, opOr:
		parts := make([]string, len(c.of))
		for i, p := range c.of {
			if parts[i] = p.String(); p.op == opAnd || p.op == opOr {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		if len(parts) == 0 {
			return map[string]string{opAnd: "all", opOr: "not all"}[c.op]
		}
		return strings.Join(parts, " "+c.op+" ")
	case opNot:
		return "not (" + c.of[0].String() + ")"
	case opIn, opHas:
		parts := make([]string, len(c.values))
		for i, v := range c.values {
			parts[i] = literal(v)
		}
		if len(parts) == 1 {
			return quotedField(c.field) + map[string]string{opIn: " = ", opHas: " has "}[c.op] + parts[0]
		}
		return quotedField(c.field) + " " + c.op + " (" + strings.Join(parts, ", ") + ")"
	case opWithin:
		var parts []string
		for _, end := range []struct {
			bound
			sign string
		}{{c.low, ">"}, {c.high, "<"}} {
			if end.value == nil {
				continue
			}
			if !end.open {
				end.sign += "="
			}
			parts = append(parts, quotedField(c.field)+" "+end.sign+" "+literal(end.value))
		}
		return strings.Join(parts, " and ")
	case opIs:
		return quotedField(c.field) + " is there" // only from Scope.Condition; ParseCondition rejects it
	}
	return "all"
}

func literal(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// quotedField returns a field's name, in backquotes if it needs them.
func quotedField(field string) string {
	if !isWord(field) || reserved[field] {
		return "`" + field + "`"
	}
	return field
}

// MarshalText returns the text of the condition.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses a condition.
func (c *Condition) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCondition(string(b))
	return err
}

type scopeKey struct{}

// WithScope returns a context in which systems see only documents that meet c: the ones that a user may see,
// set by the program that knows the user. A question can narrow the scope ([Question].Where) but never widen
// it, and a scope within a scope narrows it further. A document that lacks a field named in the scope is not
// seen, even if the condition is a negation.
func WithScope(ctx context.Context, c Condition) context.Context {
	if within, ok := ctx.Value(scopeKey{}).(Condition); ok {
		c = And(within, c)
	}
	return context.WithValue(ctx, scopeKey{}, c)
}

// Scope describes the documents that a caller may see.
type Scope struct{ condition Condition }

// NewScope returns the scope of a condition.
func NewScope(c Condition) *Scope { return &Scope{c} }

// ScopeOf returns the scope of a context; nil means that all documents are seen.
func ScopeOf(ctx context.Context) *Scope {
	c, ok := ctx.Value(scopeKey{}).(Condition)
	if !ok {
		return nil
	}
	return &Scope{c}
}

// Check returns an error if the scope's condition is invalid.
func (s *Scope) Check() error { return s.condition.Check() }

// String returns the scope's condition in the syntax of [ParseCondition].
func (s *Scope) String() string { return s.condition.String() }

// Condition returns the condition that the seen documents meet: they have all fields named in the scope, and
// meet its condition. ParseCondition has no syntax for it.
func (s *Scope) Condition() Condition {
	all := []Condition{s.condition}
	for _, n := range s.condition.Names() {
		all = append(all, Exists(n))
	}
	return And(all...)
}

// Compile returns the function that reports whether a document with these fields is seen.
func (s *Scope) Compile() func(Fields) bool { return s.Condition().Compile() }
