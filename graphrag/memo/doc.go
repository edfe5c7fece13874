// SPDX-License-Identifier: Apache-2.0

// Package memo makes once what several systems over the same documents need: chunks of a
// page, what the rules find in them, the sentences of what is summarised.
//
// A memo travels in a context ([With]) and ends with it. [Of] computes a value that is a function of its inputs
// alone and costs more than reading them, and caches it under a key of its own type with the inputs, or their
// [Digest]. Without a memo in the context [Of] computes it each time.
//
// A [Keeper] keeps what one system made from one change of its documents to the next.
package memo
