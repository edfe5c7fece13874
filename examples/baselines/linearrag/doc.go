// SPDX-License-Identifier: Apache-2.0

// Package linearrag is LinearRAG (Zhuang and others, arXiv 2510.10114, ICLR 2026):
// a graph without relations. Entities are tied to the sentences and the passages
// that name them; a question activates its entities, these the entities of
// sentences that are like the question, and so on; personalised PageRank over
// entities and passages ranks the passages. Indexing asks no model.
//
// Written from the paper's equations and from notes on what its program does;
// the program itself was not used. Where they differ, the default follows the
// program, which made the published figures: see [Activation]. A passage is not
// tied to its neighbours unless [Options].Adjacent says so, which the paper does
// not have, and names are matched with whole words, not with parts of words.
//
// Without an embedder that was trained on language, sentences and passages are
// compared with the question by BM25, and names by spelling.
package linearrag
