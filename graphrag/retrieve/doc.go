// SPDX-License-Identifier: Apache-2.0

// Package retrieve makes retrievers of indexes, and retrievers of retrievers.
//
//	words, err := retrieve.NewSparse(ctx, chunks, bm25.Options{})
//	vectors, err := retrieve.NewDense(ctx, chunks, embedder)
//	both, err := retrieve.Fuse(words, vectors)
//	found, err := both.Retrieve(ctx, graphrag.Question{Text: "Who built the Fram?"})
//
// [NewSparse] ranks chunks by BM25, [NewDense] by the cosine of their vectors; [Stored] does both with chunks
// that are in a store. [Fuse] merges several retrievers by rank, [PerDoc] limits the chunks of one document.
// Each is a graphrag.Retriever over any other, so they compose in any order. [All] answers several questions at
// once, and [Fit] cuts evidence to a number of tokens.
//
// [Texts] compares a query with texts of any kind: entities, facts, sentences, reports. [NewWords] does so by
// BM25, [NewVectors] by the vectors of an embedder. [Ranking] turns a system's own scores of chunks into hits.
package retrieve
