// SPDX-License-Identifier: Apache-2.0

// Package kit puts parts together to systems.
//
// A [Kit] is a set of parts by role: embed, extract, link names, find texts,
// describe, report, take a question apart, filter facts, read, and the model that
// single steps of a recipe ask. Each part is there with a model or without one;
// [Offline] and [ByModel] are the two complete sets, [Mixed] takes what indexes
// from one and what answers from the other, and any part can be replaced by hand.
//
// A [Frame] is what a system is made of: how documents are cut, what is extracted
// from the chunks, and how the retriever over the corpus is built. [New] makes a
// [System] of it, flat or with a graph: it is indexed, grows and shrinks by
// documents, exactly as if it had been built anew, answers while it does, and is
// saved to a folder. Everything after the extraction is a function of the
// documents and of what models replied, and replies are kept: a change pays only
// for what is new.
package kit
