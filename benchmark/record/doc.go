// SPDX-License-Identifier: Apache-2.0

// Package record stores a benchmark run: a journal of flat records, one for each built index, answer,
// judgment and finished cell.
//
// A record is keyed by everything that determines it, and nothing else: an [Answer] by its system, the
// system's settings, the corpus and the question ([Key]); a [Judgment] also by the judge and the gold. So a
// folder may hold the records of many runs. A run with more systems, questions or verdicts finds the existing
// records and pays for the others; records that do not match are not used.
//
// [Open] reads the records of a folder, and [Log.Records] iterates over them, to count, to compute other
// figures, or to judge again.
package record
