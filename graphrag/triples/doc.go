// SPDX-License-Identifier: Apache-2.0

// Package triples reads knowledge graphs that others made, line by line, however
// large the file is.
//
//	format          a line
//	[TSV]           head, relation and tail by their names, between tabs
//	[Wikidata5M]    the same by their ids, with the names in files of their own
//	[JSONL]         {"h": …, "r": …, "t": …}, each a name or {"id": …, "label": …}
//	[NTriples]      the W3C's N-Triples, as Wikidata and DBpedia are published
//
// Files may be compressed by gzip. A line that cannot be read is counted, and the
// first of them are told ([Reader.Bad]); the others are read.
//
// An [Entity] is known by its ID. Things of one name stay apart where the format has
// ids, and are one where it has none.
package triples
