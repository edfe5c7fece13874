// SPDX-License-Identifier: Apache-2.0

// Package ppr computes personalised PageRank on undirected graphs: where a
// random walker is found who goes on along an edge with probability damping, in
// proportion to the weights, and otherwise starts again at a node of the reset
// vector v. It is the solution of
//
//	x = (1-d)·v + d·(Pᵀx + (Σ x_i over nodes i without an edge)·v)
//
// with v scaled to sum 1. A self-loop counts twice, as in igraph; edges of weight
// 0 are no way to go; the walker at a node without an edge starts again.
//
// # Exact
//
// [Solver.Solve] and [Solver.SolveBatch] compute x until the L1 norm of the
// residual, measured in float64, is within [Options.Tolerance]. On an undirected
// graph the system is symmetric: with x = D·y, where D holds the strengths of the
// nodes and A the weights,
//
//	(D - d·A)·y = (1-d)·v
//
// is positive definite, and conjugate gradients (Hestenes and Stiefel, 1952)
// solve it, with symmetric Gauss–Seidel sweeps as preconditioner, in the form that
// costs nothing (Eisenstat, 1981). They begin at x = v, which has the right sum on every
// connected component, so that the slowest direction is never met. Directions are
// rounded to float32, which halves what is read at random; everything computed from them
// is float64, so the residual stays true.
//
// Twins, nodes that have edges of the same weights to the same others, are solved
// for as one, and told apart afterwards. Many graphs of text have many, as names that
// stand in one passage alone. Nodes of large graphs are put in an order in which
// neighbours lie together. Both are found out once, before the first exact solution,
// which takes some two to four times as long as a query.
//
// # Approximate
//
// [Solver.Push] and [Solver.Top] push probability along edges only where there is
// much of it (Andersen, Chung and Lang, Local Graph Partitioning using PageRank
// Vectors, 2006), which does not depend on the size of the graph.
//
// A damping of 0.85 is usual; HippoRAG and LinearRAG use 0.5.
package ppr
