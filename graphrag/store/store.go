// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// Store keeps collections.
type Store interface {
	// Create makes a collection, or opens the one of that name, which must have this
	// schema: ErrMismatch says what differs.
	Create(ctx context.Context, name string, s Schema) (Collection, error)
	// Open opens a collection. There is none of that name: ErrNotFound.
	Open(ctx context.Context, name string) (Collection, error)
	// Collections lists the names, in order.
	Collections(ctx context.Context) ([]string, error)
	// Drop removes a collection with all generations. What is pinned stays readable
	// until it is closed.
	Drop(ctx context.Context, name string) error
	// Can tells what the engine can do.
	Can() Capabilities
	// Close ends the use of the store. What was not flushed is lost.
	Close() error
}

// Capabilities tell what an engine can do, so that nobody has to guess.
type Capabilities struct {
	// BM25 says that text is ranked by BM25; otherwise by what the engine has.
	BM25 bool
	// Exact says that an Effort of 1 finds the true nearest vectors.
	Exact bool
	// FixedReads says that a pinned generation stays as it was pinned, even if it is
	// written to. Otherwise it stays the same generation.
	FixedReads bool
	// Durable says that what was put is durable, and found by Get and All, before a Flush.
	Durable bool
	// MaxBatch is the number of items that a call takes, MaxK the number of hits that
	// it gives; 0 is no limit.
	MaxBatch, MaxK int
}

// Collection is the index of one corpus.
type Collection interface {
	// Schema is what the collection was created with.
	Schema() Schema
	// Write opens a generation for writing: a new one of that name; one that was begun,
	// as it was after its last Flush; or the published one.
	Write(ctx context.Context, generation string) (Generation, error)
	// Pin opens the published generation for reading. Nothing was published yet:
	// ErrNotFound.
	Pin(ctx context.Context) (Generation, error)
	// Publish makes a generation that was flushed the one that is read, if the one that
	// is read now is was ("" for none): otherwise ErrConflict, and nothing changes.
	Publish(ctx context.Context, generation, was string) error
	// Generations lists their names, in order, and which of them is published: "" if none
	// is.
	Generations(ctx context.Context) (names []string, published string, err error)
	// Discard removes a generation. The published one cannot be: ErrConflict. What is
	// pinned stays readable until it is closed.
	Discard(ctx context.Context, generation string) error
}

// Generation is one whole index.
type Generation interface {
	Name() string
	// Table is a table of the schema. There is none of that name: ErrNotFound.
	Table(name string) (Table, error)
	Triples() Triples
	// Flush makes everything that was put and deleted durable, and seen by all later
	// searches.
	Flush(ctx context.Context) error
	// Close ends the use of this handle.
	Close() error
}

// Table is records of one kind.
type Table interface {
	Records
	TextIndex
	VectorIndex
}

// Records are found by their ids.
type Records interface {
	// Put adds records; one with the id of one that is there takes its place. Those that
	// cannot be taken are told by an *ItemsError; the others are put.
	Put(ctx context.Context, records ...Record) error
	// Get returns the records of some ids, in the order of these. Ids that are not there
	// are left out.
	Get(ctx context.Context, ids ...string) ([]Record, error)
	// Delete removes records. Ids that are not there change nothing.
	Delete(ctx context.Context, ids ...string) error
	// DeleteScope removes the records of a scope.
	DeleteScope(ctx context.Context, scope string) error
	// All reads the records with an id greater than after, in the order of their ids,
	// as they were when it began. An error ends it.
	All(ctx context.Context, after string) iter.Seq2[Record, error]
	// Count is how many there are.
	Count(ctx context.Context) (int, error)
}

// Record is one thing that is kept: a chunk, an entity, a report, a reply.
type Record struct {
	ID string
	// Scope is what it belongs to, such as a document: DeleteScope removes all of it.
	Scope string
	// Title and Text are what is searched by words. They may be empty.
	Title, Text string
	// Vector is what is searched by likeness. A record without one is never found so.
	Vector []float32
	// Fields are what a Filter goes by: those of the schema.
	Fields Fields
	// Data is whatever else is to be kept.
	Data []byte
}

// TextIndex finds records by words.
type TextIndex interface {
	// SearchText returns the best records for each query. Those without a word of the
	// query are no hits.
	SearchText(ctx context.Context, queries ...TextQuery) ([][]Hit, error)
}

// TextQuery asks for the K best records for a text.
type TextQuery struct {
	Text  string
	K     int
	Where Filter
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
	Where  Filter
	// Effort is the share of the records that an approximate search looks at, about: 1
	// is all of them, 0 what the engine thinks right.
	Effort float64
}

// Hit is a record that was found.
type Hit struct {
	ID    string
	Score float64 // larger is better
}

