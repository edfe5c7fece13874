// SPDX-License-Identifier: Apache-2.0

// Package hipporag2 is HippoRAG 2 (Gutiérrez and others, From RAG to Memory,
// arXiv 2502.14802, ICML 2025): the graph of HippoRAG with the passages as nodes;
// the question is matched with whole facts, a model says which of them matter,
// and personalised PageRank starts from their phrases and, weakly, from all
// passages.
//
// Where the paper is silent, the code is followed: edges of weight 2 for each fact,
// the cosine in each direction for synonyms and 1 between passage and phrase; phrase
// weights are divided by the number of passages (see [PhraseScore] for the two
// published ways). Faults of the code are not followed: synonyms do not accumulate
// with every insertion, a fact that the filter invents selects nothing, a filter that
// fails leaves the facts unfiltered instead of ignoring the graph, and the weight of a
// synonym is added to the facts between its phrases ([Options].Overwrite follows the
// code). With [Options].ASCIIPhrases, phrases are equal if their ASCII letters are, as
// in the code; the code embeds only these letters, here whole texts are embedded.
//
// Without an embedder that was trained on language, facts and passages are
// compared with the question by BM25. Without a model nothing is filtered; the
// paper finds that this costs 0.7 points of recall (its table 4).
package hipporag2
