// SPDX-License-Identifier: Apache-2.0

// Package kit makes systems of parts.
//
// A [Kit] is a set of parts by role: embed, extract, link names, find texts, describe,
// report, decompose a question, filter facts, read, and the model for steps that only one
// recipe has. [Offline] is the complete set without a model, [ByModel] that with one,
// [Mixed] indexes by one kit and answers by another, and any part can be replaced.
//
// A [Frame] describes a system: how documents are cut, what is extracted from the chunks, and
// how the retriever over the corpus is built. [New] makes a [System] of it. Documents can be
// inserted and deleted, with the same result as building the index from scratch, while
// questions are answered, and the system can be saved to a folder. Everything after extraction
// is a function of the documents and the replies of models, and replies are cached: a change
// pays only for new replies.
package kit
