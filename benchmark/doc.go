// SPDX-License-Identifier: Apache-2.0

// Package benchmark runs question-answering systems over data sets.
//
//	set, err := benchmark.Open(os.DirFS(dir), benchmark.LoadOptions{}, wildgraph.Layout, own.Layout)
//	run, err := (&benchmark.Runner{Dataset: set, Systems: []benchmark.Entry{{Name: "mine", New: open}}, Judge: j}).Run(ctx)
//	_, err = report.Write(out, run)
//
// A [Dataset] has types of questions and domains, each with a corpus and questions. A [Runner] indexes every
// domain with every system, asks the questions and has a [judge.Judge] score the answers. Results are stored
// in flat records (package record), each under everything that determines it: a killed run continues where it
// stopped, and a run with more systems, questions or another judge pays for the new part only. Package report
// makes tables, pages and files from the [Run]; [Measure] compares the evidence of a system with the gold,
// without any model.
//
// Runs with equal settings give equal bytes at any concurrency, interrupted or not; only the clock and memory
// figures differ, and Options.NoTimings removes them from reports.
package benchmark