// The errors that a caller may branch on.
var (
	// ErrNotFound: there is no collection, generation or table of that name.
	ErrNotFound = errors.New("not found")
	// ErrConflict: something else was published meanwhile, or is in use.
	ErrConflict = errors.New("conflict")
	// ErrMismatch: what is there was made with another schema, analyzer or version.
	ErrMismatch = errors.New("made otherwise")
	// ErrInvalid: what was given cannot be stored or asked.
	ErrInvalid = errors.New("invalid")
	// ErrReadOnly: the generation was pinned for reading.
	ErrReadOnly = errors.New("read only")
	// ErrUnavailable: the engine, or the part of it that was asked, does not answer.
	// Another try may.
	ErrUnavailable = errors.New("unavailable")
	// ErrDenied: the engine does not know who asks, or does not let them.
	ErrDenied = errors.New("permission denied")
)

// ThrottledError says that the engine has too much to do, and when to ask again.
type ThrottledError struct{ After time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("throttled: ask again after %v", e.After)
}

// ItemsError tells which items of a call could not be taken. The others were.
type ItemsError struct{ Items []ItemError }

// ItemError is what is wrong with one item.
type ItemError struct {
	Index int // among those of the call
	ID    string
	Err   error // wraps ErrInvalid
}

// Accept returns the items of a call that check accepts, the last one of each id, in order, and
// an *ItemsError about the others, or nil.
func Accept[T any](items []T, id func(T) string, check func(T) error) (good []T, err error) {
	var bad ItemsError
	place := make(map[string]int, len(items))
	for i, item := range items {
		name := id(item)
		if err := check(item); err != nil {
			bad.Items = append(bad.Items, ItemError{Index: i, ID: name, Err: err})
		} else if at, again := place[name]; again {
			good[at] = item
		} else {
			place[name] = len(good)
			good = append(good, item)
		}
	}
	if len(bad.Items) > 0 {
		err = &bad
	}
	return good, err
}

// Error names the first few.
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

// Unwrap gives the errors of the items.
func (e *ItemsError) Unwrap() []error {
	errs := make([]error, len(e.Items))
	for i, item := range e.Items {
		errs[i] = item.Err
	}
	return errs
}

// Triples are the edges of a graph.
type Triples interface {
	// PutTriples adds triples; one with the ID of one that is there takes its place. An
	// entity has one label: if triples call it otherwise, that of one of them.
	// Those that cannot be taken are told by an *ItemsError; the others are put.
	PutTriples(ctx context.Context, ts ...Triple) error
	// DeleteTriples removes triples by their IDs. Those that are not there change
	// nothing.
	DeleteTriples(ctx context.Context, ids ...string) error
	// SearchTriples returns the triples whose labels have most to do with each query.
	// Filters are of the fields head, relation and tail, which are ids, and source.
	SearchTriples(ctx context.Context, queries ...TextQuery) ([][]TripleHit, error)
	// Neighbors returns for each entity, by its id, triples that it is in, in the order
	// of their IDs, or that of [Near.Like].
	Neighbors(ctx context.Context, entities []string, o Near) ([][]Triple, error)
	// AllTriples reads the triples with an ID greater than after, in the order of their
	// IDs, as they were when it began. An error ends it.
	AllTriples(ctx context.Context, after string) iter.Seq2[Triple, error]
	// CountTriples is how many there are.
	CountTriples(ctx context.Context) (int, error)
}

// Triple is an edge: who stated what, and how sure it is.
type Triple struct {
	triples.Triple
	// Source is the record that states it; it may be empty.
	Source string
	Weight float64
}

// ID is made of the ids of head, relation and tail, and the source: 32 hexadecimal
// digits. So a triple that one source states twice is one, and as many as sources
// state it.
func (t Triple) ID() string {
	h := sha256.New()
	literal := "entity"
	if t.Literal {
		literal = "value"
	}
	for _, s := range []string{t.Head.ID, t.Relation.ID, t.Tail.ID, literal, t.Source} {
		h.Write([]byte(s))
		h.Write([]byte{0xff}) // which no UTF-8 has
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// TripleHit is a triple that was found.
type TripleHit struct {
	Triple
	Score float64 // larger is better
}

// Near says which neighbors are wanted.
type Near struct {
	// Limit is how many triples are wanted of an entity at most, so that a hub costs no
	// more than another; 0 is all.
	Limit int
	// End leaves out triples in which the entity is at the other end.
	End End
	// Relation, if it is not "", is the id of the only relation that is wanted.
	Relation string
	// Like, if it is not "", is a text: the triples that SearchTriples finds for it come
	// first, in its order, and then the others in that of their IDs.
	Like string
}

// End is the end of a triple at which an entity is.
type End string

// The ends.
const (
	Either End = ""
	Head   End = "head"
	Tail   End = "tail"
)
