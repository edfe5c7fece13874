// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// Store is a set of collections.
type Store interface {
	// Create makes a collection, or opens an existing one, which must have this schema:
	// otherwise the error is ErrMismatch.
	Create(ctx context.Context, name string, s Schema) (Collection, error)
	// Open opens a collection. The error is ErrNotFound if there is none of that name.
	Open(ctx context.Context, name string) (Collection, error)
	// Collections lists the names, in order.
	Collections(ctx context.Context) ([]string, error)
	// Drop removes a collection with all generations. Pinned generations stay readable until they are closed.
	Drop(ctx context.Context, name string) error
	// Can returns the capabilities of the engine.
	Can() Capabilities
	// Close closes the store. Changes that were not flushed may be lost, all or some of them.
	Close() error
}

// Capabilities are properties in which engines differ.
type Capabilities struct {
	// FixedReads reports that a pinned generation does not change even if it is written to.
	FixedReads bool
	// Durable reports that puts are durable, and visible to Get and All, before a Flush.
	Durable bool
	// OwnWords reports that a search by words with a condition counts words only in the records that meet it:
	// the scores equal those in a store of these records alone. In other engines the rarity of a word depends
	// on all records, which reveals something about the records of other users: give each tenant a collection.
	OwnWords bool
}

// Collection is the index of one corpus.
type Collection interface {
	// Schema returns the schema of the collection.
	Schema() Schema
	// Write opens a generation for writing: a new one if there is none of that name, an unfinished one in the
	// state of its last flush (the store may flush by itself), or the published one.
	Write(ctx context.Context, generation string) (Generation, error)
	// Fork opens a new generation for writing that starts with the contents of the published one, which does
	// not change. The error is ErrConflict if next exists, ErrNotFound if from is not published.
	Fork(ctx context.Context, next, from string) (Generation, error)
	// Pin opens the published generation for reading. The error is ErrNotFound if there is none.
	Pin(ctx context.Context) (Generation, error)
	// Publish publishes a flushed generation if the one published so far is named was ("" for none). Otherwise
	// the error is ErrConflict, and nothing changes.
	Publish(ctx context.Context, generation, was string) error
	// Generations returns the names of the generations, in order, and the published one, or "".
	Generations(ctx context.Context) (names []string, published string, err error)
	// Discard removes a generation; for the published one the error is ErrConflict. Pinned generations stay
	// readable until they are closed.
	Discard(ctx context.Context, generation string) error
}

// Generation is one version of the whole index of a collection.
type Generation interface {
	Name() string
	// Table returns a table of the schema. The error is ErrNotFound if there is none.
	Table(name string) (Table, error)
	Triples() Triples
	// Flush makes all puts and deletions durable, and visible to later searches.
	Flush(ctx context.Context) error
	// Close closes this handle of the generation.
	Close() error
}

// Table is records of one kind.
type Table interface {
	Records
	TextIndex
	VectorIndex
}

// Records are accessed by their ids.
type Records interface {
	// Put adds records; one with an existing id replaces that record. Invalid records are
	// reported by an *ItemsError; the others are put.
	Put(ctx context.Context, records ...Record) error
	// Get returns the records with the given ids, in the order of the ids. Unknown ids are skipped.
	Get(ctx context.Context, ids ...string) ([]Record, error)
	// Delete removes records. Unknown ids change nothing.
	Delete(ctx context.Context, ids ...string) error
	// DeleteScope removes the records of a scope.
	DeleteScope(ctx context.Context, scope string) error
	// All reads the records with an id greater than after, in the order of their ids, as of the start of the
	// iteration. An error ends the iteration.
	All(ctx context.Context, after string) iter.Seq2[Record, error]
	// Count returns the number of records that meet a condition.
	Count(ctx context.Context, where graphrag.Condition) (int, error)
}

