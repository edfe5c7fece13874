// SPDX-License-Identifier: Apache-2.0

// Package engine makes a [store.Store] of a search engine: of a few calls that any
// engine has ([Engine]: indexes of documents, and registers that are changed by
// compare-and-set), all that package store promises. So an adapter says how its engine
// spells these calls, and nothing else.
//
// # How it is kept
//
// A collection is one register: its schema, its generations, and which of them is
// published. Publishing changes that register, so one of those who publish at once wins.
// A generation is an index of documents for each table and one for the triples. A
// document has an id, terms that our analyzer made, a vector, fields for filters, and a
// body that only we read. Vectors that are compared by the cosine have length 1 there, so
// engines only know dot products.
//
// A generation that was discarded is hidden at once, and removed when this store has no
// handle of it and another was discarded after it; so readers in other programs can end
// what they do, and no clock is asked. If they do not, they are told
// [store.ErrNotFound]. A pinned generation does not stay as it was pinned if it is written to
// (Capabilities.FixedReads). Triples keep the labels that they were put with.
//
// [Client] sends requests over HTTP: to any of several nodes, again if one does not
// answer, after the time that a throttling one asks for, with errors by their names.
package engine
