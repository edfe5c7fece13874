// SPDX-License-Identifier: Apache-2.0

// Package disk is a store in a folder of this machine.
//
//	catalog.json    which collections and generations there are, and their segments
//	lock            held by the process that has the store open
//	segments/N/     what was flushed at once, and never changes: rows, words, vectors,
//	                or triples
//
// Puts are kept in memory until Flush, or until they exceed [Options].Memory, and are then written as a
// segment. A later segment hides the records of earlier segments that it replaces or deletes. When small
// segments become many they are merged, as in a log-structured merge tree (O'Neil and others, 1996); large ones
// are not, so a corpus that is loaded in one go is written once. Words are ranked as if all segments were one
// index, by [bm25.Collection].
//
// A flush or a publication is one replacement of the catalog: if the process is killed, or the disk is full,
// the store contains exactly the earlier flushes. Because puts that exceed [Options].Memory are flushed without
// a call, a generation that was closed between two flushes may contain a part of the later puts. Segments that
// are not in the catalog are removed when the store is opened.
//
// Segments are mapped into memory, so a collection may be larger than memory. Vectors are compared first by
// codes of one byte a component, then exactly: all rows, or the share of rows whose signs are most similar to
// the signs of the query ([vector.Params]).
package disk
