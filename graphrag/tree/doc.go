// SPDX-License-Identifier: Apache-2.0

// Package tree builds trees of texts and their summaries.
//
// A [Tree] has pieces of documents as leaves and summaries above them. [Sequential]
// condenses neighbours, as E²GraphRAG does; [Raptor] those that are alike,
// wherever they stand, as RAPTOR does (Sarthi and others, ICLR 2024). Both make one
// tree of many documents, take any summary.Summarizer, and give the same tree for
// the same leaves, options and seed at any concurrency, if a model answers the
// same question in the same way.
//
// RAPTOR reduces vectors by UMAP before it clusters them, which has no seed
// there. Here a [Reducer] does it, by default [PCA]. That differs from the
// paper: principal components keep distances between groups, UMAP exaggerates
// them.
//
// Which nodes a question is answered from is for the caller to choose, by whatever
// tells how like it they are: from all nodes in one pool (RAPTOR's collapsed tree),
// or from the top downwards by [Tree.Traverse].
package tree
