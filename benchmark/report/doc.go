// SPDX-License-Identifier: Apache-2.0

// Package report computes tables and files from the records of a run: a finished run can be reported again,
// or by other figures, without any call of a model.
//
//	run, err := runner.Run(ctx) // a benchmark.Runner
//	rep, err := report.Write("out", run)
//	err = report.WriteText(os.Stdout, rep.Tables()...)
//
// [New] computes the figures, [Write] writes a folder: report.json, report.md, report.html, report.csv,
// tables.tex, pairs.csv, judgments.jsonl and predictions/<system>.jsonl. The tables have the form of
// WildGraphBench's ([Report.Tables]); published figures of a data set are shown below the run's own and take
// part in no comparison.
//
// A generated summary does not count as having retrieved its source pages: evidence_recall covers the source
// text in the prompt, provenance_recall also the pages behind its derived texts. A judge's failure makes a
// question unscored, never wrong: means are over the scored questions, next to the share of unscored ones.
package report
