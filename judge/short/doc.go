// SPDX-License-Identifier: Apache-2.0

// Package short judges answers that are a name, a number, yes or no, a choice, or a few sentences, by a gold
// answer and its aliases. It is for the multi-hop data sets and the two data sets named GraphRAG-Bench.
//
// The verdict is accuracy: does the answer agree with the gold answer? A model is shown the question, the gold
// answer and the answer, and replies 1 or 0; any other reply leaves the answer unscored. Without a model
// package judge/lexical decides, and for choices the choice made.
//
// In addition there are named scores, which a [Scheme] selects for a type of questions:
//
//	em/S, f1/S    exact match and token F1 by the rules of the script S, see below
//	contains      1 if the answer contains a gold answer, word for word, after the same
//	              normalization
//	rouge_l       F-measure of the longest common subsequence of words (Lin 2004) over
//	              lower-cased runs of a-z and 0-9, without stems
//	choice        1 if the answer names the gold choices and no other; of a selection 0.5
//	              if it names some of them and no other (arXiv 2506.02404)
//	graded        by a model: 1, 0.5 or 0 (arXiv 2506.02404)
//	factuality    by a model: F1 of the statements of answer and gold answer
//	correctness   by a model and an embedder: 0.75 factuality + 0.25 (1 + cosine)/2
//	coverage      by a model: share of the gold answer's statements that the answer contains
//	faithfulness  by a model: share of the answer's statements that its evidence supports
//
// The last four follow arXiv 2506.05690 with our own prompts; without a model they are not applicable.
//
// [LiveRAG] judges the same kind of answers on the scales of the LiveRAG challenge.
//
// The evaluation scripts of the data sets share one normalizer, [Normalize], and differ in their treatment of
// empty answers, of yes and no, and of several gold answers. Figures of different scripts do not compare, so
// the name of a [Script] is part of their names ("f1/hotpot").
//
//	                        SQuAD1   SQuAD2   HotpotQA  TwoWiki    MuSiQue   MRQA
//	one side empty          F1 0     F1 0     F1 0      F1 0       F1 0      F1 0
//	both sides empty        F1 0     F1 1     F1 0      F1 0       F1 1      F1 0
//	differing yes/no rule   no       no       F1 0      F1 0       no        no
//	several gold answers    best     best     one only  best each  best      best
//	no gold answer          error    means "" error     error      error     error
//
// Empty means empty after normalization ("the" is). Two empty sides are always an exact match. "Best each"
// means that F1, precision and recall are separately the best over the gold answers. SQuAD2 also ignores
// empty gold answers, unless all are. MRQA is the script of HippoRAG as well.
package short
