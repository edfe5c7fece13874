// SPDX-License-Identifier: Apache-2.0

// Package graph is a compact undirected weighted graph: compressed sparse rows
// with int32 ids. It is what PageRank, communities and Steiner trees run on.
//
// [New] and [Build] make one of edges in any order, parallel ones added up. A
// [Graph] answers for rows, weights, degrees, components and [Stats], is written as
// GraphML with the [Attributes] of its nodes, and is a graph
// of gonum by [Graph.Gonum].
package graph
