// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps indexes in PostgreSQL 15 or later with the extension pgvector: records, words, vectors
// and triples behind the interfaces of graphrag/store, for teams that run a database already, and for several
// programs that share one index.
//
//	s, err := postgres.Open(ctx, "postgres://user@host/db", postgres.Options{})
//	c, err := s.Create(ctx, "corpus", schema)
//
// It is a module of its own, so that the core does not depend on a driver.
//
// # Layout
//
// The tables of the schema wildgraph list collections and generations. A generation is a schema of its own
// (wildgraph_g12) with a table of rows and one of words for each table and for the triples. Publishing changes
// one row by compare-and-set.
//
// Words come from the store's analyzer, in a plain table. A row is a block: the records of a window of 512 that
// contain a term, with frequencies and lengths, and an upper bound of the term's contribution to a score. A
// search is a function on the server that reads, in one statement, only the blocks that can contain one of the
// best. So ranks and scores equal the ones of the embedded index (BM25 with the same formula and precision) on
// any server. The server's own full-text search has no IDF, and extensions with BM25 have other words and
// lengths, so neither is used. Records that were never flushed are not found by words.
//
// Vectors are pgvector's, and package vector computes the similarities of hits again. Searches are exact,
// unless Options.HNSW makes an index; an Effort of 1 is exact even then.
//
// A pinned generation has an advisory lock on the store's connection: Discard and Drop hide it at once and
// remove it when the last lock is released. A pinned generation changes if it is written to
// (Capabilities.FixedReads).
//
// Each call of a search, Get or Neighbors is one round trip for any number of items; an exact search by vectors
// takes more if many are almost equally similar. Each Put is one transaction. Ids, scopes, fields and labels
// must not contain NUL, which PostgreSQL does not store; texts may.
package postgres
