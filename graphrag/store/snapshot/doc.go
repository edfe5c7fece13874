// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes a generation of a store as plain files, and reads them into
// another store: a backup that needs no engine, and the way from one to another.
//
//	TABLE.records.jsonl  a record a line, without its vector
//	TABLE.vectors.f32    the vectors of the records that have one ("vector": true), in
//	                     their order, as little-endian float32
//	triples.jsonl        a triple a line
//	snapshot.json        the schema and how many there are of each, written last
package snapshot
