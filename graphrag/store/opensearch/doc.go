// SPDX-License-Identifier: Apache-2.0

// Package opensearch keeps indexes in OpenSearch 3 with its plugin for vectors: records,
// words, vectors and triples behind the interfaces of graphrag/store, in shards and
// replicas on any number of machines.
//
//	s, err := opensearch.Open(ctx, []string{"http://a:9200", "http://b:9200"}, opensearch.Options{Shards: 3, Replicas: 1})
//	c, err := s.Create(ctx, "corpus", schema)
//
// It is a module of its own and speaks HTTP and JSON. OpenSearch's client for Go would replace the
// choice of a node alone: how long a call waits in all, what may be sent twice, and which part of
// an answer failed, it leaves to its callers.
//
// # Layout
//
// A collection is one document of the index PREFIX-catalog: its schema, its generations, and
// which of them is published. It is changed under its sequence number, so of concurrent
// publishers one wins. A generation is an index for each table and one for the triples. Vectors are stored with
// length 1, so OpenSearch computes dot products only.
//
// A discarded generation is hidden at once. Its indexes are removed when this store has no
// handle of it and another generation was discarded after it, so readers in other processes
// can finish; later ones get [store.ErrNotFound]. No clock is asked. A pinned generation
// changes if it is written to (Capabilities.FixedReads). Triples keep the labels that they
// were put with.
//
// Words come from our analyzer, split at blanks there, ranked by Lucene's BM25 with the
// schema's k1 and b, and document frequencies of all shards, in which deleted records count until
// their segments are merged. Lucene stores the length of a
// text in one byte; up to 100 hits are re-scored with the true length, by its explanations, so
// their ranks equal the ranks in the embedded index. Similarities of vectors are known to one
// in ten million: Lucene adds 1 to them.
//
// Vectors are in Lucene's HNSW; an Effort of 1 computes all. Iterations are of a point in
// time. What was put is durable at once, and seen by searches after Flush. Searches fail
// rather than answer from some of the shards.
//
// A search, Get or Neighbors is one round trip, however many items it has, up to 1,000
// ids a request. A request goes to the next of the nodes if one does not answer.
package opensearch
