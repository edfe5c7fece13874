// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
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

// The folder of a segment that lists the rows of earlier segments that it replaces or
// deletes, so that ids are compared only once.
const (
	hidesFolder  = "hides"
	hidesKind    = "hides"
	hidesVersion = 1
)

// hide marks the rows of earlier segments that s replaces or deletes.
func (s *segment) hide(below []*segment, dead []bits) {
	for i, b := range below {
		mark := func(row, _ int) { dead[i].add(row) }
		common(b.ids, s.ids, mark)
		common(b.ids, s.gone, mark)
	}
}

// writeHides writes the dead rows of earlier segments.
func (s *segment) writeHides(below []*segment, dead []bits) error {
	w, err := flat.Create(filepath.Join(s.dir, hidesFolder), hidesKind, hidesVersion)
	if err != nil {
		return err
	}
	numbers, err1 := flat.NewArray[int32](w, "segments")
	ends, err2 := flat.NewArray[int64](w, "ends")
	rows, err3 := flat.NewArray[int32](w, "rows")
	if err := errors.Join(err1, err2, err3); err != nil {
		return errors.Join(err, w.Abort())
	}
	for i, b := range below {
		for row := range b.len() {
			if dead[i].has(row) {
				rows.Append(int32(row))
			}
		}
		numbers.Append(int32(b.number))
		ends.Append(int64(rows.Len()))
	}
	return w.Close(struct{}{})
}

// readHides marks the rows that writeHides wrote.
func (s *segment) readHides(below []*segment, dead []bits) (err error) {
	f, err := flat.Open(filepath.Join(s.dir, hidesFolder), hidesKind, hidesVersion, &struct{}{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	numbers, err1 := flat.View[int32](f, "segments")
	ends, err2 := flat.View[int64](f, "ends")
	rows, err3 := flat.View[int32](f, "rows")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if len(numbers) != len(below) || len(ends) != len(below) {
		return fmt.Errorf("%s: %w", s.dir, errFit)
	}
	start := int64(0)
	for i, b := range below {
		if numbers[i] != int32(b.number) || ends[i] < start || ends[i] > int64(len(rows)) {
			return fmt.Errorf("%s: %w", s.dir, errFit)
		}
		for _, row := range rows[start:ends[i]] {
			if row < 0 || int(row) >= b.len() {
				return fmt.Errorf("%s: %w", s.dir, errFit)
			}
			dead[i].add(int(row))
		}
		start = ends[i]
	}
	return nil
}
