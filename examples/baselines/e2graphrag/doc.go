// SPDX-License-Identifier: Apache-2.0

// Package e2graphrag is E²GraphRAG (Zhao and others, "E²GraphRAG: Streamlining
// Graph-based RAG for High Efficiency and Effectiveness", arXiv 2505.24226, and
// YiboZhao624/E-2GraphRAG): a tree of summaries of neighbouring chunks, and a graph of
// the words that stand in one sentence.
//
// A question is local or global. Local: two of its terms that have a path of at most
// four terms meet in a chunk; while there are more than 25 such chunks, paths become
// shorter. Where that leaves none, those of before are ranked by how many of the terms
// they have, how long the run of neighbours is, and how often they have them. Global:
// without a term, the chunks and summaries most like the question; with terms that meet
// nowhere, the 50 most like it by how often they have the terms. That the path only
// gates a pair, and its ends must meet in a chunk all the same, is the code's.
//
// Where this differs from the code, and why:
//
//   - Terms are the stems of words that may be nouns or names by the tables of package
//     rules; the code has a tagger and a recognizer of names.
//   - K nodes are read, not 25: of the 25 chunks of a local question, which the code
//     does not rank, those most like it. Neighbours are read one by one, so that each
//     can be cited.
//   - Each page has a tree of its own; the code knows one text. Upper summaries are of
//     summaries (the code's are of their numbers), and are ranked by the terms in them
//     as chunks are (the code drops them there).
//   - A sentence counts up to 32 terms at a time, and a question 32 of its own.
//
// Indexing takes a call for each summary, a quarter of the chunks of long pages and
// none for a page of one chunk; a question takes the answer's alone.
package e2graphrag
