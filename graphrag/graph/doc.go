// SPDX-License-Identifier: Apache-2.0

// Package graph is a compact undirected weighted graph: compressed sparse rows
// with int32 ids. It is what PageRank, communities and Steiner trees run on.
package graph
