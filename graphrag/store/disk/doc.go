// SPDX-License-Identifier: Apache-2.0

// Package disk is a store in a folder of this machine.
//
//	catalog.json    which collections and generations there are, and their segments
//	lock            held by the process that has the store open
//	segments/N/     what was flushed at once, and never changes: rows, words, vectors,
//	                or triples
//
// What is put is kept in memory until Flush, or until there is much of it, and then
// written as a segment. A later segment hides what it replaces or deletes in those
// before. Small segments are merged as they become many, as in a log-structured merge
// tree (O'Neil and others, 1996); large ones stay as they are, so a corpus that is
// loaded at once is written once. Whatever the segments, words are ranked as if all
// were in one index, by [bm25.Collection].
//
// A flush, and a publication, is one replacement of the catalog: a process that is
// killed, or a disk that is full, leaves what was flushed before, and nothing else. What
// exceeds [Options].Memory is flushed without being asked for, so that a generation that was
// closed between two flushes may hold a part of what was put since the first.
// Segments that the catalog does not name are removed when the store is opened.
//
// Segments are mapped into memory, so that a collection may be larger than that.
// Vectors are compared by codes of a byte a component and then exactly: of all rows, or
// of the share that their signs say is nearest to the query ([vector.Params]).
package disk
