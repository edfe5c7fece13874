// SPDX-License-Identifier: Apache-2.0

// Package multihop reads the data sets on which GraphRAG systems are compared beside
// WildGraphBench: HotpotQA, 2WikiMultiHopQA and MuSiQue, each as HippoRAG publishes it
// (questions, and a corpus of passages) or as its authors do (questions with their
// paragraphs), and the two that are called GraphRAG-Bench: questions about novels and
// a medical guideline (arXiv 2506.05690), and examination questions about textbooks
// (arXiv 2506.02404).
//
// [Load] makes one benchmark.Dataset of them: every data set is a domain, every novel
// one of its own. Gold passages are units of evidence where a data set names them.
// [Schemes] say how package judge/short scores each type of questions.
//
// A passage is gold if its title and its text are those of a gold paragraph, blanks
// aside: the corpora join sentences with and without a blank. Where no text agrees any
// passage of the title counts.
package multihop
