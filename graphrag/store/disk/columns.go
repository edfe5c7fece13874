// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// column holds a field: its distinct values, and the number of the value of each row, -1 without one.
type column struct {
	codes  []int32
	values texts
}

// encode returns the value of a field as bytes: a byte for its type, then the value.
func encode(v any) string {
	switch v := v.(type) {
	case string:
		return "s" + v
	case float64:
		return string(binary.BigEndian.AppendUint64([]byte("n"), math.Float64bits(v)))
	case bool:
		return "b" + strconv.FormatBool(v)
	case time.Time:
		return "t" + v.UTC().Format(time.RFC3339Nano)
	default:
		data, _ := json.Marshal(v) // a list of strings
		return "l" + string(data)
	}
}

// decode is the inverse of encode. For damaged bytes it returns nil or a zero value.
func decode(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	switch kind, b := b[0], b[1:]; {
	case kind == 's':
		return string(b)
	case kind == 'n' && len(b) == 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind == 'b':
		return string(b) == "true"
	case kind == 't':
		t, _ := time.Parse(time.RFC3339Nano, string(b))
		return t
	case kind == 'l':
		var list []string
		_ = json.Unmarshal(b, &list)
		return list
	}
	return nil
}

// columnWriter collects the values of a field.
type columnWriter struct {
	codes  []int32
	number map[string]int32
	values []string
}

func (c *columnWriter) add(row int32, v any) {
	c.fill(row)
	s := encode(v)
	n, ok := c.number[s]
	if !ok {
		n = int32(len(c.values))
		c.number[s], c.values = n, append(c.values, s)
	}
	c.codes = append(c.codes, n)
}

// fill appends -1 for rows without a value, up to a number of rows.
func (c *columnWriter) fill(rows int32) {
	for int32(len(c.codes)) < rows {
		c.codes = append(c.codes, -1)
	}
}

func (c *columnWriter) write(w *flat.Writer, name string) error {
	codes, err1 := flat.NewArray[int32](w, name)
	distinct, err2 := newTexts(w, name+"-values")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	codes.Append(c.codes...)
	for _, s := range c.values {
		distinct.append(s)
	}
	return nil
}

func viewColumn(f *flat.Folder, name string, rows int) (c column, err error) {
	var err1, err2 error
	c.codes, err1 = flat.View[int32](f, name)
	c.values, err2 = viewTexts(f, name+"-values")
	if err = errors.Join(err1, err2); err == nil && len(c.codes) != rows {
		err = errFit
	}
	return c, err
}

// at returns the value of a row, nil without one.
func (c column) at(row int) any {
	if code := c.codes[row]; code >= 0 && int(code) < c.values.len() {
		return decode(c.values.bytes(int(code)))
	}
	return nil
}

// all returns the distinct values.
func (c column) all() []any {
	out := make([]any, c.values.len())
	for i := range out {
		out[i] = decode(c.values.bytes(i))
	}
	return out
}

// meeting holds, for each segment of a stack, the live rows that meet a condition and their vectors; nil is
// all.
type meeting struct {
	rows, vectors []bm25.Docs
	words         func() (*bm25.Collection, error) // text indexes, limited to the rows
}

// maxMeetings limits the conditions for which a stack caches the rows.
const maxMeetings = 32

// everything is the text of the condition that all records meet.
var everything = graphrag.Condition{}.String()

// among returns the rows that meet a condition, and caches them in the stack.
func (s *stack) among(c graphrag.Condition) *meeting {
	key := c.String()
	s.mu.Lock()
	m := s.meetings[key]
	s.mu.Unlock()
	if m != nil {
		return m
	}
	m = &meeting{rows: make([]bm25.Docs, len(s.segments)), vectors: make([]bm25.Docs, len(s.segments))}
	all := true
	for i, seg := range s.segments {
		if key == everything && s.dead[i].Len() == 0 {
			continue
		}
		all = false
		m.rows[i] = bm25.Docs(c.Select(seg.len(), func(field string) ([]any, []int32) {
			c := seg.columns[field]
			return c.all(), c.codes
		}))
		for w, dead := range s.dead[i] {
			m.rows[i][w] &^= dead
		}
		m.vectors[i] = noDocs(len(seg.row))
		for v, row := range seg.row {
			if row >= 0 && int(row) < seg.len() && m.rows[i].Has(row) { // files may be damaged
				m.vectors[i].Add(int32(v))
			}
		}
	}
	m.words = s.words
	if !all {
		m.words = sync.OnceValues(func() (*bm25.Collection, error) {
			words, err := s.words()
			if err != nil {
				return nil, err
			}
			return words.Limit(m.rows), nil
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meetings == nil || len(s.meetings) >= maxMeetings {
		s.meetings = make(map[string]*meeting)
	}
	s.meetings[key] = m
	return m
}

// hides holds the rows that a segment replaces or deletes, by the number of the earlier segment that has them.
type hides map[int][]int32

// hide adds the rows of earlier segments that s replaces or deletes to the dead ones.
func (s *segment) hide(below []*segment, dead []bm25.Docs) {
	for i, b := range below {
		for _, row := range s.hides[b.number] {
			if int(row) < b.len() { // files may be damaged
				dead[i].Add(row)
			}
		}
	}
}

// hiding returns the rows in earlier segments whose ids are in a sorted list.
func hiding(ids []string, below []*segment) hides {
	var list texts
	for _, id := range ids {
		list.arena = append(list.arena, id...)
		list.ends = append(list.ends, int64(len(list.arena)))
	}
	h := hides{}
	for _, b := range below {
		common(b.ids, list, func(row, _ int) { h[b.number] = append(h[b.number], int32(row)) })
	}
	return h
}

// hidden returns the rows that some segments hide in the segments below them.
func hidden(by, below []*segment) hides {
	h := hides{}
	for _, b := range below {
		var rows []int32
		for _, s := range by {
			rows = append(rows, s.hides[b.number]...)
		}
		if slices.Sort(rows); len(rows) > 0 {
			h[b.number] = slices.Compact(rows)
		}
	}
	return h
}

// write writes the rows, and returns pairs of a segment number and its number of rows.
func (h hides) write(w *flat.Writer) (of [][2]int, err error) {
	rows, err := flat.NewArray[int32](w, "hides")
	for _, n := range slices.Sorted(maps.Keys(h)) {
		if err != nil {
			break
		}
		of = append(of, [2]int{n, len(h[n])})
		rows.Append(h[n]...)
	}
	return of, err
}

func viewHides(f *flat.Folder, of [][2]int) (hides, error) {
	rows, err := flat.View[int32](f, "hides")
	h := hides{}
	for _, x := range of {
		if n := x[1]; n < 0 || n > len(rows) {
			return nil, errors.Join(err, errFit)
		}
		h[x[0]], rows = rows[:x[1]], rows[x[1]:]
	}
	return h, err
}
