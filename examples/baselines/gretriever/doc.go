// SPDX-License-Identifier: Apache-2.0

// Package gretriever is the retrieval of G-Retriever (He and others, "G-Retriever:
// Retrieval-Augmented Generation for Textual Graph Understanding and Question
// Answering", arXiv 2402.07630, NeurIPS 2024, and XiaoxinHe/G-Retriever): the nodes and
// edges of a textual graph that are most like the question have prizes, an edge costs
// something, and the connected part of the graph with the most prizes for its cost, a
// prize-collecting Steiner tree, goes into the prompt as text (see package steiner).
//
// The graph encoder, the soft prompt it makes for the model, and the tuning of either
// are left out: they need weights that are trained for each data set. So this is the
// paper's retrieval with a frozen model that reads text (its Table 10: 66.2 Hit@1 on
// WebQSP against 70.5 with the encoder).
//
// G-Retriever is given a small graph with each question and no texts. Here the graph
// is that of the open triples of a corpus, one for all questions, and beside the
// triples of the part the chunks are read that state them, then those that name its
// nodes, each by likeness to the question: what the authors advise for corpora of text.
//
// Where this differs besides: an edge is compared with the question as its whole
// triple, not by its relation alone, since relations in free words say little (on
// MuSiQue's sample R@5 is 52 in place of 36); what is not like the question at all has
// no prize; the part is shown as a list of triples, and not as two tables.
//
// Indexing takes the calls of the extraction, a question the answer's alone.
package gretriever
