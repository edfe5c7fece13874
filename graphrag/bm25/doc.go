// SPDX-License-Identifier: Apache-2.0

// Package bm25 ranks texts for a query by BM25, exactly.
//
//	score(d, q) = Σ over the terms t of q of  idf(t) · tf·(k1+1) / (tf + k1·(1-b+b·|d|/avg))
//	idf(t)      = ln(1 + (N-df+½)/(df+½))
//
// tf is the number of times that d has t, |d| the number of terms of d, avg the average of that over the N documents, df
// the number of documents with t; a term that is in the query twice counts twice. This is BM25 as Robertson
// and Zaragoza give it (2009, section 3), with the idf that is never negative. [Plain] names the parameters
// and words of the plain baseline.
//
// [Build] makes an [Index], on all processors and with the same result on any number of them.
// [Index.Search] returns the k best documents: always the true ones, with scores within 1e-4 of the formula
// for queries of the length of questions (sums are float32, the relative error is below 1e-6 per term),
// although most of the postings are never read; [Collection.Search] does so among the documents that a
// function selects. A corpus that does not fit into memory is built in parts, which [Merge] writes as one into a
// folder, and [MergeOrdered] in a given order and without deleted documents; [Open] maps it, so that only
// what is read takes memory. A [Collection] searches several indexes as one, as a store does whose texts
// change: new texts are an index of their own, a condition hides deleted ones, and now and then some
// indexes are merged.
//
// With a TitleWeight of n the title of a chunk counts as if it stood n times more in its text: tf(t) grows by n
// times the occurrences in the title and |d| by n times its length. That is BM25F with equal b for both fields.
package bm25
