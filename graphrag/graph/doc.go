// SPDX-License-Identifier: Apache-2.0

// Package graph is a compact undirected weighted graph: compressed sparse rows
// with int32 ids. It is what PageRank, communities and Steiner trees run on.
//
// [New] makes one of edges in any order, parallel ones added up. A [Graph] answers for
// rows, weights, degrees, components and [Stats]. [Graph.Gonum] is a copy for gonum, whose
// algorithms and writers of other formats (DOT, Graph6) take it.
package graph
