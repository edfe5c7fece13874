// SPDX-License-Identifier: Apache-2.0

// Package anonyrag reads, makes and scores benchmarks whose names are hidden, so that
// a model cannot answer from what it remembers of a famous book: AnonyRAG of the paper
// on Youtu-GraphRAG (arXiv 2508.19855, appendix B).
//
// Every person and place of a corpus becomes a placeholder such as [PERSON#12], the
// same in passages and questions. Questions are of two formats: multiple choice, whose
// answer is a letter, and anonymity reversion, which shows a question and its answer
// with placeholders and asks for the original names. Up to four hops they are simple,
// beyond complex.
//
//   - [Load] reads a data set: for each language a file of passages and one of
//     questions. The original is licensed CC-BY-NC-4.0, and no part of it is here.
//   - [Judge] scores answers by rules: [ParseChoice], [ParseReversion], [Compare].
//   - [Dictionary] replaces names, and [Dictionary.Leaks] finds what is left of them.
//   - [Linked] and [LinkedByModel] find the names that are those of the same person.
//   - [Book.Anonymized] makes a data set of a book; [ByModel] writes questions, and
//     [Unsolved] leaves out those that need no context.
package anonyrag
