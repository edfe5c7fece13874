// SPDX-License-Identifier: Apache-2.0

// Package steiner finds prize-collecting Steiner trees: subtrees of a graph
// whose nodes are worth more than their edges cost.
//
// [Find] takes a [graph.Graph] with the costs of the edges as
// weights and a prize for each node. They maximize
//
//	Σ prizes of the tree's nodes - Σ costs of its edges
//
// which is to minimise the costs plus the prizes left out. The problem is NP-hard; the method is the
// primal-dual one of Goemans and Williamson ("A general approximation technique for constrained forest
// problems", 1995) in the nearly linear time of Hegde, Indyk and Schmidt ("A fast, adaptive variant of the
// Goemans-Williamson scheme for the prize-collecting Steiner tree problem", 2014), followed by strong
// pruning (Johnson, Minkoff and Phillips 2000). Costs plus prizes left out are at most twice the least
// possible; for the difference above there is no such factor.
//
// [Subgraph] selects the part of a textual graph that belongs to a question, as G-Retriever does (He and
// others 2024, section 5.3), from prizes that [NodePrizes] and [EdgePrizes] make of similarities.
package steiner
