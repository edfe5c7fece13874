// SPDX-License-Identifier: Apache-2.0

// Package beam searches chains of triples that lead from what a question speaks of
// to what it asks for: the diverse triple beam search of GeAR (Shen and others,
// "GeAR: Graph-enhanced Agent for Retrieval-augmented Generation", arXiv
// 2412.18431, Algorithm 1).
//
// [Search] grows a fixed number of chains triple by triple. The chains that grow
// out of one are ranked, and each is worth the less the further down it stands, so
// that the beams do not all follow the best one. [Flatten] reads the triples off
// the chains breadth-first.
//
// The package knows triples by number and nothing of their texts: what comes after
// a triple and how like the question a chain is, the caller says, for many at once,
// so that an index on disk or a server is asked once per step.
package beam
