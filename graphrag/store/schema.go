// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Schema declares the tables of a collection. It is fixed when the collection is created.
type Schema struct {
	// Analyzer names the analyzer of texts and queries, such as text.Default().Name(). A store
	// with another one returns ErrMismatch.
	Analyzer string `json:"analyzer,omitempty"`
	// Tables are the kinds of records, by name.
	Tables map[string]TableSchema `json:"tables"`
}

// TableSchema declares the records of one kind.
type TableSchema struct {
	// Text makes Title and Text searchable; TitleWeight is the number of times that the title
	// counts as part of the text. K1 and B are those of BM25; 0 is the default.
	Text        bool    `json:"text,omitempty"`
	TitleWeight int     `json:"title_weight,omitempty"`
	K1          float64 `json:"k1,omitempty"`
	B           float64 `json:"b,omitempty"`
	// Dim is the number of components of vectors, which are compared by the cosine; 0 means no
	// vectors.
	Dim int `json:"dim,omitempty"`
	// Model names the source of the vectors, so that those of two models are not mixed.
	Model string `json:"model,omitempty"`
	// Fields are the fields for filters.
	Fields map[string]Kind `json:"fields,omitempty"`
}

// Kind is the type of a field.
type Kind string

// The kinds of fields.
const (
	String Kind = "string"
	Number Kind = "number"
)

// Fields are values by the names of fields: a string, or a number as float64 or int.
type Fields map[string]any

// Value returns the value of a field, nil if it has none.
func (f Fields) Value(field string) any { return f[field] }

// Limits of records.
const (
	MaxID   = 1024     // bytes of an id or a scope
	maxText = 16 << 20 // bytes of a title, a text or the data of a record
)

// maxComponent keeps the length of any vector below vector.MaxNorm.
const maxComponent = vector.MaxNorm / 256

