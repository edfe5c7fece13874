// SPDX-License-Identifier: Apache-2.0

// Package wildgraph loads WildGraphBench (arXiv 2602.02053): questions over the raw web pages that Wikipedia
// articles cite.
//
// [Load] reads a checkout of the data set in its released layout from an [fs.FS] and returns a
// [benchmark.Dataset] with one domain per topic. It joins every question's reference URLs to page files (see
// [Join]) and checks the data before any work is spent: a missing page, a broken line and invalid UTF-8 are
// errors that name file and line.
//
//	QA/<domain>/questions.jsonl                        questions and gold
//	corpus/<domain>/<topic>/reference_pages/*.txt      indexed pages
//	corpus/<domain>/<topic>/references.jsonl           titles and URLs of the pages
//
// The article text beside the pages contains the gold statements and is never read. The pages are third-party
// texts for research use; the library ships none of them.
package wildgraph
