// SPDX-License-Identifier: Apache-2.0

// Package report says what a run of a benchmark came to. Everything here is a
// function of the records: a finished run can be reported again, or measured by
// other figures, without asking anything.
//
// [New] computes the figures, [Write] writes a folder: report.json, report.md,
// report.html, report.csv, tables.tex, pairs.csv, judgments.jsonl and predictions/<system>.jsonl. The
// tables have the form of WildGraphBench's ([Report.Tables]); figures that were
// published about a data set stand under the run's own and take part in nothing.
//
// A report that was made from hundreds of pages has not found them: what the
// source text in the prompt meets (evidence_recall) and what was behind the
// prompt (provenance_recall) are two figures. A judge that fails makes a question
// unscored, never wrong: means are over what was scored, and the share without
// a score stands beside them.
package report
