// SPDX-License-Identifier: Apache-2.0

// Package weaviate keeps indexes in Weaviate 1.33 or later: records, words, vectors and
// triples behind the interfaces of graphrag/store, in shards and replicas over as many
// machines as there are.
//
//	s, err := weaviate.Open(ctx, []string{"http://a:8080", "http://b:8080"}, weaviate.Options{Replicas: 2})
//	c, err := s.Create(ctx, "corpus", schema)
//
// It is a module of its own and speaks HTTP: REST to write and GraphQL to search; there is no
// client library.
//
// # How it is kept
//
// A generation is a class for each table, and one for the triples, with a name of its own;
// the published ones are also known to other programs by the alias
// Prefix_A_COLLECTION_TABLE. Weaviate has no compare-and-set, but a class is made
// once: a collection is a class without objects whose description says what it is, and
// each change makes the next, Prefix_V_COLLECTION_7 after 6. Of those who publish at
// once one makes it.
//
// Words are those of our analyzer, split at blanks there, ranked by Weaviate's BM25 with the
// schema's k1 and b. It counts words by shard, so ranks are those of the embedded index with
// one shard (Capabilities.BM25), and not with more: of 400 passages in three shards 17 in 20
// of the ten best are the same. Replicas change nothing.
//
// Vectors are in HNSW; an Effort of 1, and every search with a filter, compares all that the
// filter leaves. All reads the ids first and sorts them, about 100 bytes of memory for each;
// what is deleted meanwhile is left out.
//
// Writes wait for all replicas, and searches ask one, so they see what was put. While a node
// is away, writes to its replicas are store.ErrUnavailable, and searches go on. When it is back it
// has all that was put: Put returns when every replica has written it to disk, which takes
// a second request. (Up to 1.38 a server answers a batch before the last vectors are in the
// log of its graph; after a kill it had them as records and did not find them.) That
// is not synced: a machine without power may lose seconds, which its replicas have.
//
// A search, Get or Neighbors is one round trip, however many items it has, up to 1,000
// ids a request. A request goes to the next of the nodes if one does not answer.
package weaviate
