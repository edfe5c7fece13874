// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag/triples"
)

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
