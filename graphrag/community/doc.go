// SPDX-License-Identifier: Apache-2.0

// Package community finds communities in graphs: sets of nodes that have more
// edges to each other than chance would give them.
//
//	p, err := community.Leiden(ctx, g, community.Options{})
//	of := p.Labels[node] // the community of a node
//	h, err := community.HierarchicalLeiden(ctx, g, community.HierarchyOptions{MaxSize: 10})
//
// # Leiden
//
// [Leiden] is the algorithm of V. A. Traag, L. Waltman and N. J. van Eck, "From Louvain to Leiden:
// guaranteeing well-connected communities", Scientific Reports 9 (2019), arXiv 1810.08473, for weighted
// undirected graphs. It maximizes modularity ([Partition].Quality). A pass moves single nodes, refines the
// communities into well-connected parts, makes each part a node of a smaller graph, and continues there;
// the next pass begins with the single nodes again. With w(v) the strength of a node and γ' = γ/2m for
// modularity, the paper guarantees, and the tests check:
//
//   - each community is connected, after every pass;
//   - no two communities C, D are better merged: E(C,D) ≤ γ'·w(C)·w(D), after every pass;
//   - each community is γ-connected: it can be built by merging two parts S, T with E(S,T) ≥ γ'·w(S)·w(T),
//     and these likewise, down to single nodes, after every pass;
//   - no node is better off in another community, or alone, once the partition is stable;
//   - no pass lowers the quality.
//
// The refinement uses the node weights of the whole graph, as in the paper. On graphs of 131,072 nodes or
// more the first of several passes is a draft without refinement, which the second begins from.
//
// [HierarchicalLeiden] splits each community that is too large as a graph of its own,
// and the parts again, as GraphRAG does.
//
// # Determinism
//
// A result depends on the graph, the options and the seed, and on nothing else: not on the order of the
// edges, on concurrency or on the number of processors (architectures with fused multiply-add may round
// otherwise, and then choose otherwise between equals). Communities are numbered by descending size, equal
// ones by their smallest node. All functions are safe for concurrent use and change none of their
// arguments.
package community
