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

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
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
	// Text makes Title and Text searchable; TitleWeight is the number of times that the title counts as part of
	// the text, K1 and B are the parameters of BM25 (0: the default).
	Text        bool    `json:"text,omitempty"`
	TitleWeight int     `json:"title_weight,omitempty"`
	K1          float64 `json:"k1,omitempty"`
	B           float64 `json:"b,omitempty"`
	// Dim is the number of components of vectors, which are compared by the cosine; 0 means no vectors.
	Dim int `json:"dim,omitempty"`
	// Model names the source of the vectors, so that vectors of two models are not mixed.
	Model string `json:"model,omitempty"`
}

// Limits of records.
const (
	MaxID   = 1024     // bytes in an id or a scope
	maxText = 16 << 20 // bytes in a title, a text or the data of a record
)

// maxComponent limits the components of a vector, so that its length is below vector.MaxNorm.
const maxComponent = vector.MaxNorm / 256

// Check reports all errors in a schema.
func (s Schema) Check() error {
	var errs []error
	if len(s.Tables) == 0 {
		errs = append(errs, errors.New("there is no table: name one or more in Tables"))
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
		errs = append(errs, fmt.Errorf("the field Dim is %d, want 0 to %d", t.Dim, vector.MaxDim))
	}
	if t.TitleWeight < 0 || !(t.K1 >= 0) || !(t.B >= 0 && t.B <= 1) {
		errs = append(errs, fmt.Errorf("TitleWeight is %d, K1 is %g and B is %g, want 0 or more, and B at most 1", t.TitleWeight, t.K1, t.B))
	}
	return errors.Join(errs...)
}

// CheckSame returns an error if a caller asks for this collection with another schema.
func (s Schema) CheckSame(asked Schema) error {
	have, err1 := json.Marshal(s)
	want, err2 := json.Marshal(asked) // as JSON, since maps cannot be compared
	if err := errors.Join(err1, err2); err != nil || string(have) == string(want) {
		return err
	}
	return fmt.Errorf("%w: the collection exists with the schema %s, not %s: drop it, or choose another name", ErrMismatch, have, want)
}

// CheckAnalyzer returns an error if the analyzer of the collection is not the analyzer of the store.
func (s Schema) CheckAnalyzer(name string) error {
	if s.Analyzer == name {
		return nil
	}
	return fmt.Errorf("%w: the collection was made with analyzer %q, the store has %q: set Options.Analyzer", ErrMismatch, s.Analyzer, name)
}

// CheckName checks the name of a collection, generation, table or field: 1 to 63 characters of a-z, 0-9, _ and
// -, beginning with a letter, which all engines accept.
func CheckName(of, name string) error {
	ok := len(name) > 0 && len(name) <= 63 && name[0] >= 'a' && name[0] <= 'z'
	if ok && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" {
		return nil
	}
	return fmt.Errorf("%w: %s %.80q: a name has 1 to 63 characters of a-z, 0-9, _ and -, and begins with a letter", ErrInvalid, of, name)
}

// Terms returns the terms under which a text is indexed, in order and with repetitions, in the language of the text.
func Terms(a text.Analyzer, s string) (terms []string) {
	if x, ok := a.(*text.Standard); ok {
		a = x.For(s)
	}
	a.Words(s, func(word []byte) bool {
		if t, ok := a.Term(string(word)); ok {
			terms = append(terms, t)
		}
		return true
	})
	return terms
}

// CheckRecord reports all errors in a record of a table.
func (t TableSchema) CheckRecord(r Record) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.ID == "" {
		wrong("the record has no id")
	}
	if len(r.ID) > MaxID || len(r.Scope) > MaxID {
		wrong("the id or scope of the record is longer than %d bytes", MaxID)
	}
	if len(r.Title) > maxText || len(r.Text) > maxText || len(r.Data) > maxText {
		wrong("the title, text or data of the record is longer than %d bytes", maxText)
	}
	for _, s := range []string{r.ID, r.Scope, r.Title, r.Text} {
		if !utf8.ValidString(s) {
			wrong("%.40q is not UTF-8", s)
		}
	}
	if len(r.Vector) != 0 && len(r.Vector) != t.Dim {
		wrong("the vector of the record has %d components, those of the table have %d", len(r.Vector), t.Dim)
	}
	for i, c := range r.Vector {
		if !(math.Abs(float64(c)) <= maxComponent) {
			wrong("component %d of the vector is %v, want at most %g", i, c, maxComponent)
			break
		}
	}
	if err := r.Fields.Check(); err != nil {
		errs = append(errs, err)
	}
	return invalid("record", errs)
}

// CheckTriple reports all errors in a triple.
func CheckTriple(t Triple) error {
	var errs []error
	for _, e := range []triples.Entity{t.Head, t.Relation, t.Tail} {
		if e.ID == "" {
			errs = append(errs, errors.New("the head, the relation or the tail of a triple has no id"))
		}
		if len(e.ID) > triples.MaxLabel || len(e.Label) > triples.MaxLabel {
			errs = append(errs, fmt.Errorf("the id or label of %.40q is longer than %d bytes", e.ID, triples.MaxLabel))
		}
		if !utf8.ValidString(e.ID) || !utf8.ValidString(e.Label) {
			errs = append(errs, fmt.Errorf("the id or label of %.40q is not UTF-8", e.ID))
		}
	}
	if len(t.Source) > MaxID || !utf8.ValidString(t.Source) {
		errs = append(errs, fmt.Errorf("the source of a triple is not UTF-8 of at most %d bytes", MaxID))
	}
	if math.IsNaN(t.Weight) || math.IsInf(t.Weight, 0) {
		errs = append(errs, fmt.Errorf("the weight of a triple is %v, want a finite number", t.Weight))
	}
	return invalid("triple", errs)
}

func invalid(what string, errs []error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w %s: %w", ErrInvalid, what, err)
	}
	return nil
}

// CheckText returns an error if the table cannot answer the query.
func (t TableSchema) CheckText(q TextQuery) error {
	if !t.Text {
		return fmt.Errorf("%w: the table has no index of words: set Text in its schema", ErrInvalid)
	}
	return CheckCondition(q.Where)
}

// CheckTriples returns an error if triples cannot be searched for the query.
func CheckTriples(q TextQuery) error {
	if where := q.Where.String(); where != (graphrag.Condition{}).String() {
		return fmt.Errorf("%w: the condition %.80s: triples have no fields, leave Where out", ErrInvalid, where)
	}
	return nil
}

// CheckCondition reports errors in a condition.
func CheckCondition(c graphrag.Condition) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("condition: %w: %w", ErrInvalid, err)
	}
	return nil
}

// CheckVector returns an error if the table cannot answer the query.
func (t TableSchema) CheckVector(q VectorQuery) error {
	switch {
	case t.Dim == 0:
		return fmt.Errorf("%w: the table has no vectors: set Dim in its schema", ErrInvalid)
	case len(q.Vector) != t.Dim:
		return fmt.Errorf("%w: the vector of the query has %d components, those of the table have %d", ErrInvalid, len(q.Vector), t.Dim)
	case !(q.Effort >= 0 && q.Effort <= 1):
		return fmt.Errorf("%w: the query has Effort %v, want 0 to 1", ErrInvalid, q.Effort)
	}
	if err := t.CheckRecord(Record{ID: "query", Vector: q.Vector}); err != nil {
		return err
	}
	return CheckCondition(q.Where)
}
