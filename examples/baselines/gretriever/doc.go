// SPDX-License-Identifier: Apache-2.0

// Package gretriever is the retrieval of G-Retriever (He and others, "G-Retriever:
// Retrieval-Augmented Generation for Textual Graph Understanding and Question
// Answering", arXiv 2402.07630, NeurIPS 2024, and XiaoxinHe/G-Retriever): the nodes and
// edges of a textual graph that are most similar to the question have prizes, each edge has
// a cost, and the connected part of the graph with the best balance, a prize-collecting
// Steiner tree, goes into the prompt as text (see package steiner).
//
// The graph encoder, its soft prompt, and the tuning of either are left out: they need
// weights that are trained for each data set. So this is the paper's retrieval with a frozen
// model that reads text (its Table 10: 66.2 Hit@1 on WebQSP against 70.5 with the encoder).
//
// G-Retriever gets a small graph with each question and no texts. Here one graph of the open
// triples of a corpus serves all questions. Besides the triples of the selected part, the
// chunks that state them are read, then the chunks that name its nodes, each by similarity to
// the question, as the authors advise for corpora of text.
//
// Other differences: an edge is compared with the question by its whole triple, not by its
// relation alone (on MuSiQue's sample R@5 is 52 instead of 36); a similarity of 0 has no
// prize; the part is shown as a list of triples, not as two tables.
//
// Indexing takes the calls of the extraction, a question the answer's alone.
package gretriever
