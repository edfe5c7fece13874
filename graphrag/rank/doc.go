// SPDX-License-Identifier: Apache-2.0

// Package rank orders things by scores and merges ranked lists of the same things.
//
//	first := rank.Best(scored, 10)
//	for _, x := range rank.RRF(byWords, byVectors) { // lists of identifiers, best first
//		fmt.Println(x.ID, x.Score)
//	}
//
// [Scored] is a thing, by its identifier, with a score. There is one order ([Compare]): best first, equal
// scores by identifier. [Best] cuts a list to its k best, [Top] keeps the k best of a stream.
//
// Three ways merge lists. [RRF] looks at ranks alone and so needs no common scale of scores. [CombMAX]
// takes the best score as it is. [Interleave] takes turns. The lists are best first. An identifier that
// occurs twice in one list counts once, at its first place. The scores of a result do not depend on the
// order in which the lists are given, to the last bit.
package rank
