// SPDX-License-Identifier: Apache-2.0

// Package ppr computes personalised PageRank on undirected graphs.
//
//	solver, err := ppr.New(g, ppr.Options{Damping: .5})
//	scores, err := solver.Solve(ctx, []ppr.Seed{{Node: 3, Weight: 1}}, nil)
//
// The scores are the stationary distribution of a random walk that follows an edge with probability
// damping d, in proportion to the weights, and otherwise restarts at a node of the reset vector v: the
// solution of
//
//	x = (1-d)·v + d·(Pᵀx + (Σ x_i over nodes i without an edge)·v)
//
// with v scaled to sum 1. A self-loop counts twice, as in igraph; edges of weight 0 are
// ignored; at a node without edges the walk restarts.
//
// [Solver.Solve] computes x until the L1 norm of the residual, measured in float64, is
// within [Options.Tolerance]. On an undirected graph the system is symmetric: with x = D·y, where D has the
// strengths of the nodes and A the weights,
//
//	(D - d·A)·y = (1-d)·v
//
// is positive definite. It is solved by conjugate gradients (Hestenes and Stiefel, 1952), preconditioned by
// symmetric Gauss–Seidel sweeps in Eisenstat's form (1981), which costs no further product with A. The
// start is x = v, which has the right sum on every connected component, so the slowest direction never
// occurs. Directions are rounded to float32, which halves the memory that is read at random; everything
// computed from them is float64, so the residual is exact.
//
// Twins, nodes with the same neighbours and weights, are solved for as one node and then separated: in
// graphs of entities many occur in a single passage. They are found once, before the first solution.
//
// A damping of 0.85 is usual; HippoRAG and LinearRAG use 0.5. A [Solver] is safe for concurrent use.
package ppr
