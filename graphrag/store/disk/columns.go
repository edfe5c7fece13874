// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// column holds the values of a field by row.
type column struct {
	numbers []float64 // NaN: none
	codes   []int32   // indexes into values, for strings; -1: none
	values  texts     // sorted
}

// missing is the code of a row without a value.
const missing = -1

// writeColumn writes the values of a field for all rows; nil means no value.
func writeColumn(w *flat.Writer, field string, kind store.Kind, values []any) error {
	name := "field-" + field
	if kind == store.Number {
		numbers, err := flat.NewArray[float64](w, name)
		if err != nil {
			return err
		}
		for _, v := range values {
			switch v := v.(type) {
			case float64:
				numbers.Append(v)
			case int:
				numbers.Append(float64(v))
			default:
				numbers.Append(math.NaN())
			}
		}
		return nil
	}
	codes, err1 := flat.NewArray[int32](w, name)
	words, err2 := newTexts(w, name+"-values")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var distinct []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			distinct = append(distinct, s)
		}
	}
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	for _, s := range distinct {
		words.append(s)
	}
	for _, v := range values {
		code := missing
		if s, ok := v.(string); ok {
			code, _ = slices.BinarySearch(distinct, s)
		}
		codes.Append(int32(code))
	}
	return nil
}

func viewColumn(f *flat.Folder, field string, kind store.Kind, rows int) (c column, err error) {
	name := "field-" + field
	if kind == store.Number {
		if c.numbers, err = flat.View[float64](f, name); err == nil && len(c.numbers) != rows {
			err = errFit
		}
		return c, err
	}
	var err1, err2 error
	c.codes, err1 = flat.View[int32](f, name)
	c.values, err2 = viewTexts(f, name+"-values")
	if err = errors.Join(err1, err2); err != nil {
		return c, err
	}
	if len(c.codes) != rows {
		err = errFit
	}
	return c, err
}

// at returns the value of a row, nil if it has none.
func (c column) at(row int) any {
	if c.numbers != nil {
		if v := c.numbers[row]; v == v {
			return v
		}
		return nil
	}
	if code := c.codes[row]; code >= 0 && int(code) < c.values.len() {
		return c.values.at(int(code))
	}
	return nil
}

// condition is a filter over the rows of one segment; nil matches all.
type condition func(row int32) bool

// where makes a condition of a checked filter.
func (s *segment) where(f store.Filter) condition {
	if f.Op == "" {
		return nil
	}
	return func(row int32) bool {
		if s.edges == nil {
			return f.Holds(func(field string) any { return s.columns[field].at(int(row)) })
		}
		t := s.triple(int(row))
		return f.Holds(store.Fields{"head": t.Head.ID, "relation": t.Relation.ID, "tail": t.Tail.ID, "source": t.Source}.Value)
	}
}

// hide marks the rows of earlier segments that s replaces or deletes.
func (s *segment) hide(below []*segment, dead []bits) {
	for i, b := range below {
		mark := func(row, _ int) { dead[i].add(row) }
		common(b.ids, s.ids, mark)
		common(b.ids, s.gone, mark)
	}
}
