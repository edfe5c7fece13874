// SPDX-License-Identifier: Apache-2.0

// Package graphrag declares the types that all parts of WildGraph share: the Document that is loaded, the Chunk
// cut from it, the Hit that a retriever ranks, the Question and the Answer, and two interfaces, [Retriever] and
// [System].
//
// A published system answers questions over a folder in a few lines:
//
//	parts, err := kit.Offline(kit.OfflineOptions{})             // or kit.ByModel
//	system, err := hipporag2.New(parts, hipporag2.Options{})    // examples/baselines/hipporag2
//	stats, err := system.Index(ctx, load.Documents(ctx, os.DirFS("notes")))
//	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?"})
//
// This package contains no algorithm and imports only the standard library. Algorithms are in the packages
// below it (chunk, bm25, vector, rank, …), each of which can be used alone; the published systems that are
// composed of them are in examples/baselines, and promise the same stability.
//
// All types are plain values, and are not changed after they were passed on: the caller owns a slice that a function
// returns, and a function neither keeps nor modifies a slice that it is given, unless its comment says otherwise.
package graphrag
