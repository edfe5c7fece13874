// SPDX-License-Identifier: Apache-2.0

// Package record is what a benchmark run leaves behind: a journal of flat
// records, one for each built index, answer, judgment and finished cell.
//
// A record is keyed by what decides it, and by nothing else: an [Answer] by its
// system, the system's settings, the corpus and the question as it was put
// ([Key]); a [Judgment] by the judge and the gold besides. So a folder may hold
// the records of many runs. One that asks for more systems, questions or
// verdicts finds what is there and pays for the rest; records that do not match
// are not used.
//
// [Open] reads the records of a folder, and [Log.Records] iterates over them, to
// count, to measure by other figures, or to judge again.
package record
