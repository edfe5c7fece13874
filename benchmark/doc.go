// SPDX-License-Identifier: Apache-2.0

// Package benchmark runs question-answering systems over data sets.
//
// A [Dataset] has types of questions and domains, each with a corpus and
// questions. A [Runner] indexes every domain with every system, asks the
// questions and has a [judge.Judge] score the answers. What comes of it is kept
// in flat records (package record), each under everything that decides it: a
// run that was killed goes on where it stopped, and one that asks for more
// systems, questions or another judge pays for what is new. Package report makes
// tables, pages and files of the [Run] that comes back; [Measure] compares what
// a system found with the gold, without any model.
//
// Runs with equal settings give equal bytes at any concurrency, whether or not
// they were interrupted; only the clock and memory figures differ, and
// Options.NoTimings leaves those out of reports.
package benchmark
