// SPDX-License-Identifier: Apache-2.0

// Package pairwise asks a language model which of two answers to a question is the
// better one: for questions about a whole collection, which have no gold answer.
//
// It is the evaluation of GraphRAG (Edge and others, arXiv 2404.16130, section 3.3)
// and LightRAG (Guo and others, arXiv 2410.05779, section 4): comprehensiveness,
// diversity, empowerment, and an overall winner, in prompts of our own. Models prefer
// what they read first, or last (Zheng and others, arXiv 2306.05685), so every pair is
// asked in both orders, and a winner that changes with the order is a tie. A [Tally]
// makes win rates of the comparisons, with intervals and sign tests of judge/stats.
//
// A figure tells which answers a model likes better, not which are true.
package pairwise
