// SPDX-License-Identifier: Apache-2.0

// Package opensearch keeps indexes in OpenSearch 3 with its plugin for vectors: records, words, vectors and
// triples behind the interfaces of graphrag/store, in shards and replicas on any number of machines.
//
//	s, err := opensearch.Open(ctx, []string{"http://a:9200", "http://b:9200"}, opensearch.Options{Shards: 3, Replicas: 1})
//	c, err := s.Create(ctx, "corpus", schema)
//
// It is a module of its own and speaks HTTP and JSON. OpenSearch's client for Go would only replace the choice
// of a node: it leaves to its callers how long a call waits in all, which requests may be sent twice, and which
// part of an answer failed.
//
// # Layout
//
// A collection is one document of the index PREFIX-catalog: its schema, its generations, and
// which of them is published. It is changed under its sequence number, so of concurrent
// publishers one wins. A generation is an index for each table and one for the triples. Vectors are stored with
// length 1, so OpenSearch computes dot products only.
//
// A discarded generation is hidden at once. Its indexes are removed when this store has no handle of it and
// another generation was discarded later, so that readers in other processes can finish; after that they get
// [store.ErrNotFound]. No clock is used. A pinned generation changes if it is written to
// (Capabilities.FixedReads). Triples keep the labels with which they were put.
//
// The analyzer of the store makes the words, which OpenSearch splits at blanks. They are ranked by Lucene's
// BM25 with the schema's k1 and b, and document frequencies of all shards, in which deleted records count until
// their segments are merged. Lucene stores the length of a text in one byte; up to 100 hits are scored again
// with the true length, from its explanations, so their ranks equal the ranks in the embedded index.
// Similarities are computed from the vectors in the bodies of hits, since Lucene adds 1 to its own.
//
// Vectors are in Lucene's HNSW index; an Effort of 1 compares all. An iteration reads the state of one point in
// time. Puts are durable at once, and visible to searches after Flush. If some shards fail, a search fails too.
//
// A search, Get or Neighbors is one round trip for any number of items, up to 1,000 ids a request; an exact
// search by vectors takes more if many are almost equally similar. If a node does not answer, the request goes
// to the next one.
package opensearch
