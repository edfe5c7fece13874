// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
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

// meeting is what a filter leaves of a stack: of each segment the rows that are live and hold,
// and their vectors; nil is all.
type meeting struct {
	rows, vectors []bm25.Docs
	words         *bm25.Collection // nil: no text index
}

// maxMeetings is how many filters of a stack are remembered.
const maxMeetings = 32

// among returns what a checked filter leaves. Values are looked at once while the stack is there.
func (s *stack) among(f store.Filter) (*meeting, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%#v", f)) // strings are quoted there
	s.mu.Lock()
	m := s.meetings[key]
	s.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m = &meeting{rows: make([]bm25.Docs, len(s.segments)), vectors: make([]bm25.Docs, len(s.segments))}
	for i, segment := range s.segments {
		if f.Op == "" && s.dead[i].Len() == 0 {
			continue
		}
		m.rows[i] = segment.rowsOf(f)
		for w, dead := range s.dead[i] {
			m.rows[i][w] &^= dead
		}
		m.vectors[i] = noDocs(len(segment.row))
		for v, row := range segment.row {
			if row >= 0 && int(row) < segment.len() && m.rows[i].Has(row) { // files are not trusted
				m.vectors[i].Add(int32(v))
			}
		}
	}
	if len(s.segments) == 0 || s.segments[0].words != nil {
		words, err := s.words()
		if err != nil {
			return nil, err
		}
		m.words = words.Among(m.rows)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meetings == nil || len(s.meetings) >= maxMeetings {
		s.meetings = make(map[[sha256.Size]byte]*meeting)
	}
	s.meetings[key] = m
	return m, nil
}

// rowsOf are the rows for which a checked filter holds.
func (s *segment) rowsOf(f store.Filter) bm25.Docs {
	all, none := bm25.AllDocs(s.len()), noDocs(s.len())
	switch f.Op {
	case store.OpRange, store.OpIn:
		s.columns[f.Field].holding(f, none)
		return none
	case store.OpOr:
		for _, g := range f.Filters {
			for w, word := range s.rowsOf(g) {
				none[w] |= word
			}
		}
		return none
	case store.OpNot:
		for w, word := range s.rowsOf(f.Filters[0]) {
			all[w] &^= word
		}
		return all
	default:
		for _, g := range f.Filters {
			for w, word := range s.rowsOf(g) {
				all[w] &= word
			}
		}
		return all
	}
}

// holding adds the rows with a value in a range, or one of some.
func (c column) holding(f store.Filter, to bm25.Docs) {
	wanted := make(map[any]bool, len(f.Values))
	for _, v := range f.Values {
		wanted[v] = true
	}
	for row, v := range c.numbers {
		if f.Op == store.OpRange && v >= f.Low && v <= f.High || f.Op == store.OpIn && wanted[v] {
			to.Add(int32(row))
		}
	}
	codes := make([]bool, c.values.len())
	for i := range codes {
		codes[i] = wanted[c.values.at(i)]
	}
	for row, code := range c.codes {
		if code >= 0 && int(code) < len(codes) && codes[code] { // files are not trusted
			to.Add(int32(row))
		}
	}
}

// hide marks the rows of earlier segments that s replaces or deletes.
func (s *segment) hide(below []*segment, dead []bm25.Docs) {
	for i, b := range below {
		mark := func(row, _ int) { dead[i].Add(int32(row)) }
		common(b.ids, s.ids, mark)
		common(b.ids, s.gone, mark)
	}
}
