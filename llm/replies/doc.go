// SPDX-License-Identifier: Apache-2.0

// Package replies reads JSON in models' replies: in prose, in code fences, with faults that do not hide its
// meaning.
//
//	grade, reply, err := replies.Decode[struct{ Score int }](ctx, model, request)
//
// [Decode] asks once more if a reply cannot be read. [Read] and [ReadObject] take a text, [Schema] makes the
// JSON schema of a type, and [Unwrap] removes the phrases around an answer. A reply is read or refused, never
// repaired so that it says something else. Reading takes time linear in the length of a reply.
package replies
