// SPDX-License-Identifier: Apache-2.0

// Package store says what a place is in which indexes live: records, an index of
// their words, one of their vectors, and triples, in generations that are built aside
// and published at once. A system that is written against these interfaces does not
// know whether they are folders of this machine (package disk) or an engine that
// spans many.
//
//	Store        collections by name
//	Collection   one corpus: a schema, and generations of which one is published
//	Generation   tables and triples: a whole index
//	Table        records of one kind, such as chunks or entities, found by id
//	             (Records), by words (TextIndex) and by vectors (VectorIndex)
//	Triples      edges, found by words and by their ends
//
// # What every store keeps
//
// Calls take many items, since a call may be a journey. Ids are the caller's; an item
// that is put again takes the place of the one before. What was put or deleted is
// there for searches after [Generation.Flush] has returned, and on disk. Until then
// each call sees it or not. Nothing is a transaction but Publish, which compares and
// sets; a reader keeps the generation that it pinned, whatever is published
// meanwhile. A hit is of a record that is there.
//
// The best come first, equal ones in the order of their ids. Scores are those of the
// engine: compare their ranks, not them.
//
// Errors wrap [ErrNotFound], [ErrConflict], [ErrMismatch], [ErrInvalid],
// [ErrReadOnly], [ErrUnavailable] or [ErrDenied], or are a [*ThrottledError] or an
// [*ItemsError]. The suite in package storetest holds a store to all of this.
//
// Everything is safe for concurrent use.
package store
