// SPDX-License-Identifier: Apache-2.0

// Package parquet carries graphs to engines that work on tables, and what these find out
// back: for graphs that do not fit into memory, and engines that span machines.
//
//	nodes   id, label          all nodes, 0 to n-1
//	edges   src, dst, weight   each edge once
//	ranks   id, a column       one number for each node, as PageRank gives it
//	groups  id, a column       the component or community of each node
//
// [WriteNodes] and [WriteEdges] write a table as it comes, in row groups of [GroupRows]
// rows, and hold no more of it. [ReadEdges], [ReadRanks] and [ReadCommunities] read folders
// with files NAME.parquet, as Spark writes them, in any order of rows. Names and types are
// those that Spark's GraphFrames want; docs/stores.md shows it at work.
//
// Files are not trusted: one that is no such table is [ErrFormat], a value that does not fit
// the graph is [ErrValue]. Both errors name the file and the remedy.
package parquet
