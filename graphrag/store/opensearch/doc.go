// SPDX-License-Identifier: Apache-2.0

// Package opensearch keeps indexes in OpenSearch 3 with its plugin for vectors: records,
// words, vectors and triples behind the interfaces of graphrag/store, in shards and
// replicas over as many machines as there are.
//
//	s, err := opensearch.Open(ctx, []string{"http://a:9200", "http://b:9200"}, opensearch.Options{Shards: 3, Replicas: 1})
//	c, err := s.Create(ctx, "corpus", schema)
//
// It is a module of its own and speaks HTTP and JSON; there is no client library.
//
// # How it is kept
//
// A collection is a document of the index PREFIX-catalog, which is changed under its
// sequence number: of those who publish at once one wins. A generation is an index for
// each table, and one for the triples, with a name of its own; the published ones are also known
// to other programs by the alias PREFIX.COLLECTION.TABLE.
//
// Words are those of our analyzer, split at blanks there, ranked by Lucene's BM25 with
// the schema's k1 and b, and document frequencies of all shards. Lucene keeps the length
// of a text in one byte; up to 100 hits are ranked anew with the true length, by its
// explanations, so ranks are those of the embedded index there. Similarities of vectors are
// known to one in ten million: Lucene adds 1 to them.
//
// Vectors are in Lucene's HNSW; an Effort of 1 computes all. Iterations are of a point in
// time. What was put is durable at once, and seen by searches after Flush. Searches fail
// rather than answer from some of the shards.
//
// A search, Get or Neighbors is one round trip, however many items it has, up to 1,000
// ids a request. A request goes to the next of the nodes if one does not answer.
package opensearch
