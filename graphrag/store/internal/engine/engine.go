// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Engine is what an adapter says of its engine. Indexes and registers have names of a-z and
// 0-9; those of registers may have _ and - too. Errors are those of package store; what
// concerns an index that is not there is store.ErrNotFound. Everything is safe for
// concurrent use.
type Engine interface {
	// Load reads a register, and the version that Save wants: nil and "" if there is none.
	Load(ctx context.Context, register string) (value []byte, version string, err error)
	// Save changes a register that is of this version still, "" if there is to be none:
	// otherwise store.ErrConflict. No value removes it.
	Save(ctx context.Context, register string, value []byte, version string) error
	// Registers lists the names.
	Registers(ctx context.Context) ([]string, error)

	// Create makes an index. It is there: nothing changes.
	Create(ctx context.Context, index string, s Spec) error
	// Drop removes indexes. They are not there: nothing changes.
	Drop(ctx context.Context, indexes ...string) error
	// Alias gives indexes names for other programs, in place of what had them.
	Alias(ctx context.Context, indexes map[string]string) error

	// Put writes documents, of different ids; Delete those of some ids, DeleteWhere those
	// of a field's value, also of documents that were put before it was called.
	Put(ctx context.Context, index string, docs []Doc) error
	Delete(ctx context.Context, index string, ids []string) error
	DeleteWhere(ctx context.Context, index string, field, value string) error
	// Refresh makes searches see what was put and deleted.
	Refresh(ctx context.Context, indexes ...string) error

	// Get reads documents, in any order, with their ids and bodies.
	Get(ctx context.Context, index string, ids []string) ([]Hit, error)
	// Search answers queries, in one round trip, the best first, then by id.
	Search(ctx context.Context, index string, queries []Query) ([][]Hit, error)
	// All reads ids and bodies in the order of ids.
	All(ctx context.Context, index string, after string) iter.Seq2[Hit, error]
	// Count is the number of documents.
	Count(ctx context.Context, index string) (int, error)

	// Can is what the engine can do. Its MaxK is not 0.
	Can() store.Capabilities
	// Close ends the use of the engine.
	Close() error
}

// Spec declares an index.
type Spec struct {
	// Words says that documents have terms, searched by BM25 with K1 and B.
	Words bool
	K1, B float64
	// Dim is the number of components of vectors, compared by the dot product; 0 is none.
	Dim    int
	Fields map[string]store.Kind
	// Of says what it is an index of.
	Of string
}

// Doc is a document.
type Doc struct {
	ID     string
	Terms  []string
	Vector []float32
	Fields store.Fields // strings and finite float64s
	Body   []byte       // UTF-8 without control characters
}

// Query asks for documents: by terms, or else by a vector, or else in the order of ids.
type Query struct {
	Terms  []Term
	Vector []float32
	// Exact says that all documents are to be looked at.
	Exact bool
	// After leaves out documents up to an id, in the order of ids.
	After string
	// Where has names of Spec.Fields, and no op without filters.
	Where store.Filter
	K     int // 1 to MaxK
	// Bodies says that hits are wanted with their bodies.
	Bodies bool
}

// Term is a term of a query, and how often it has it.
type Term struct {
	Text  string
	Times int
}

// Hit is a document that was found.
type Hit struct {
	ID    string
	Score float64
	Body  []byte
}
