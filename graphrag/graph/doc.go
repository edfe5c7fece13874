// SPDX-License-Identifier: Apache-2.0

// Package graph is a compact undirected weighted graph, in compressed sparse rows with int32 node numbers.
// PageRank, communities and Steiner trees run on it.
//
// [New] makes a graph from edges in any order, and sums the weights of parallel ones. A [Graph] returns rows,
// weights, degrees, components and [Stats]. [Graph.Gonum] is a copy for gonum, for its algorithms and its
// writers of other formats (DOT, Graph6).
//
// [FindPaths] searches depth first along arcs that are similar to a question, within given limits: the fourth
// retrieval route of Youtu-GraphRAG (arXiv 2508.19855, equation 10), up to five edges. The paper defines no
// order, no score and no limit except the depth.
//
// [Beam] extends a fixed number of chains triple by triple: the diverse triple beam search of GeAR (Shen and
// others, arXiv 2412.18431, Algorithm 1). Of the chains that extend the same one, each is penalized by its
// rank, so that not all results extend the best one. Beam knows triples by number and requests neighbors and
// scores of many at a time: one request per step to an index on disk or a server.
//
// [FindTree] finds prize-collecting Steiner trees, whose nodes are worth more than their edges cost. Weights
// are costs, each node has a prize, and the tree maximizes
//
//	Σ prizes of the tree's nodes - Σ costs of its edges
//
// The problem is NP-hard; the method is the primal-dual one of Goemans and Williamson ("A general approximation
// technique for constrained forest problems", 1995) in the nearly linear time of Hegde, Indyk and Schmidt ("A
// fast, adaptive variant of the Goemans-Williamson scheme for the prize-collecting Steiner tree problem",
// 2014), then strong pruning (Johnson, Minkoff and Phillips 2000). The costs plus the prizes outside of the
// tree are at most twice the minimum; there is no such bound for the difference above. [Subgraph] selects the
// part of a textual graph that is relevant to a question, as G-Retriever does (He and others 2024, section
// 5.3), with [NodePrizes] and [EdgePrizes].
package graph
