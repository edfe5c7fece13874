// SPDX-License-Identifier: Apache-2.0

// Package graphrag holds the words that every part of WildGraph shares: the
// Document that was loaded, the Chunk cut from it, the Hit a retriever ranks,
// the Question and the Answer, and the two interfaces that carry them,
// [Retriever] and [System].
//
// There is no algorithm here and no import outside the standard library, so a
// package that speaks these words costs nothing. The algorithms live in the
// packages below this one (chunk, bm25, vector, fusion, …), the published
// systems composed from them under examples/baselines.
//
// All types are plain values. Nothing here is changed after it was handed
// over: a function that returns a slice gives it away, a function that takes
// one does not keep or modify it, unless its comment says otherwise.
package graphrag
