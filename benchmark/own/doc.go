// SPDX-License-Identifier: Apache-2.0

// Package own reads data sets of one's own: a file of questions over a folder of
// documents ([Load]), and retrieval data sets in BEIR's layout ([BEIR]).
//
// A question is a JSON object a line:
//
//	{"id": "7", "question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
//
// It has an answer, or a list of statements that a good answer makes, or only gold
// pages: then it is searched for and not answered. What a question does not have is not
// measured.
package own
