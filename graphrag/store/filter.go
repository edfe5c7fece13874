// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"math"
	"slices"
)

// Filter is a condition on the fields of records, small enough for every engine. The
// zero Filter holds for all. A record without the field meets no condition on it but
// Not of one.
type Filter struct {
	Op      Op
	Field   string
	Values  []any    // of Equal and In
	Low     float64  // of Range, both ends included
	High    float64  // of Range
	Filters []Filter // of And, Or and Not
}

// Op is what a filter asks.
type Op string

// The ops.
const (
	OpAnd   Op = "and"
	OpOr    Op = "or"
	OpNot   Op = "not"
	OpIn    Op = "in"
	OpRange Op = "range"
)

// And holds where all hold.
func And(all ...Filter) Filter { return Filter{Op: OpAnd, Filters: all} }

// Or holds where one holds.
func Or(some ...Filter) Filter { return Filter{Op: OpOr, Filters: some} }

// Not holds where f does not.
func Not(f Filter) Filter { return Filter{Op: OpNot, Filters: []Filter{f}} }

// Equal holds where a field has the value.
func Equal(field string, value any) Filter { return In(field, value) }

// In holds where a field has one of the values.
func In(field string, values ...any) Filter {
	return Filter{Op: OpIn, Field: field, Values: values}
}

// Range holds where a field of numbers is from low to high, both included.
func Range(field string, low, high float64) Filter {
	return Filter{Op: OpRange, Field: field, Low: low, High: high}
}

// CheckFilter returns the filter with all values as string or float64, or tells what
// is wrong with it: a field that is not declared, a value of another kind.
func (t TableSchema) CheckFilter(f Filter) (Filter, error) {
	f, err := t.checkFilter(f)
	if err != nil {
		return f, fmt.Errorf("filter: %w: %w", ErrInvalid, err)
	}
	return f, nil
}

func (t TableSchema) checkFilter(f Filter) (_ Filter, err error) {
	switch f.Op {
	case "":
		return Filter{}, nil
	case OpIn:
		f.Values = slices.Clone(f.Values)
		for i, v := range f.Values {
			if f.Values[i], err = t.value(f.Field, v); err != nil {
				return f, err
			}
		}
		_, err = t.kind(f.Field)
		return f, err
	case OpRange:
		kind, err := t.kind(f.Field)
		if err == nil && (kind != Number || math.IsNaN(f.Low) || math.IsNaN(f.High)) {
			err = fmt.Errorf("a range of %q, which is a %s, from %v to %v: ranges are of numbers", f.Field, kind, f.Low, f.High)
		}
		return f, err
	case OpAnd, OpOr, OpNot:
		if f.Op == OpNot && len(f.Filters) != 1 {
			return f, fmt.Errorf("not of %d filters, want 1", len(f.Filters))
		}
		f.Filters = slices.Clone(f.Filters)
		for i := range f.Filters {
			if f.Filters[i], err = t.checkFilter(f.Filters[i]); err != nil {
				return f, err
			}
		}
		return f, nil
	default:
		return f, fmt.Errorf("no op %q", f.Op)
	}
}

func (t TableSchema) kind(field string) (Kind, error) {
	kind, ok := t.Fields[field]
	if !ok {
		return "", fmt.Errorf("there is no field %.80q: declare it in the schema", field)
	}
	return kind, nil
}

// Holds tells whether the condition, which was checked, holds for fields.
func (f Filter) Holds(fields Fields) bool {
	switch f.Op {
	case OpIn:
		v, ok := fields[f.Field]
		if n, whole := v.(int); whole {
			v = float64(n)
		}
		return ok && slices.Contains(f.Values, v)
	case OpRange:
		v, ok := fields[f.Field]
		if n, whole := v.(int); whole {
			v = float64(n)
		}
		number, isNumber := v.(float64)
		return ok && isNumber && number >= f.Low && number <= f.High
	case OpAnd:
		return !slices.ContainsFunc(f.Filters, func(g Filter) bool { return !g.Holds(fields) })
	case OpOr:
		return slices.ContainsFunc(f.Filters, func(g Filter) bool { return g.Holds(fields) })
	case OpNot:
		return !f.Filters[0].Holds(fields)
	default:
		return true
	}
}

// TripleFields are the fields of triples that filters may name.
var TripleFields = TableSchema{Fields: map[string]Kind{"head": String, "relation": String, "tail": String, "source": String}}
