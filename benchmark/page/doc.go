// SPDX-License-Identifier: Apache-2.0

// Package page writes the report of a benchmark as one self-contained HTML file: no server, no network, no
// other files. It shows the verdict, the figures with their intervals, the failures of each system, and for
// every question the evidence and the answers. docs/report.md describes its use.
//
// [Page.Write] is a function of its [Page] alone and gives equal bytes for equal pages. Package
// benchmark/report makes the Page of a run.
//
// The file contains a small index, and the details of the questions in pieces of gzip that the browser
// unpacks when a question is opened: a page of 6,000 answers is a few megabytes. All texts are untrusted.
// They are cut to the limits of this package, lose characters that control a terminal or the direction of
// reading, and become text nodes, never markup. The page's policy allows only its own scripts and styles, by
// hash, and no connections.
package page
