// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps indexes in PostgreSQL 15 or later with the extension pgvector:
// records, words, vectors and triples behind the interfaces of graphrag/store, for teams
// that run a database already, and for several programs that share one index.
//
//	s, err := postgres.Open(ctx, "postgres://user@host/db", postgres.Options{})
//	c, err := s.Create(ctx, "corpus", schema)
//
// It is a module of its own, so that the core does not depend on a driver.
//
// # How it is kept
//
// The tables of the schema wildgraph list collections and generations. A generation is
// a schema of its own (wildgraph_g12) with a table of rows and one of words for each
// table, and those of the triples. Publishing changes one row, by compare-and-set.
//
// Words are those of our analyzer, in plain tables: term, record, how often. So ranks
// are those of the embedded index (BM25 with the same formula), on any server, and the
// server's own full text, which has no idf, is not asked. The cost of a word grows with
// the records that have it; nothing is pruned.
//
// Vectors are pgvector's. Searches are exact, unless Options.HNSW makes an index; an
// Effort of 1 is exact even then.
//
// A pinned generation is held by an advisory lock of the store's connection: Discard and
// Drop hide it at once and remove it when nobody holds it. It does not stay as it was
// pinned if it is written to (Capabilities.FixedReads).
//
// Each call of a search, Get or Neighbors is one round trip, however many items it has.
// Every call that puts is one transaction. Text may hold any character but that ids,
// scopes, fields and labels cannot hold NUL, which PostgreSQL does not store.
package postgres
