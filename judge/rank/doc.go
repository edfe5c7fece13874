// SPDX-License-Identifier: Apache-2.0

// Package rank measures one ranked list against relevance judgments, as trec_eval (the
// reference program of the TREC conferences) defines every measure. A figure of a system
// is the mean over its queries; one without results counts 0.
//
// A ranking lists documents, best first: trec_eval orders equal scores by document id,
// last id first. A document that stands in it twice, as in HippoRAG's evaluation, takes
// two places and counts once. A document is relevant if it was judged at level 1 or
// above, see [Judgments.AtLeast]. The gain of nDCG is the level itself, its discount
// log2(rank+1), and its ideal ranking is that of all judged documents, retrieved or not.
// Everything is 0 of a query without a relevant document, and of an empty ranking. The
// cut k counts only the first k documents; 0 is no cut.
package rank
