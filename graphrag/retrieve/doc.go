// SPDX-License-Identifier: Apache-2.0

// Package retrieve makes retrievers of indexes, and retrievers of retrievers.
//
// [NewSparse] ranks chunks by BM25, [NewDense] by the cosine of their vectors; [Stored]
// does both with chunks that are in a store.
// [NewPages] ranks pages by clean passages (package passage), and reads what is worth
// most for a budget of tokens.
// [Fuse] merges several by rank, [PerDoc] limits the chunks of one document,
// [Budget] keeps what is read within a number of tokens, and [Iterate] retrieves
// again with the queries that what was found leads to, as IRCoT does. Each is a
// graphrag.Retriever over any other, so they compose in every order. [All] asks
// several questions at once.
//
// [Texts] compares a query with texts of any kind: entities, facts, sentences,
// reports. [NewWords] does so by BM25, [NewVectors] by the vectors of an embedder.
// Systems that rank chunks by scores of their own make hits
// of them with [Ranking].
package retrieve
