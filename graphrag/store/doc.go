// SPDX-License-Identifier: Apache-2.0

// Package store defines the interfaces of stores of indexes: records, an index of their words, one of their
// vectors, and triples, in generations that are built aside and published atomically. A system that uses these
// interfaces runs on a folder of this machine (package disk) as on an engine of many machines.
//
//	Store        collections by name
//	Collection   one corpus: a schema, and generations of which one is published
//	Generation   tables and triples: a whole index
//	Table        records of one kind, such as chunks or entities, found by id
//	             (Records), by words (TextIndex) and by vectors (VectorIndex)
//	Triples      edges, found by words and by their ends
//
// # Guarantees of every store
//
// Calls take many items, to save round trips. Ids are chosen by the caller; putting an existing id replaces the
// item. Puts and deletions are durable and visible to searches after [Generation.Flush] has returned; before
// that they may or may not be visible. The only transaction is Publish, a compare-and-set; a reader keeps the
// generation that it pinned, whatever is published meanwhile. Every hit is of an existing record.
//
// Hits are sorted by score, equal ones by id. Package vector computes the similarities of vectors, so an exact
// search finds the same in every store ([TableSchema.Nearest]). Scores of words come from the engine: compare
// ranks, not scores, between stores.
//
// Errors wrap [ErrNotFound], [ErrConflict], [ErrMismatch], [ErrInvalid], [ErrReadOnly], [ErrUnavailable] or
// [ErrDenied], or are a [*ThrottledError] or an [*ItemsError]. The suite in graphragtest.Store checks all of
// this.
//
// Everything is safe for concurrent use.
package store
