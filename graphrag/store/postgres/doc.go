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
// Words are those of our analyzer, in a plain table: a row is a block, the records of a
// window of 512 that have a term, with how often and their lengths, and a bound on what
// the term can add to a score. A search is a function beside it that reads the blocks that
// can hold one of the best, on the server and in one statement. So ranks and scores are
// those of the embedded index (BM25 with the same formula and precision), on any server.
// The server's own full text has no idf, and extensions with BM25 have words and lengths of
// their own: neither is asked. Records that were never flushed are not found by words.
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
