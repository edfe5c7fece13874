// SPDX-License-Identifier: Apache-2.0

// Package path searches paths through a graph that lead from what a question names to what
// it asks for, with stated bounds.
//
// [Search] goes depth first along arcs that are like the question: the fourth route of
// Youtu-GraphRAG (arXiv 2508.19855, equation 10), up to five edges. The paper has no order,
// no score and no bound beside the depth.
//
// [Beam] grows a fixed number of chains triple by triple: the diverse triple beam search of GeAR (Shen and
// others, arXiv 2412.18431, Algorithm 1). Of the chains that grow out of one, each is worth the less the
// further down it ranks, so that not all follow the best one. [Flatten] reads the triples of chains
// breadth-first. Beam knows triples by number: their neighbors and the scores of chains are asked for many
// at once, so that an index on disk or a server is asked once a step.
package path
