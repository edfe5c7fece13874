// SPDX-License-Identifier: Apache-2.0

// Package hipporag is HippoRAG (Gutiérrez and others, arXiv 2405.14831, NeurIPS
// 2024): open triples make a graph of phrases, the entities of the question are
// linked to phrases, personalised PageRank spreads from them, and a passage is
// ranked by the phrases of its facts.
//
// Where the paper and its code are silent or differ: the damping factor of
// PageRank is 0.5 (the paper did not use 0.1, the class default of the code). The
// weights of synonyms are added to facts; with [Options].OverwriteSynonyms they
// replace facts, as in the code. A question without a linked entity is answered by
// flat retrieval; the code ranks at random.
package hipporag
