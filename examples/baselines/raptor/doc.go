// SPDX-License-Identifier: Apache-2.0

// Package raptor is RAPTOR (Sarthi and others, "RAPTOR: Recursive Abstractive
// Processing for Tree-Organized Retrieval", arXiv 2401.18059, ICLR 2024, and
// parthsarthi03/raptor): pieces of text are clustered, the clusters summarized, the
// summaries clustered again, and a question is answered from the nodes of this tree
// most similar to it, of any level.
//
// Leaves have at most 100 tokens and are cut between sentences; clusters are mixtures
// of Gaussians with the least BIC, and a leaf can be in several. The collapsed tree is
// read up to 2,000 tokens or Question.Tokens; Question.K does not limit it. Leaves are
// read as pieces of chunks, and a chunk ranks by its best leaf; summaries are derived
// texts.
//
// Where this differs from paper and code, and why:
//
//   - Vectors are reduced by principal components before they are clustered, not by
//     UMAP, which has no seed there (see package summary).
//   - Each document is a tree, and the tops of all trees are clustered together. The
//     paper has one tree per text.
//   - The title of a page precedes each of its leaves, as in all systems here.
//   - The kit compares nodes with the question, as in all systems: by the cosine of the
//     embedder, or by BM25. Without an embedder, LSA clusters.
//   - A sentence of more than 100 tokens is cut between tokens. The paper does not
//     mention it, and the code cuts it at commas.
//
// Indexing takes a call for each summary, which is about one for six leaves; a
// question takes the answer's.
package raptor
