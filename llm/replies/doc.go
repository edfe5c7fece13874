// SPDX-License-Identifier: Apache-2.0

// Package replies reads what models write: JSON between sentences, in fences, with faults that do not change it.
//
//	grade, reply, err := replies.Decode[struct{ Score int }](ctx, model, request)
//
// [Decode] asks once more if a reply cannot be read. [Read] and [ReadObject] take a text, [Schema] makes the JSON
// schema of a type, and [Unwrap] takes an answer out of phrases around it. A reply is read or refused, and never
// repaired into something that it does not say. Reading is linear in the length of a reply.
package replies
