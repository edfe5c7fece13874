// SPDX-License-Identifier: Apache-2.0

// Package rank measures ranked results against relevance judgments, with the
// meaning that trec_eval (the reference program of the TREC conferences) gives
// to every measure.
//
// A [Run] is what a system retrieved, [Qrels] is what people judged. Both are
// filled query by query.
// [Evaluate] gives one value per query and measure, and their means.
//
// # Order
//
// Hits are ordered by score, highest first, and equal scores by document id in
// byte order, last id first: "d9" before "d10" before "d1". Scores are float64, as in trec_eval 9.0.8 and
// 10.0-rc3; older builds and pytrec_eval hold them as float32 and so see ties
// where scores differ beyond the seventh digit. A ranking that has no scores
// goes in by [Run.AddRanking]. A document that occurs twice is an error.
//
// # Relevance
//
// A document is relevant when it was judged at the level of the measure (1 if
// not said) or above. What was not judged, or judged below 0, has gain 0. The
// gain of nDCG is the level itself, its discount log2(rank+1), and its ideal
// ranking is that of all judged documents, retrieved or not. The form with
// gain 2^level-1 is another measure and not here.
//
// # Empty cases
//
//	query without a relevant document    every measure 0, and it counts in the mean
//	query without hits                   every measure 0
//	fewer hits than k                    P@k still divides by k
//	query of the qrels not in the run    see Averaging
//	query of the run not in the qrels    never counts; listed in Result.Unjudged
//	no query at all                      mean 0, N 0
package rank
