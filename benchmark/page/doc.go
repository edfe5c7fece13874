// SPDX-License-Identifier: Apache-2.0

// Package page writes the report of a benchmark as one HTML file that needs
// nothing else: no server, no network, no folder beside it. It shows the verdict,
// the figures with their intervals, where each system fails, and every question
// with what each system found, read and answered. docs/report.md says how it is
// used.
//
// [Page.Write] is a function of its [Page] alone and gives equal bytes for equal
// pages. Package benchmark/report makes the Page of a run.
//
// The file contains a small index, and the details of the questions in pieces of
// gzip that the browser unpacks when a question is opened: a page of 6,000 answers
// is a few megabytes. All texts are untrusted. They are cut to the limits of
// this package, lose what controls a terminal or turns the direction of reading,
// and become text nodes, never markup. The page's policy lets no script and no
// style run but its own, which it names by hash, and sends nothing anywhere.
package page
