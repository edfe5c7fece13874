// SPDX-License-Identifier: Apache-2.0

// Package graph is a compact undirected weighted graph: compressed sparse rows
// with int32 ids. PageRank, communities and Steiner trees run on it.
//
// [New] makes one of edges in any order, parallel ones added up. A [Graph] answers for
// rows, weights, degrees, components and [Stats]. [Graph.Gonum] is a copy for gonum, whose
// algorithms and writers of other formats (DOT, Graph6) take it.
//
// [FindPaths] searches depth first along arcs that are similar to a question, with stated bounds: the fourth
// route of Youtu-GraphRAG (arXiv 2508.19855, equation 10), up to five edges. The paper has no order, no
// score and no bound beside the depth.
//
// [Beam] grows a fixed number of chains triple by triple: the diverse triple beam search of GeAR (Shen and
// others, arXiv 2412.18431, Algorithm 1). Of the chains that grow out of one, each is worth the less the
// further down it ranks, so that not all follow the best one. Beam knows triples by number and asks for
// neighbors and scores of many at once: an index on disk or a server is asked once a step.
//
// [FindTree] finds prize-collecting Steiner trees, whose nodes are worth more than their edges cost. Weights are
// costs, each node has a prize, and the tree maximises
//
//	Σ prizes of the tree's nodes - Σ costs of its edges
//
// The problem is NP-hard; the method is the primal-dual one of Goemans and Williamson ("A general approximation
// technique for constrained forest problems", 1995) in the nearly linear time of Hegde, Indyk and Schmidt ("A fast,
// adaptive variant of the Goemans-Williamson scheme for the prize-collecting Steiner tree problem", 2014), then
// strong pruning (Johnson, Minkoff and Phillips 2000). Costs plus prizes left out are at most twice the least
// possible; for the difference above there is no such factor. [Subgraph] selects the part of a textual graph that
// belongs to a question, as G-Retriever does (He and others 2024, section 5.3), from [NodePrizes] and [EdgePrizes].
package graph
