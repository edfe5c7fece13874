// SPDX-License-Identifier: Apache-2.0

// Package naiverag is the NaiveRAG baseline of WildGraphBench (Lewis and
// others 2020, arXiv 2005.11401): embed the chunks, read the ones nearest to
// the question.
package naiverag
