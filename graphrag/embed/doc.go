// SPDX-License-Identifier: Apache-2.0

// Package embed turns texts into vectors without a network: [LSA], fitted to the corpus that is to be
// searched. It also declares [Embedder], the interface that LSA shares with the embedding models of others.
//
//	lsa, err := embed.FitLSA(ctx, texts, embed.LSAOptions{})
//	query, err := lsa.EmbedQuery(ctx, "Who built the Fram?")
//
// LSA is no language model: it learns from the corpus alone which words go together. On long passages it
// finds what a sparse index finds, in the form that vector stores take.
//
// Text is cut into terms by package text: English stems without stop words unless the options say
// otherwise. Whatever bytes a text has, it gets a vector. Results depend on neither the number of workers
// nor the batch a text comes in; between kinds of processor the last bits of a vector may differ.
package embed
