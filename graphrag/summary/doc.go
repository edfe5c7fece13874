// SPDX-License-Identifier: Apache-2.0

// Package summary condenses texts, and builds trees of texts and their summaries. A [Summarizer] makes one
// text of several: [Extractive] needs no model and quotes the sentences nearest to what the texts are
// about, each with its place; [ByModel] asks a language model.
//
// A [Tree] has pieces of documents as leaves and summaries above them. [Sequential] condenses neighbours,
// as E²GraphRAG does (arXiv 2505.24226); [Raptor] condenses similar nodes, wherever they stand (Sarthi and
// others, ICLR 2024). Both make one tree of many documents, and the same tree for the same leaves, options
// and seed at any concurrency, if a model answers the same question in the same way.
//
// RAPTOR reduces vectors by UMAP before it clusters them, which has no seed there. Here it is done by
// principal components, which keep distances between groups where UMAP exaggerates them.
//
// The caller chooses the nodes from which a question is answered, by any similarity to it: from all nodes
// in one pool (RAPTOR's collapsed tree), or from the top downwards by [Tree.Traverse].
package summary
