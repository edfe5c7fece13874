// SPDX-License-Identifier: Apache-2.0

// Package summary condenses texts: it builds trees of chunks and summaries,
// reports on the communities of a graph, and the tree of knowledge above them.
//
// A [Summarizer] makes one text of several. There are two kinds: [Extractive]
// needs no model and quotes the sentences nearest to what the texts are about,
// each with its place; [ByModel] asks a language model.
//
// A [Tree] has chunks as leaves and summaries above them. [Sequential] condenses
// neighbouring chunks, as E²GraphRAG does; [Raptor] those that are alike,
// wherever they stand, as RAPTOR does (Sarthi and others, ICLR 2024). Both take
// any Summarizer and give the same tree for the same input, options and seed,
// whatever the number of workers; a model that answers the same question in two
// ways is the only exception.
//
// RAPTOR reduces vectors by UMAP before it clusters them, which has no seed
// there. Here a [Reducer] does it, by default [PCA]. That differs from the
// paper: principal components keep distances between groups, UMAP exaggerates
// them.
//
// For questions, [Tree.Rank] has all nodes in one pool and [Fit] fills a budget
// with the first of them (RAPTOR's collapsed tree); [Tree.Traverse] goes down
// from the top.
//
// [Reports] writes a report on every community of a hierarchy, from the deepest
// level up, and packs what it is made of by the rules of Microsoft GraphRAG
// (arXiv 2404.16130; microsoft/graphrag v0.3.0). [Knowledge] makes the four levels
// of Youtu-GraphRAG (arXiv 2508.19855): attributes, facts, the keywords of each
// community, and the communities.
package summary
