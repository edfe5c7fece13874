// SPDX-License-Identifier: Apache-2.0

// Package graphrag has the types that all parts of WildGraph share: the Document that was
// loaded, the Chunk cut from it, the Hit that a retriever ranks, the Question and the
// Answer, and two interfaces, [Retriever] and [System].
//
// A published system answers questions over a folder in a few lines:
//
//	parts, err := kit.Offline(kit.OfflineOptions{})             // or kit.ByModel
//	system, err := hipporag2.New(parts, hipporag2.Options{})    // examples/baselines/hipporag2
//	stats, err := system.Index(ctx, load.Documents(ctx, os.DirFS("notes")))
//	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?"})
//
// There is no algorithm here and no import outside the standard library. Algorithms are in the packages
// below this one (chunk, bm25, vector, rank, …), each of use alone; the published systems that are composed
// of them are in examples/baselines, imported by their path and as stable as the rest.
//
// All types are plain values. Nothing here is changed after it was handed over: a function that returns a slice
// gives it away, a function that takes one does not keep or modify it, unless its comment says otherwise.
package graphrag
