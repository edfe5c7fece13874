// SPDX-License-Identifier: Apache-2.0

// Package benchmark runs question-answering systems over data sets and
// reports how they did.
//
// A [Dataset] has domains, each with a corpus and questions. A [Runner]
// indexes every domain with every system, asks the questions, measures the
// evidence (see [Evidence]), has a [judge.Judge] score the answers, and
// writes a folder: report.json, report.md, report.html, report.csv,
// judgments.jsonl and predictions/<system>.jsonl.
//
// The report has the form of WildGraphBench's tables ([Report.Tables]). Figures
// that were published about a data set ([Published]) stand under the run's own
// and take part in nothing. A system that shows its graph ([Grapher]) has it
// described; Options.SweepTopK asks the summary questions over a range of
// top-k. A report that was made from hundreds of pages has not found them: what
// the source text in the prompt meets ([Evidence].PromptRecall) and what was
// behind the prompt (ProvenanceRecall) are two figures, and systems are compared
// by the first at equal context ([ContextPair]).
//
// Everything goes through flat records ([IndexRecord], [AnswerRecord],
// [JudgmentRecord]) kept in a journal: a run that was killed goes on where it
// stopped, and the final files are a pure function of the records. Runs with
// equal configuration give equal bytes at any concurrency, whether or not
// they were interrupted; only the clock and memory figures differ, and
// Options.NoTimings leaves those out.
//
// A judge that fails makes a question unscored, never wrong: means are over
// what was scored, and the share without a score stands beside them.
package benchmark
