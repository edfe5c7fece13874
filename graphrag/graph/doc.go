// SPDX-License-Identifier: Apache-2.0

// Package graph is a compact undirected weighted graph: compressed sparse rows
// with int32 ids. It is what PageRank, communities and Steiner trees run on.
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
package graph
