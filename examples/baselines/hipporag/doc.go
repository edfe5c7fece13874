// SPDX-License-Identifier: Apache-2.0

// Package hipporag is HippoRAG (Gutiérrez and others, arXiv 2405.14831, NeurIPS
// 2024): open triples make a graph of phrases, the entities of the question are
// linked to phrases, personalised PageRank spreads from them, and a passage is
// ranked by the phrases of its facts.
//
// Where the paper and its code are silent or differ: PageRank goes on with
// probability 0.5 (the class default of the code, 0.1, is not what the paper
// ran). Synonyms add to facts; [Options].OverwriteSynonyms lets them take their
// place, as the code does. A question none of whose entities can be linked is
// answered by flat retrieval; the code ranks at random then.
package hipporag
