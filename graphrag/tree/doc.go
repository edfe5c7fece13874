// SPDX-License-Identifier: Apache-2.0

// Package tree builds trees of texts and their summaries, and retrieves from
// them.
//
// A [Tree] has chunks as leaves and summaries above them. [Sequential] condenses
// neighbouring chunks, as E²GraphRAG does; [Raptor] those that are alike,
// wherever they stand, as RAPTOR does (Sarthi and others, ICLR 2024). Both take
// any summary.Summarizer and give the same tree for the same input, options and
// seed at any concurrency, if a model answers the same question in the same way.
//
// RAPTOR reduces vectors by UMAP before it clusters them, which has no seed
// there. Here a [Reducer] does it, by default [PCA]. That differs from the
// paper: principal components keep distances between groups, UMAP exaggerates
// them.
//
// For questions, [Tree.Rank] has all nodes in one pool and [Fit] fills a budget
// with the first of them (RAPTOR's collapsed tree); [Tree.Traverse] goes down
// from the top.
package tree
