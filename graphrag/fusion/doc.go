// SPDX-License-Identifier: Apache-2.0

// Package fusion merges ranked lists of the same things into one.
//
// Six ways are here. [RRF] and [WeightedRRF] look at ranks alone and so need
// no common scale of scores: the default when a sparse and a dense retriever
// are combined. [CombSUM] and [CombMNZ] add scores after bringing each list to
// a common scale, [CombMAX] takes the best score as it is. [Interleave] takes
// turns.
//
// Identifiers are anything ordered: chunk ids, int32 row numbers. All lists
// are best first, and so are the results; equal scores are ordered by
// identifier, but for [CombMAX]. An identifier that occurs twice in one list counts once, at its
// first place. The scores of a result do not depend on the order in which the
// lists are given, to the last bit: the shares of an identifier are added in
// order of size. Only [Interleave] gives earlier lists the first turn.
//
// The functions keep and change none of their arguments and are safe for
// concurrent use.
package fusion
