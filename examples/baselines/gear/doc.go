// SPDX-License-Identifier: Apache-2.0

// Package gear is GeAR as a recipe: graph retrieval that does not need the triples of
// the whole corpus (Shen and others, "Millions of GeAR-s: Extending GraphRAG to
// Millions of Documents", arXiv 2507.17399). Passages are retrieved; triples that
// help are read from them and remembered; from the second step on they are linked to
// the triples of a graph, which need not be of the corpus, and expanded by diverse
// beam search; what was reached is aligned with passages and fused with what was
// retrieved. After each step it is decided whether what is remembered answers the
// question, and what to look for if not.
//
// [Options.Original] is the system before it (arXiv 2412.18431): the graph is that of
// the corpus, whose triples know their passages, and every step is expanded.
//
// [New] indexes a corpus in memory. [Over] searches over [Parts]: a corpus of millions
// of passages in a store, beside a graph such as [Indexed] and [Stored] are.
package gear