// Check reports all errors in a schema.
func (s Schema) Check() error {
	var errs []error
	if len(s.Tables) == 0 {
		errs = append(errs, errors.New("it has no table: name one in Tables"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tables)) {
		errs = append(errs, CheckName("table", name))
		if err := s.Tables[name].check(); err != nil {
			errs = append(errs, fmt.Errorf("table %q: %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("schema: %w: %w", ErrInvalid, err)
	}
	return nil
}

func (t TableSchema) check() error {
	var errs []error
	if t.Dim < 0 || t.Dim > vector.MaxDim {
		errs = append(errs, fmt.Errorf("its Dim is %d, want 0 to %d", t.Dim, vector.MaxDim))
	}
	if t.TitleWeight < 0 || !(t.K1 >= 0) || !(t.B >= 0 && t.B <= 1) {
		errs = append(errs, fmt.Errorf("its TitleWeight, K1 and B are %d, %g and %g, want 0 or more, and B up to 1", t.TitleWeight, t.K1, t.B))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		errs = append(errs, CheckName("field", name))
		if kind := t.Fields[name]; kind != String && kind != Number {
			errs = append(errs, fmt.Errorf("field %q is a %q, want string or number", name, kind))
		}
	}
	return errors.Join(errs...)
}

// CheckSame reports that a collection of this schema is asked for with another one.
func (s Schema) CheckSame(asked Schema) error {
	have, err1 := json.Marshal(s)
	want, err2 := json.Marshal(asked) // where no fields and an empty list are the same
	if err := errors.Join(err1, err2); err != nil || string(have) == string(want) {
		return err
	}
	return fmt.Errorf("%w: it has the schema %s, not %s: drop it, or take another name", ErrMismatch, have, want)
}

// CheckAnalyzer reports that a collection was made with another analyzer than that of a store.
func (s Schema) CheckAnalyzer(name string) error {
	if s.Analyzer == name {
		return nil
	}
	return fmt.Errorf("%w: its analyzer is %q, that of the store %q: set Options.Analyzer", ErrMismatch, s.Analyzer, name)
}

// CheckName checks the name of a collection, generation, table or field: 1 to 63 of a-z, 0-9, _
// and -, beginning with a letter, which all engines accept.
func CheckName(of, name string) error {
	ok := len(name) > 0 && len(name) <= 63 && name[0] >= 'a' && name[0] <= 'z'
	if ok && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" {
		return nil
	}
	return fmt.Errorf("%w: %s %.80q: a name is 1 to 63 of a-z, 0-9, _ and -, and begins with a letter", ErrInvalid, of, name)
}

// CheckRecord reports all errors in a record of a table.
func (t TableSchema) CheckRecord(r Record) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.ID == "" {
		wrong("it has no id")
	}
	if len(r.ID) > MaxID || len(r.Scope) > MaxID {
		wrong("its id or scope is longer than %d bytes", MaxID)
	}
	if len(r.Title) > maxText || len(r.Text) > maxText || len(r.Data) > maxText {
		wrong("its title, text or data is longer than %d bytes", maxText)
	}
	for _, s := range []string{r.ID, r.Scope, r.Title, r.Text} {
		if !utf8.ValidString(s) {
			wrong("%.40q is not UTF-8", s)
		}
	}
	if len(r.Vector) != 0 && len(r.Vector) != t.Dim {
		wrong("its vector has %d components, those of the table have %d", len(r.Vector), t.Dim)
	}
	for i, c := range r.Vector {
		if !(math.Abs(float64(c)) <= maxComponent) {
			wrong("component %d of its vector is %v, want at most %g", i, c, maxComponent)
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		if _, err := t.value(name, r.Fields[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return invalid(errs)
}

// value returns a value of a field as a string or a float64.
func (t TableSchema) value(field string, v any) (any, error) {
	kind, ok := t.Fields[field]
	if !ok {
		return nil, fmt.Errorf("there is no field %.80q: declare it in the schema", field)
	}
	switch v := v.(type) {
	case string:
		if kind == String && len(v) <= MaxID && utf8.ValidString(v) {
			return v, nil
		}
	case int:
		if kind == Number {
			return float64(v), nil
		}
	case float64:
		if kind == Number && !math.IsNaN(v) {
			return v, nil
		}
	}
	return nil, fmt.Errorf("field %q: %.80v is no %s that is stored: strings have at most %d bytes of UTF-8, numbers are float64 or int", field, v, kind, MaxID)
}

// CheckTriple reports all errors in a triple.
func CheckTriple(t Triple) error {
	var errs []error
	for _, e := range []triples.Entity{t.Head, t.Relation, t.Tail} {
		if e.ID == "" {
			errs = append(errs, errors.New("head, relation or tail has no id"))
		}
		if len(e.ID) > triples.MaxLabel || len(e.Label) > triples.MaxLabel {
			errs = append(errs, fmt.Errorf("the id or label of %.40q is longer than %d bytes", e.ID, triples.MaxLabel))
		}
		if !utf8.ValidString(e.ID) || !utf8.ValidString(e.Label) {
			errs = append(errs, fmt.Errorf("the id or label of %.40q is not UTF-8", e.ID))
		}
	}
	if len(t.Source) > MaxID || !utf8.ValidString(t.Source) {
		errs = append(errs, fmt.Errorf("its source is not UTF-8 of at most %d bytes", MaxID))
	}
	if math.IsNaN(t.Weight) || math.IsInf(t.Weight, 0) {
		errs = append(errs, fmt.Errorf("its weight is %v", t.Weight))
	}
	return invalid(errs)
}

func invalid(errs []error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// Filter is a condition on the fields of records, simple enough for every engine. The zero Filter
// holds for all. For a record without the field only a negated condition on it holds.
type Filter struct {
	Op      Op
	Field   string
	Values  []any    // of Equal and In
	Low     float64  // of Range, both ends included
	High    float64  // of Range
	Filters []Filter // of And, Or and Not
}

// Op is the operator of a filter.
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

// CheckFilter returns the filter with all values as string or float64, or an error: a field is
// not declared, or a value has another type.
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

// Holds reports whether a checked condition holds for the values of some fields; value returns
// nil for a field without one, as [Fields.Value] does.
func (f Filter) Holds(value func(field string) any) bool {
	switch f.Op {
	case OpIn:
		v := value(f.Field)
		if n, whole := v.(int); whole {
			v = float64(n)
		}
		return v != nil && slices.Contains(f.Values, v)
	case OpRange:
		v := value(f.Field)
		if n, whole := v.(int); whole {
			v = float64(n)
		}
		number, isNumber := v.(float64)
		return isNumber && number >= f.Low && number <= f.High
	case OpAnd:
		return !slices.ContainsFunc(f.Filters, func(g Filter) bool { return !g.Holds(value) })
	case OpOr:
		return slices.ContainsFunc(f.Filters, func(g Filter) bool { return g.Holds(value) })
	case OpNot:
		return !f.Filters[0].Holds(value)
	default:
		return true
	}
}

// CheckText returns the filter of a query as [TableSchema.CheckFilter] does, or reports why the
// query cannot be answered.
func (t TableSchema) CheckText(q TextQuery) (Filter, error) {
	if !t.Text {
		return Filter{}, fmt.Errorf("%w: it has no words: set Text in its schema", ErrInvalid)
	}
	return t.CheckFilter(q.Where)
}

// CheckVector is CheckText for a query by a vector.
func (t TableSchema) CheckVector(q VectorQuery) (Filter, error) {
	switch {
	case t.Dim == 0:
		return Filter{}, fmt.Errorf("%w: it has no vectors: set Dim in its schema", ErrInvalid)
	case len(q.Vector) != t.Dim:
		return Filter{}, fmt.Errorf("%w: a query of %d components, the table has %d", ErrInvalid, len(q.Vector), t.Dim)
	case !(q.Effort >= 0 && q.Effort <= 1):
		return Filter{}, fmt.Errorf("%w: an effort of %v, want 0 to 1", ErrInvalid, q.Effort)
	}
	if err := t.CheckRecord(Record{ID: "query", Vector: q.Vector}); err != nil {
		return Filter{}, err
	}
	return t.CheckFilter(q.Where)
}

// TripleFields are the fields of triples that filters may name.
var TripleFields = TableSchema{Fields: map[string]Kind{"head": String, "relation": String, "tail": String, "source": String}}
