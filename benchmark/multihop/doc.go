// SPDX-License-Identifier: Apache-2.0

// Package multihop reads further data sets on which GraphRAG systems are compared: HotpotQA, 2WikiMultiHopQA
// and MuSiQue, each as HippoRAG publishes it (questions, and a corpus of passages) or as its authors do
// (questions with their paragraphs), and the two called GraphRAG-Bench: questions about novels and a medical
// guideline (arXiv 2506.05690), and examination questions about textbooks (arXiv 2506.02404).
//
// [Load] makes one benchmark.Dataset of them: every data set is a domain, and so is every novel. Gold
// passages are units of evidence if a data set names them. [Schemes] define how package judge/short scores
// each type of questions.
//
// A passage is gold if its title and text equal a gold paragraph's, blanks aside: the corpora join sentences
// with and without a blank. If no text agrees, any passage with the title counts.
package multihop
