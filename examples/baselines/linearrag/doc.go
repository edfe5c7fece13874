// SPDX-License-Identifier: Apache-2.0

// Package linearrag is LinearRAG (Zhuang and others, arXiv 2510.10114, ICLR 2026):
// a graph without relations. Entities are linked to the sentences and the passages
// that name them; a question activates its entities, these activate the entities of
// similar sentences, and so on; personalised PageRank over entities and passages ranks
// the passages. Indexing calls no model.
//
// It was written from the paper's equations and from a description of its program;
// the program itself was not used. Where they differ, the default follows the
// program, which made the published figures: see [Activation]. Neighbouring passages
// are linked only with [Options].Adjacent, which the paper does not have, and names
// match whole words, not parts of words.
//
// Without an embedder that was trained on language, sentences and passages are
// compared with the question by BM25, and names by spelling.
package linearrag