// Record is a stored item: a chunk, an entity, a report, a reply.
type Record struct {
	ID string
	// Scope is the group of the record, such as a document: DeleteScope removes a group.
	Scope string
	// Title and Text are searched by words. They may be empty.
	Title, Text string
	// Vector is searched by similarity, unless it is empty.
	Vector []float32
	// Fields are the values for conditions.
	Fields graphrag.Fields
	// Data is any further data.
	Data []byte
}

// TextIndex finds records by words.
type TextIndex interface {
	// SearchText returns the best records for each query. Records without a word of the query are no hits.
	SearchText(ctx context.Context, queries ...TextQuery) ([][]Hit, error)
}

// TextQuery asks for the K best records for a text.
type TextQuery struct {
	Text  string
	K     int
	Where graphrag.Condition
}

// VectorIndex finds records by vectors.
type VectorIndex interface {
	// SearchVectors returns the records with the largest similarity for each query.
	SearchVectors(ctx context.Context, queries ...VectorQuery) ([][]Hit, error)
}

// VectorQuery asks for the K records with the largest similarity to a vector.
type VectorQuery struct {
	Vector []float32
	K      int
	Where  graphrag.Condition
	// Effort is the approximate share of the records that an approximate search compares with the query: 1 is
	// all records, 0 the default of the engine.
	Effort float64
}

// Hit is a record of a search result.
type Hit struct {
	ID    string
	Score float64 // larger is better
}

// The errors that a caller may branch on.
var (
	// ErrNotFound: there is no collection, generation or table of that name.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another generation was published meanwhile, or the object is in use.
	ErrConflict = errors.New("conflict")
	// ErrMismatch: the stored data has another schema, analyzer or version.
	ErrMismatch = errors.New("made with other settings")
	// ErrInvalid: the argument cannot be stored or searched for.
	ErrInvalid = errors.New("invalid")
	// ErrReadOnly: the generation was pinned for reading, or the store was opened for reading.
	ErrReadOnly = errors.New("read only")
	// ErrUnavailable: the engine, or a part of it, does not answer. A retry may succeed.
	ErrUnavailable = errors.New("unavailable")
	// ErrDenied: authentication or authorization failed.
	ErrDenied = errors.New("permission denied")
)

// ThrottledError reports that the engine is overloaded, and the time until a retry.
type ThrottledError struct{ After time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("throttled: ask again after %v", e.After)
}

// ItemsError reports the invalid items of a call. The others were stored.
type ItemsError struct{ Items []ItemError }

// ItemError is the error of one item.
type ItemError struct {
	Index int // index of the item in the arguments of the call
	ID    string
	Err   error // wraps ErrInvalid
}

// Accept returns the items that check accepts, in order and only the last one of each id, and an *ItemsError
// about the rejected items, or nil.
func Accept[T any](items []T, id func(T) string, check func(T) error) (good []T, err error) {
	var bad ItemsError
	at := make(map[string]int, len(items))
	for i, item := range items {
		name := id(item)
		if err := check(item); err != nil {
			bad.Items = append(bad.Items, ItemError{Index: i, ID: name, Err: err})
		} else if i, again := at[name]; again {
			good[i] = item
		} else {
			at[name] = len(good)
			good = append(good, item)
		}
	}
	if len(bad.Items) > 0 {
		err = &bad
	}
	return good, err
}

// Error describes the first few items.
func (e *ItemsError) Error() string {
	const few = 3
	var b strings.Builder
	fmt.Fprintf(&b, "%d items cannot be stored: ", len(e.Items))
	for i, item := range e.Items[:min(few, len(e.Items))] {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "item %d (%.60q): %v", item.Index, item.ID, item.Err)
	}
	if len(e.Items) > few {
		b.WriteString("; …")
	}
	return b.String()
}

// Unwrap returns the errors of the items.
func (e *ItemsError) Unwrap() []error {
	errs := make([]error, len(e.Items))
	for i, item := range e.Items {
		errs[i] = item.Err
	}
	return errs
}

