// SPDX-License-Identifier: Apache-2.0

// Package triples reads triples from files of any size, line by line, and indexes them by words and by entities.
//
//	format          a line
//	[TSV]           the names of head, relation and tail, separated by tabs
//	[Wikidata5M]    their ids, separated by tabs, with labels in other files
//	[JSONL]         {"h": …, "r": …, "t": …}, each a name or {"id": …, "label": …}
//	[NTriples]      the W3C's N-Triples, as Wikidata and DBpedia are published
//
// Files may be compressed by gzip. Invalid lines are counted and skipped, and the first are
// reported ([Reader.Bad]).
//
// An [Entity] is identified by its ID. In formats without ids, entities with the same name are one.
package triples
