// SPDX-License-Identifier: Apache-2.0

// Package gear is GeAR as a recipe: graph retrieval that does not need the triples of
// the whole corpus (Shen and others, "Millions of GeAR-s: Extending GraphRAG to
// Millions of Documents", arXiv 2507.17399). Passages are retrieved; useful triples are
// read from them and remembered; from the second step on they are linked to the triples
// of a graph, which need not be of the corpus, and expanded by diverse beam search; the
// triples reached are aligned with passages, which are fused with the retrieved ones.
// After each step, a model or rules decide whether the remembered triples answer the
// question, and write the next query if not.
//
// [Options.Original] is the preceding system (arXiv 2412.18431): its graph is extracted
// from the corpus, its triples have source passages, and every step is expanded.
//
// [New] indexes a corpus in memory. [Over] searches over [Parts]: a corpus of millions
// of passages in a store, and a graph such as [Indexed] or [Stored].
package gear
