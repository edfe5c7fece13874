// SPDX-License-Identifier: Apache-2.0

// Package e2graphrag is E²GraphRAG (Zhao and others, "E²GraphRAG: Streamlining
// Graph-based RAG for High Efficiency and Effectiveness", arXiv 2505.24226, and
// YiboZhao624/E-2GraphRAG): a tree of summaries of neighbouring chunks, and a graph of
// words that occur in the same sentence.
//
// A question is local or global. Local: two of its terms with a path of at most four terms
// occur in the same chunk; while there are more than 25 such chunks, paths become shorter.
// If none is left, the chunks of the last step are ranked by the number of different terms,
// the length of the run of neighbours, and the number of occurrences. Global: without a term,
// the chunks and summaries most similar to the question; with terms that never share a chunk,
// the 50 most similar, ranked by occurrences of the terms. As in the code, a path only admits
// a pair of terms, which must still share a chunk.
//
// Where this differs from the code, and why:
//
//   - Terms are the stems of words that may be nouns or names by the tables of package
//     rules; the code has a tagger and a recognizer of names.
//   - K nodes are read, not 25: of the 25 chunks of a local question, which the code
//     does not rank, the most similar. Neighbours are separate, so that each can be cited.
//   - Each page has a tree; the code has one text. Upper levels summarize summaries (in
//     the code their numbers), and are ranked by their terms like chunks (the code drops
//     them there).
//   - Sentences are cut after 32 terms, and up to 32 terms of a question are used.
//
// Indexing takes a call for each summary, a quarter of the chunks of long pages and
// none for a page of one chunk; a question takes the answer's alone.
package e2graphrag
