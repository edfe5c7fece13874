// SPDX-License-Identifier: Apache-2.0

// Package anonyrag reads, makes and scores benchmarks with hidden names, so that a model cannot answer from
// its memory of a famous book: AnonyRAG of the paper on Youtu-GraphRAG (arXiv 2508.19855, appendix B).
//
// Every person and place of a corpus becomes a placeholder such as [PERSON#12], the same in passages and
// questions. Questions have two formats: multiple choice, answered by a letter, and anonymity reversion,
// which shows a question and its answer with placeholders and asks for the original names. Up to four hops
// they are simple, beyond complex.
//
//   - [Load] reads a data set: for each language a file of passages and one of questions. The original is licensed
//     CC-BY-NC-4.0, and no part of it is here.
//   - [Judge] scores answers by rules: [ParseChoice], [ParseReversion], [Compare].
//   - [Dictionary] replaces names, and [Dictionary.Leaks] finds names that can still be read.
//   - [Linked] and [LinkedByModel] merge the names of the same person.
//   - [Book.Anonymized] makes a data set of a book; [ByModel] writes questions, and [Unsolved] drops the ones that need
//     no context.
package anonyrag
