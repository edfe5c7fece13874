// SPDX-License-Identifier: Apache-2.0

// Package own reads a user's data sets: a file of questions over a folder of documents ([Load]), and
// retrieval data sets in BEIR's layout ([BEIR]).
//
// A question is a JSON object per line:
//
//	{"id": "7", "question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
//
// It has an answer, or a list of statements that a good answer makes, or only gold pages: then it is searched
// for and not answered. Figures without the data for them are omitted.
package own
