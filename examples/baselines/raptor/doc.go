// SPDX-License-Identifier: Apache-2.0

// Package raptor is RAPTOR (Sarthi and others, "RAPTOR: Recursive Abstractive
// Processing for Tree-Organized Retrieval", arXiv 2401.18059, ICLR 2024, and
// parthsarthi03/raptor): pieces of text are clustered, the clusters summarized, the
// summaries clustered again, and a question is answered from the nodes of this tree
// that are most like it, whatever their level.
//
// Leaves have at most 100 tokens and are cut between sentences; clusters are mixtures
// of Gaussians, as many as have the least BIC, and a leaf can be in several. The
// collapsed tree is read up to 2,000 tokens, in place of which Question.Tokens is
// taken; Question.K does not limit it. Leaves are read as what they are, pieces of
// chunks, and a chunk ranks as its best leaf does; summaries are derived texts.
//
// Where this differs from paper and code, and why:
//
//   - Vectors are reduced by principal components before they are clustered, not by
//     UMAP, which has no seed there (see package summary).
//   - Each document is a tree, and the tops of all trees are clustered in common. The
//     paper has one text to a tree.
//   - The title of a page stands above each of its leaves, as in all systems here.
//   - What is most like the question is for the kit to say, as in all systems: the
//     cosine of the embedder, or BM25. Without an embedder LSA is what clusters.
//   - Of a sentence of more than 100 tokens the paper says nothing and the code cuts
//     it at commas; here it is cut between tokens.
//
// Indexing takes a call for each summary, which is about one for six leaves; a
// question takes the answer's.
package raptor