// Triples are the edges of a graph.
type Triples interface {
	// PutTriples adds triples; one with an existing ID replaces that triple. An entity has one label: if
	// triples give it different labels, the store keeps any one of them. Invalid triples are reported by an
	// *ItemsError; the others are put.
	PutTriples(ctx context.Context, ts ...Triple) error
	// DeleteTriples removes triples by their IDs. Unknown IDs change nothing.
	DeleteTriples(ctx context.Context, ids ...string) error
	// SearchTriples returns the triples whose labels match each query best. Triples have no fields: a
	// query with a condition is ErrInvalid.
	SearchTriples(ctx context.Context, queries ...TextQuery) ([][]TripleHit, error)
	// Neighbors returns the triples of each entity, by its id, in the order of their IDs or of [Near.Like].
	Neighbors(ctx context.Context, entities []string, o Near) ([][]Triple, error)
	// AllTriples reads the triples with an ID greater than after, in the order of their IDs, as of the start of
	// the iteration. An error ends the iteration.
	AllTriples(ctx context.Context, after string) iter.Seq2[Triple, error]
	// CountTriples returns the number of triples.
	CountTriples(ctx context.Context) (int, error)
}

// Triple is an edge with its source and weight.
type Triple struct {
	triples.Triple
	// Source is the id of the record that states the triple; it may be empty.
	Source string
	Weight float64
}

// ID returns a hash of the ids of head, relation and tail, of whether the tail is a value, and of the source:
// 32 hexadecimal digits. So two sources of the same statement give two triples.
func (t Triple) ID() string {
	h := sha256.New()
	literal := "entity"
	if t.Literal {
		literal = "value"
	}
	for _, s := range []string{t.Head.ID, t.Relation.ID, t.Tail.ID, literal, t.Source} {
		h.Write([]byte(s))
		h.Write([]byte{0xff}) // separator: a byte that UTF-8 does not contain
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// TripleHit is a triple that was found.
type TripleHit struct {
	Triple
	Score float64 // larger is better
}

// Near are the options of Neighbors.
type Near struct {
	// Limit is the largest number of triples returned for an entity, so that hubs cost as much as other
	// entities; 0 is no limit.
	Limit int
	// End selects the triples that have the entity at this end.
	End End
	// Relation, if not "", is the id of a relation: only its triples are returned.
	Relation string
	// Like, if not "", is a query: the triples that SearchTriples finds for it come first, in the order of that
	// search, then the other triples by ID.
	Like string
}

// End says whether an entity is the head or the tail of a triple.
type End string

// The values of End.
const (
	Either End = ""
	Head   End = "head"
	Tail   End = "tail"
)

// place holds the fields of a chunk for which a record has no field.
type place struct {
	Index  int    `json:"index,omitempty"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	Lead   string `json:"lead,omitempty"`
}

// RecordOf returns the record of a chunk: Scope is the document, Data the place in the document as JSON, nil if
// the place is zero. The caller sets the vector.
func RecordOf(c graphrag.Chunk) Record {
	r := Record{ID: c.ID, Scope: c.Doc, Title: c.Title, Text: c.Text, Fields: c.Fields}
	if data, _ := json.Marshal(place{c.Index, c.Start, c.End, c.Tokens, c.Lead}); len(data) > len("{}") { // it cannot fail
		r.Data = data
	}
	return r
}

// Chunk is the inverse of [RecordOf]. Data that cannot be decoded is an error.
func (r Record) Chunk() (graphrag.Chunk, error) {
	var p place
	if len(r.Data) > 0 {
		if err := json.Unmarshal(r.Data, &p); err != nil {
			return graphrag.Chunk{}, fmt.Errorf("store: record %.80q does not hold a chunk, store chunks as RecordOf returns them: %w", r.ID, err)
		}
	}
	return graphrag.Chunk{ID: r.ID, Doc: r.Scope, Title: r.Title, Text: r.Text, Index: p.Index, Start: p.Start, End: p.End, Tokens: p.Tokens, Lead: p.Lead, Fields: r.Fields}, nil
}
